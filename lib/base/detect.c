/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* detect.c - see detect.h. */
#include <string.h>

#include "../compiler.h"
#include "../emulator.h"
#include "../rtm.h"
#include "cpuid.h"
#include "detect.h"
#include "syscalls.h"
#include "text.h"

/* CPUID leaf 7, Intel SDM vol. 2, "CPUID". */
#define LEAF7_EBX_RTM          (1u << 11)
#define LEAF7_EDX_ALWAYS_ABORT (1u << 11)
#define LEAF1_ECX_HYPERVISOR   (1u << 31)

/*
 * Transactions of each kind that the probe begins. A processor that is forced to abort commits none; one
 * with working RTM commits nearly all, as a timer interrupt aborts one now and then.
 */
#define PROBES 32

enum elide_taa elide_detect_taa(const char *file)
{
	char text[64];
	ssize_t n;
	int fd = sys_open(file, O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return ELIDE_TAA_UNKNOWN;
	n = sys_read(fd, text, sizeof(text) - 1);
	sys_close(fd);
	if (n <= 0)
		return ELIDE_TAA_UNKNOWN;
	text[n] = '\0';
	if (!strncmp(text, "Not affected", 12))
		return ELIDE_TAA_SAFE;
	if (!strncmp(text, "Mitigation: Clear CPU buffers", 29))
		return ELIDE_TAA_CLEARS;
	if (!strncmp(text, "Mitigation: TSX disabled", 24))
		return ELIDE_TAA_TSX_OFF;
	if (!strncmp(text, "Vulnerable", 10))
		return ELIDE_TAA_OPEN;
	return ELIDE_TAA_UNKNOWN;
}

static void probe(struct elide_facts *facts)
{
	static volatile unsigned int target;
	unsigned int status;

	facts->probes = PROBES;
	target = 0; /* the page is present before a transaction stores to it */
	for (int i = 0; i < PROBES; i++) {
		status = rtm_begin();
		if (status == RTM_STARTED) {
			rtm_end();
			facts->commits++;
		}
		status = rtm_begin();
		if (status == RTM_STARTED) {
			target = i + 1;
			rtm_end();
			facts->stores += target == (unsigned int)i + 1;
		}
	}
}

void elide_detect_facts(struct elide_facts *facts, const char *taa_file)
{
	unsigned int regs[4];

	memset(facts, 0, sizeof(*facts));
	facts->emulated = rtmgrind_request(RTMGRIND_VERSION, 0, 0) == RTMGRIND_PROTOCOL;
	cpuid_leaf(1, regs);
	facts->hypervisor = regs[CPUID_ECX] & LEAF1_ECX_HYPERVISOR;
	cpuid_leaf(7, regs);
	facts->rtm = regs[CPUID_EBX] & LEAF7_EBX_RTM;
	facts->always_abort = regs[CPUID_EDX] & LEAF7_EDX_ALWAYS_ABORT;
	if (facts->rtm && !facts->always_abort) {
		facts->taa = elide_detect_taa(taa_file);
		probe(facts);
	}
	if (facts->emulated)
		rtmgrind_request(RTMGRIND_PROBE_DONE, 0, 0);
}

enum elide_rtm elide_detect_decide(const struct elide_facts *facts, bool insist, char *why,
				   unsigned int size)
{
	const char *says = NULL;

	if (!facts->rtm && facts->hypervisor)
		says = "CPUID shows no RTM: the processor lacks it, or the kernel (tsx=) or the hypervisor hides it";
	else if (!facts->rtm)
		says = "CPUID shows no RTM: the processor lacks it, or microcode or the kernel (tsx=) hides it";
	else if (facts->always_abort)
		says = "microcode makes every transaction abort (RTM_ALWAYS_ABORT)";
	else if (!facts->commits || !facts->stores)
		says = "CPUID shows RTM but no transaction of the probe committed";
	else if (facts->emulated)
		says = "emulated by rtmgrind";
	else if (facts->taa == ELIDE_TAA_TSX_OFF)
		says = "the kernel has disabled TSX against TAA (tsx_async_abort: TSX disabled)";
	else if (facts->taa == ELIDE_TAA_OPEN && !insist)
		says = "RTM works, but this machine is vulnerable to TAA; ELIDE_MODE=elide insists";
	else if (facts->taa == ELIDE_TAA_OPEN)
		says = "RTM works; vulnerable to TAA, elided because ELIDE_MODE=elide insists";
	else if (facts->taa == ELIDE_TAA_CLEARS)
		says = "RTM works; TAA is mitigated by clearing CPU buffers";
	else
		says = "RTM works";
	elide_text(why, size, "%s", says);

	if (!facts->rtm || facts->always_abort || !facts->commits || !facts->stores)
		return ELIDE_RTM_NONE;
	if (facts->emulated)
		return ELIDE_RTM_EMULATED;
	if (facts->taa == ELIDE_TAA_TSX_OFF || (facts->taa == ELIDE_TAA_OPEN && !insist))
		return ELIDE_RTM_NONE;
	return ELIDE_RTM_HARDWARE;
}

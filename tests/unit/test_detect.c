/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_detect.c - the decision whether RTM is used, for every combination of
 * facts, in the exact words that users see.
 */
#include <unistd.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../lib/base/detect.h"

#define HIDDEN_VM "CPUID shows no RTM: the processor lacks it, or the kernel (tsx=) or the hypervisor hides it"
#define HIDDEN    "CPUID shows no RTM: the processor lacks it, or microcode or the kernel (tsx=) hides it"
#define ALWAYS    "microcode makes every transaction abort (RTM_ALWAYS_ABORT)"
#define NO_COMMIT "CPUID shows RTM but no transaction of the probe committed"
#define EMULATED  "emulated by rtmgrind"
#define TSX_OFF   "the kernel has disabled TSX against TAA (tsx_async_abort: TSX disabled)"
#define OPEN      "RTM works, but this machine is vulnerable to TAA; ELIDE_MODE=elide insists"
#define INSISTED  "RTM works; vulnerable to TAA, elided because ELIDE_MODE=elide insists"
#define CLEARS    "RTM works; TAA is mitigated by clearing CPU buffers"
#define WORKS     "RTM works"

struct row {
	struct elide_facts facts;
	bool insist;
	enum elide_rtm rtm;
	const char *why;
};

#define GOOD .rtm = true, .commits = 32, .stores = 31, .probes = 32

static const struct row rows[] = {
	{{.taa = ELIDE_TAA_SAFE}, false, ELIDE_RTM_NONE, HIDDEN},
	{{.hypervisor = true}, false, ELIDE_RTM_NONE, HIDDEN_VM},
	{{.hypervisor = true}, true, ELIDE_RTM_NONE, HIDDEN_VM},
	{{.emulated = true}, false, ELIDE_RTM_NONE, HIDDEN},
	{{.rtm = true, .always_abort = true}, true, ELIDE_RTM_NONE, ALWAYS},
	{{.rtm = true, .probes = 32}, true, ELIDE_RTM_NONE, NO_COMMIT},
	/* Empty transactions that commit are not enough: some hypervisors let only those through. */
	{{.rtm = true, .probes = 32, .commits = 32}, true, ELIDE_RTM_NONE, NO_COMMIT},
	{{.rtm = true, .probes = 32, .stores = 32}, true, ELIDE_RTM_NONE, NO_COMMIT},
	{{GOOD, .emulated = true}, false, ELIDE_RTM_EMULATED, EMULATED},
	{{GOOD, .emulated = true, .taa = ELIDE_TAA_OPEN}, false, ELIDE_RTM_EMULATED, EMULATED},
	{{GOOD, .taa = ELIDE_TAA_TSX_OFF}, true, ELIDE_RTM_NONE, TSX_OFF},
	{{GOOD, .taa = ELIDE_TAA_OPEN}, false, ELIDE_RTM_NONE, OPEN},
	{{GOOD, .taa = ELIDE_TAA_OPEN}, true, ELIDE_RTM_HARDWARE, INSISTED},
	{{GOOD, .taa = ELIDE_TAA_CLEARS}, false, ELIDE_RTM_HARDWARE, CLEARS},
	{{GOOD, .taa = ELIDE_TAA_SAFE}, false, ELIDE_RTM_HARDWARE, WORKS},
	{{GOOD, .taa = ELIDE_TAA_UNKNOWN}, false, ELIDE_RTM_HARDWARE, WORKS},
	{{GOOD, .taa = ELIDE_TAA_SAFE, .hypervisor = true}, true, ELIDE_RTM_HARDWARE, WORKS},
};

static void decision_in_words(void **state)
{
	char why[256];

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];

		assert_int_equal(elide_detect_decide(&r->facts, r->insist, why, sizeof(why)), r->rtm);
		assert_string_equal(why, r->why);
	}
}

/* Over all combinations: what must hold whatever else is true. */
static void decision_never_uses_what_does_not_work(void **state)
{
	char why[256];

	for (unsigned int bits = 0; bits < 128; bits++) {
		for (int taa = ELIDE_TAA_UNKNOWN; taa <= ELIDE_TAA_OPEN; taa++) {
			struct elide_facts f = {
				.rtm = bits & 1, .always_abort = bits & 2, .hypervisor = bits & 4,
				.emulated = bits & 8, .commits = bits & 16, .stores = bits & 32,
				.probes = 32, .taa = taa,
			};
			bool insist = bits & 64;
			enum elide_rtm rtm = elide_detect_decide(&f, insist, why, sizeof(why));

			assert_true(why[0] != '\0');
			if (!f.rtm || f.always_abort || !f.commits || !f.stores)
				assert_int_equal(rtm, ELIDE_RTM_NONE);
			else if (f.emulated)
				assert_int_equal(rtm, ELIDE_RTM_EMULATED);
			else if (taa == ELIDE_TAA_TSX_OFF || (taa == ELIDE_TAA_OPEN && !insist))
				assert_int_equal(rtm, ELIDE_RTM_NONE);
			else
				assert_int_equal(rtm, ELIDE_RTM_HARDWARE);
		}
	}
}

static void reason_is_cut_to_the_room(void **state)
{
	struct elide_facts f = {0};
	char why[8] = "1234567";

	elide_detect_decide(&f, false, why, sizeof(why));
	assert_string_equal(why, "CPUID s");
}

static void taa_file_in_every_form(void **state)
{
	static const struct {
		const char *text;
		enum elide_taa taa;
	} table[] = {
		{"Not affected\n", ELIDE_TAA_SAFE},
		{"Mitigation: Clear CPU buffers; SMT vulnerable\n", ELIDE_TAA_CLEARS},
		{"Mitigation: Clear CPU buffers\n", ELIDE_TAA_CLEARS},
		{"Mitigation: TSX disabled\n", ELIDE_TAA_TSX_OFF},
		{"Vulnerable\n", ELIDE_TAA_OPEN},
		{"Vulnerable: Clear CPU buffers attempted, no microcode; SMT vulnerable\n",
		 ELIDE_TAA_OPEN},
		{"Something new\n", ELIDE_TAA_UNKNOWN},
		{"", ELIDE_TAA_UNKNOWN},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		char name[] = "/tmp/elide-test-taa-XXXXXX";
		int fd = mkstemp(name);

		assert_true(fd >= 0);
		assert_int_equal(write(fd, table[i].text, strlen(table[i].text)),
				 strlen(table[i].text));
		close(fd);
		assert_int_equal(elide_detect_taa(name), table[i].taa);
		unlink(name);
	}
	assert_int_equal(elide_detect_taa("/nonexistent/tsx_async_abort"), ELIDE_TAA_UNKNOWN);
}

/* CPUID's answer is the kernel's too, unless the kernel hides it from itself (clearcpuid=). */
static void facts_of_this_machine_are_consistent(void **state)
{
	struct elide_facts f;

	elide_detect_facts(&f, "/nonexistent");
	assert_false(f.emulated);
	if (!f.rtm || f.always_abort)
		assert_int_equal(f.probes, 0);
	else
		assert_int_equal(f.probes, 32);
	assert_true(f.commits <= f.probes && f.stores <= f.probes);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(decision_in_words),
		cmocka_unit_test(decision_never_uses_what_does_not_work),
		cmocka_unit_test(reason_is_cut_to_the_room),
		cmocka_unit_test(taa_file_in_every_form),
		cmocka_unit_test(facts_of_this_machine_are_consistent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

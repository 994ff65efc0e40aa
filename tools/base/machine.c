// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * machine.c - can this machine run transactions, and if not, why not.
 *
 * Bits: Intel SDM vol. 2, CPUID; Linux Documentation/admin-guide/hw-vuln/
 * tsx_async_abort.rst. Must never execute an RTM instruction in this process:
 * the probe is a child's, and only where CPUID shows RTM.
 */
#include <cpuid.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../../lib/rtm.h"
#include "machine.h"

#define LEAF7_EBX_RTM	       (1u << 11)
#define LEAF7_EDX_ALWAYS_ABORT (1u << 11)
#define LEAF1_ECX_HYPERVISOR   (1u << 31)

/* First line of a file below @sysroot, without its newline: 0 or -errno. */
static int read_line(const char *sysroot, const char *name, char *to, size_t size)
{
	char path[4096];
	FILE *f;

	*to = '\0';
	snprintf(path, sizeof(path), "%s/%s", sysroot, name);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	if (!fgets(to, size, f))
		*to = '\0';
	fclose(f);
	to[strcspn(to, "\n")] = '\0';
	return 0;
}

static void read_cpuid(struct machine *m)
{
	unsigned int a, b, c, d;

	if (!__get_cpuid(0, &a, &b, &c, &d))
		return;
	memcpy(m->vendor, &b, 4);
	memcpy(m->vendor + 4, &d, 4);
	memcpy(m->vendor + 8, &c, 4);
	if (__get_cpuid(1, &a, &b, &c, &d)) {
		m->hypervisor = !!(c & LEAF1_ECX_HYPERVISOR);
		m->family = a >> 8 & 0xf;
		m->model = a >> 4 & 0xf;
		if (m->family == 15)
			m->family += a >> 20 & 0xff;
		if (m->family == 6 || m->family >= 15)
			m->model |= a >> 12 & 0xf0;
	}
	if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
		m->has_rtm = !!(b & LEAF7_EBX_RTM);
		m->always_abort = !!(d & LEAF7_EDX_ALWAYS_ABORT);
	}
}

static int has_word(const char *line, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = line; (at = strstr(at, word)); at += len)
		if ((at == line || strchr(" \t:", at[-1])) && strchr(" \n", at[len]))
			return 1;
	return 0;
}

/* Fills @m with what /proc/cpuinfo shows of the first processor's CPUID. */
static int read_cpuinfo(struct machine *m, const char *sysroot)
{
	char path[4096], line[8192];
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/cpuinfo", sysroot);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f) && line[0] != '\n') {
		const char *value = strchr(line, ':');

		if (!value)
			continue;
		value += 1 + strspn(value + 1, " \t");
		if (!strncmp(line, "vendor_id", 9))
			snprintf(m->vendor, sizeof(m->vendor), "%.*s", (int)strcspn(value, "\n"),
				 value);
		else if (!strncmp(line, "cpu family", 10))
			m->family = atoi(value);
		else if (!strncmp(line, "model\t", 6))
			m->model = atoi(value);
		if (strncmp(line, "flags", 5))
			continue;
		m->has_rtm = has_word(value, "rtm");
		m->always_abort = has_word(value, "rtm_always_abort");
		m->hypervisor = has_word(value, "hypervisor");
	}
	fclose(f);
	return 0;
}

static void read_tsx_parameter(struct machine *m, const char *sysroot)
{
	char line[4096], *save = NULL;

	if (read_line(sysroot, "proc/cmdline", line, sizeof(line)))
		return;
	for (char *w = strtok_r(line, " ", &save); w; w = strtok_r(NULL, " ", &save))
		if (!strncmp(w, "tsx=", 4))
			snprintf(m->tsx_parameter, sizeof(m->tsx_parameter), "%s", w);
}

/* Commits of transactions that do nothing, or that store. */
static unsigned int count_commits(int store)
{
	static unsigned int cell __cacheline_aligned;
	unsigned int commits = 0;

	WRITE_ONCE(cell, 1); /* touches the page before the first transaction */
	for (int i = 0; i < PROBE_ATTEMPTS; i++) {
		if (rtm_begin() != RTM_STARTED)
			continue;
		if (store)
			WRITE_ONCE(cell, i);
		rtm_end();
		commits++;
	}
	return commits;
}

static void probe(struct machine *m)
{
	unsigned int commits[2];
	int pipes[2], status;
	pid_t pid;

	if (pipe(pipes))
		return;
	pid = fork();
	if (!pid) {
		commits[0] = count_commits(0);
		commits[1] = count_commits(1);
		_exit(write(pipes[1], commits, sizeof(commits)) != sizeof(commits));
	}
	close(pipes[1]);
	if (pid > 0) {
		m->probed = 1;
		m->probe_died = read(pipes[0], commits, sizeof(commits)) != sizeof(commits);
		waitpid(pid, &status, 0);
		if (!m->probe_died) {
			m->empty_commits = commits[0];
			m->storing_commits = commits[1];
		}
	}
	close(pipes[0]);
}

/* With @sysroot the present processors are known, but not those that the process may use. */
static int one_processor(const char *sysroot)
{
	char online[256];
	cpu_set_t set;

	if (sysroot)
		return !read_line(sysroot, "sys/devices/system/cpu/online", online,
				  sizeof(online)) && !strcmp(online, "0");
	return !sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) == 1;
}

int machine_read(struct machine *m, const char *sysroot)
{
	const char *root = sysroot ? sysroot : "";
	char line[256];
	int rc = 0;

	memset(m, 0, sizeof(*m));
	if (sysroot)
		rc = read_cpuinfo(m, sysroot);
	else
		read_cpuid(m);
	read_line(root, "sys/devices/system/cpu/vulnerabilities/tsx_async_abort", m->taa,
		  sizeof(m->taa));
	read_tsx_parameter(m, root);
	read_line(root, "proc/sys/kernel/osrelease", m->kernel, sizeof(m->kernel));
	m->perf_paranoid = -100;
	if (!read_line(root, "proc/sys/kernel/perf_event_paranoid", line, sizeof(line)))
		m->perf_paranoid = atoi(line);
	m->has_tx_events = !read_line(root, "sys/bus/event_source/devices/cpu/events/tx-start",
				      line, sizeof(line));
	m->has_pmu = !read_line(root, "sys/bus/event_source/devices/cpu/type", line, sizeof(line));
	m->one_processor = one_processor(sysroot);
	if (!sysroot && m->has_rtm && !m->always_abort)
		probe(m);
	return rc;
}

static void why_no_rtm(const struct machine *m, char *why, size_t size)
{
	if (!strcmp(m->vendor, "AuthenticAMD"))
		snprintf(why, size, "AMD has no RTM");
	else if (strcmp(m->vendor, "GenuineIntel"))
		snprintf(why, size, "%s has no RTM", m->vendor[0] ? m->vendor : "this processor");
	else if (!strcmp(m->tsx_parameter, "tsx=off"))
		snprintf(why, size, "the kernel was started with tsx=off");
	else if (m->hypervisor)
		snprintf(why, size,
			 "CPUID shows no RTM: the processor has none, or the hypervisor hides it");
	else
		snprintf(why, size,
			 "CPUID shows no RTM: the processor has none, or the kernel switched it "
			 "off (try tsx=on)");
}

enum elide_run_mode machine_mode(const struct machine *m, char *why, size_t size)
{
	if (!m->has_rtm) {
		why_no_rtm(m, why, size);
		return ELIDE_RUN_PROFILE;
	}
	if (m->always_abort) {
		snprintf(why, size, "RTM_ALWAYS_ABORT: the microcode aborts every transaction");
		return ELIDE_RUN_PROFILE;
	}
	if (m->probe_died) {
		snprintf(why, size, "CPUID shows RTM, yet a process that used it died");
		return ELIDE_RUN_PROFILE;
	}
	if (m->probed && (!m->empty_commits || !m->storing_commits)) {
		snprintf(why, size, "CPUID shows RTM, yet %s transaction committed",
			 m->empty_commits ? "no storing" : "not one");
		return ELIDE_RUN_PROFILE;
	}
	if (!strncmp(m->taa, "Vulnerable", 10)) {
		snprintf(why, size,
			 "RTM works, but the kernel says it leaks (TAA: %s); --mode=elide insists",
			 m->taa);
		return ELIDE_RUN_PROFILE;
	}
	if (m->one_processor) {
		snprintf(why, size,
			 "RTM works, but there is one processor and no two sections run at once; "
			 "--mode=elide insists");
		return ELIDE_RUN_PROFILE;
	}
	snprintf(why, size, "%s", m->probed ? "RTM is there and commits" : "CPUID shows RTM");
	return ELIDE_RUN_ELIDE;
}

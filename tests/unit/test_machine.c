// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_machine.c - what doctor says of machines, from copies of their /proc and /sys.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/base/machine.h"

static char root[64];

static void put(const char *name, const char *text)
{
	char path[256], *slash;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		assert_true(!mkdir(path, 0700) || errno == EEXIST);
		*slash = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int setup(void **state)
{
	strcpy(root, "/tmp/elide-test-machine.XXXXXX");
	return !mkdtemp(root);
}

static int teardown(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

#define TAA "sys/devices/system/cpu/vulnerabilities/tsx_async_abort"

static void verdicts(void **state)
{
	static const struct {
		const char *vendor, *flags, *taa, *cmdline;
		enum elide_run_mode mode;
		const char *why;
	} table[] = {
		{"GenuineIntel", "fpu rtm avx2", "Not affected", "quiet", ELIDE_RUN_ELIDE,
		 "CPUID shows RTM"},
		{"GenuineIntel", "fpu rtm", "Mitigation: Clear CPU buffers", "quiet",
		 ELIDE_RUN_ELIDE, "CPUID shows RTM"},
		{"GenuineIntel", "fpu rtm", "Vulnerable", "tsx=on", ELIDE_RUN_PROFILE, "it leaks"},
		{"GenuineIntel", "fpu rtm rtm_always_abort", "Not affected", "quiet",
		 ELIDE_RUN_PROFILE, "RTM_ALWAYS_ABORT"},
		{"GenuineIntel", "fpu avx2", "Not affected", "quiet tsx=off", ELIDE_RUN_PROFILE,
		 "tsx=off"},
		{"GenuineIntel", "fpu avx2", "Not affected", "quiet", ELIDE_RUN_PROFILE, "tsx=on"},
		{"GenuineIntel", "fpu hypervisor", "Not affected", "quiet", ELIDE_RUN_PROFILE,
		 "hypervisor hides it"},
		{"AuthenticAMD", "fpu avx2", "Not affected", "quiet", ELIDE_RUN_PROFILE,
		 "AMD has no RTM"},
		/* Words that only contain the flag are not the flag. */
		{"GenuineIntel", "fpu artm rtmx", "Not affected", "quiet", ELIDE_RUN_PROFILE,
		 "CPUID shows no RTM"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		char cpuinfo[512], why[512];
		struct machine m;

		snprintf(cpuinfo, sizeof(cpuinfo),
			 "processor\t: 0\nvendor_id\t: %s\nflags\t\t: %s\n\n"
			 "processor\t: 1\nflags\t\t: fpu rtm\n",
			 table[i].vendor, table[i].flags);
		put("proc/cpuinfo", cpuinfo);
		put(TAA, table[i].taa);
		put("proc/cmdline", table[i].cmdline);
		assert_int_equal(machine_read(&m, root), 0);
		assert_int_equal(m.probed, 0);
		assert_int_equal(machine_mode(&m, why, sizeof(why)), table[i].mode);
		assert_non_null(strstr(why, table[i].why));
	}
}

/* Another machine's RTM is never tried on this one; files that are missing are just unknown. */
static void missing_files(void **state)
{
	struct machine m;

	assert_int_equal(machine_read(&m, root), -ENOENT);
	put("proc/cpuinfo", "flags: rtm\n");
	assert_int_equal(machine_read(&m, root), 0);
	assert_int_equal(m.has_rtm, 1);
	assert_string_equal(m.taa, "");
	assert_string_equal(m.tsx_parameter, "");
	assert_int_equal(m.perf_paranoid, -100);
	assert_int_equal(m.has_tx_events, 0);
}

/* A probe that saw nothing commit overrules CPUID. */
static void probe_overrules(void **state)
{
	struct machine m = {.vendor = "GenuineIntel", .has_rtm = 1, .probed = 1};
	char why[512];

	assert_int_equal(machine_mode(&m, why, sizeof(why)), ELIDE_RUN_PROFILE);
	assert_non_null(strstr(why, "not one transaction committed"));
	m.empty_commits = 5;
	assert_int_equal(machine_mode(&m, why, sizeof(why)), ELIDE_RUN_PROFILE);
	assert_non_null(strstr(why, "no storing transaction committed"));
	m.storing_commits = 1;
	assert_int_equal(machine_mode(&m, why, sizeof(why)), ELIDE_RUN_ELIDE);
	m.probe_died = 1;
	assert_int_equal(machine_mode(&m, why, sizeof(why)), ELIDE_RUN_PROFILE);
	assert_non_null(strstr(why, "died"));
}

/* On the machine at hand the probe is run exactly if CPUID allows it. */
static void this_machine(void **state)
{
	struct machine m;

	assert_int_equal(machine_read(&m, NULL), 0);
	assert_int_equal(m.probed, m.has_rtm && !m.always_abort);
	assert_true(m.empty_commits <= PROBE_ATTEMPTS && m.storing_commits <= PROBE_ATTEMPTS);
	assert_int_equal(strlen(m.vendor), 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(verdicts, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_files, setup, teardown),
		cmocka_unit_test(probe_overrules),
		cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

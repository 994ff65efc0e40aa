// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pmu_stat.c - counters of a run: which, why not, and into the data file.
 */
#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/print/counters.h"
#include "../../tools/counters/pmu-file.h"
#include "../../tools/counters/pmu.h"
#include "../tools/synth.h"

static const struct machine good = {
	.vendor = "GenuineIntel",
	.has_rtm = 1,
	.perf_paranoid = 2,
	.has_pmu = 1,
	.family = 6,
	.model = 0x55,
};

static const struct pmu_event *event_named(const struct pmu_event *events, size_t nr,
					   const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(events[i].name, name))
			return &events[i];
	return NULL;
}

/* Codes as Intel's lists have them: event, mask << 8. */
static void events_of_models(void **state)
{
	static const struct {
		unsigned int model;
		const char *name;
		uint64_t config; /* 0: has none of that name */
	} table[] = {
		{0x3c, "RTM_RETIRED.START", 0x01c9},
		{0x3c, "RTM_RETIRED.ABORTED_MISC3", 0x20c9},
		{0x3c, "RTM_RETIRED.ABORTED_UNFRIENDLY", 0},
		{0x4f, "TX_MEM.ABORT_CAPACITY_WRITE", 0x0254},
		{0x55, "RTM_RETIRED.ABORTED", 0x04c9},
		{0x55, "RTM_RETIRED.ABORTED_UNFRIENDLY", 0x20c9},
		{0x55, "TX_MEM.ABORT_CAPACITY", 0x0254},
		{0x55, "TX_MEM.ABORT_CAPACITY_READ", 0},
		{0x8f, "TX_MEM.ABORT_CAPACITY_READ", 0x8054},
		{0x8f, "TX_MEM.ABORT_CAPACITY", 0},
		{0x8f, "RTM_RETIRED.COMMIT", 0x02c9},
		{0xad, "cycles-t", 0x10000003c},
		{0xad, "cycles-ct", 0x30000003c},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct pmu_event events[PMU_EVENTS_MAX];
		struct machine m = good;
		const struct pmu_event *e;
		size_t nr;

		m.model = table[i].model;
		nr = pmu_events(&m, events);
		assert_true(nr > 8);
		e = event_named(events, nr, table[i].name);
		assert_int_equal(!!e, !!table[i].config);
		if (e) {
			assert_int_equal(e->config, table[i].config);
			assert_int_equal(e->type, PERF_TYPE_RAW);
		}
	}
}

/* Sandy Bridge; a family that is not 6. */
static void unknown_models(void **state)
{
	struct pmu_event events[PMU_EVENTS_MAX];
	struct machine m = good;

	m.model = 0x2a;
	assert_int_equal(pmu_events(&m, events), 0);
	m = good;
	m.family = 25;
	assert_int_equal(pmu_events(&m, events), 0);
}

static int answer;

static int faked(struct perf_event_attr *attr)
{
	assert_int_equal(attr->config, 0x01c9);
	assert_int_equal(attr->exclude_kernel, 1);
	return answer;
}

static void reasons(void **state)
{
	static const struct {
		int has_rtm, hypervisor, paranoid, has_pmu;
		unsigned int model;
		int answer;
		const char *why;
	} table[] = {
		{0, 0, 2, 1, 0x55, 0, "no transactions to count: this processor has no RTM"},
		{0, 1, 2, 1, 0x55, 0,
		 "no transactions to count: this processor has no RTM, or the hypervisor hides it"},
		{1, 0, -100, 1, 0x55, 0, "the kernel has no perf events"},
		{1, 0, 2, 0, 0x55, 0, "the kernel found no PMU"},
		{1, 1, 2, 0, 0x55, 0,
		 "the kernel found no PMU: the hypervisor gives the virtual machine none"},
		{1, 0, 2, 1, 0x2a, 0,
		 "the events of this processor are not known: GenuineIntel family 6, model 0x2a"},
		{1, 0, 3, 1, 0x55, -EACCES,
		 "perf_event_paranoid is 3, it must be 2 or less: sysctl "
		 "kernel.perf_event_paranoid=2"},
		{1, 0, 4, 1, 0x55, -EPERM,
		 "perf_event_paranoid is 4, it must be 2 or less: sysctl "
		 "kernel.perf_event_paranoid=2"},
		{1, 0, 2, 1, 0x55, -ENOENT, "the kernel does not count these events here"},
		{1, 1, 2, 1, 0x55, -EOPNOTSUPP,
		 "the kernel does not count these events here: the hypervisor gives the virtual "
		 "machine no PMU"},
		{1, 0, 2, 1, 0x55, -ENOSYS, "the kernel has no perf events"},
		{1, 0, 2, 1, 0x55, -EMFILE, "perf_event_open: Too many open files"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct machine m = good;
		char why[512] = "";

		m.has_rtm = table[i].has_rtm;
		m.hypervisor = table[i].hypervisor;
		m.perf_paranoid = table[i].paranoid;
		m.has_pmu = table[i].has_pmu;
		m.model = table[i].model;
		answer = table[i].answer;
		assert_true(pmu_why_not(&m, faked, why, sizeof(why)) < 0);
		assert_string_equal(why, table[i].why);
	}
}

/* Of another machine only its files are known. */
static void reasons_by_files_alone(void **state)
{
	struct machine m = good;
	char why[512] = "";

	assert_int_equal(pmu_why_not(&m, NULL, why, sizeof(why)), 0);
	m.perf_paranoid = 3;
	assert_int_equal(pmu_why_not(&m, NULL, why, sizeof(why)), -EACCES);
	assert_non_null(strstr(why, "perf_event_paranoid is 3, it must be 2 or less"));
}

/* Software events of this process and its children, which every kernel counts. */
static const struct pmu_event software[] = {
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"nonsense", PERF_TYPE_SOFTWARE, 4711},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
};

/* Runs a shell that starts @nr processes. */
static void run_children(int nr)
{
	char command[128];
	int status;
	pid_t pid;

	snprintf(command, sizeof(command), "i=0; while [ $i -lt %d ]; do (:); i=$((i+1)); done",
		 nr);
	pid = fork();
	if (!pid) {
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void counts_for_real(void **state)
{
	struct elide_counter few[PMU_EVENTS_MAX], many[PMU_EVENTS_MAX];
	struct pmu_stat s;
	char *touched;
	int rc;

	rc = pmu_stat_open(&s, software, ARRAY_SIZE(software), pmu_open);
	if (rc) {
		print_message("skip pmu_stat: this kernel opens no software event: %s\n",
			      strerror(-rc));
		skip();
	}
	assert_int_equal(s.nr, 2);
	assert_int_equal(s.nr_refused, 1);
	/* Our own are not counted, only what we start. */
	touched = malloc(1 << 24);
	memset(touched, 1, 1 << 24);
	assert_int_equal(touched[12345], 1);
	free(touched);
	run_children(1);
	assert_int_equal(pmu_stat_close(&s, few), 2);
	assert_string_equal(few[0].name, "page-faults");
	assert_string_equal(few[1].name, "task-clock");
	assert_int_equal(few[0].source, ELIDE_COUNTER_PMU);
	assert_in_range(few[0].value, 10, 4095);
	assert_true(few[0].enabled_ns > 0);
	assert_int_equal(few[0].enabled_ns, few[0].running_ns);

	assert_int_equal(pmu_stat_open(&s, software, ARRAY_SIZE(software), pmu_open), 0);
	run_children(200);
	assert_int_equal(pmu_stat_close(&s, many), 2);
	/* Grandchildren are counted: each has some faults of its own. */
	assert_true(many[0].value > few[0].value + 200);
}

static int refuse(struct perf_event_attr *attr)
{
	return attr->config == PERF_COUNT_SW_PAGE_FAULTS ? -EINVAL : -EACCES;
}

static void all_refused(void **state)
{
	struct elide_counter counters[PMU_EVENTS_MAX];
	struct pmu_stat s;

	assert_int_equal(pmu_stat_open(&s, software, ARRAY_SIZE(software), refuse), -EINVAL);
	assert_int_equal(s.nr_refused, 3);
	assert_int_equal(pmu_stat_close(&s, counters), 0);
	/* An event that was never opened. */
	assert_int_equal(pmu_stat_open(&s, software, 0, refuse), -ENOENT);
}

static void emulated_file(void **state)
{
	static char text[] = "RTM_RETIRED.START 12\nRTM_RETIRED.ABORTED_MEM 3\n"
			     "HLE_RETIRED.START 9\nTX_MEM.ABORT_CONFLICT 2\nrtm.conflict 2\n"
			     "RTM_RETIRED.COMMIT x\nRTM_RETIRED.COMMIT 18446744073709551616\n"
			     "RTM_RETIRED.COMMIT 1 2\nRTM_RETIRED.COMMIT\nprobe.starts 64\n"
			     "RTM_RETIRED.COMMIT 18446744073709551615\nRTM_RETIRED.ABORTED 7";
	struct elide_counter c[PMU_EVENTS_MAX];
	FILE *f = fmemopen(text, sizeof(text) - 1, "r");

	assert_int_equal(pmu_read_emulated(f, c, PMU_EVENTS_MAX), 5);
	assert_string_equal(c[0].name, "RTM_RETIRED.START");
	assert_int_equal(c[0].value, 12);
	assert_string_equal(c[2].name, "TX_MEM.ABORT_CONFLICT");
	assert_string_equal(c[3].name, "probe.starts");
	assert_int_equal(c[4].value, UINT64_MAX);
	rewind(f);
	assert_int_equal(pmu_read_emulated(f, c, 1), 1);
	fclose(f);
}

static void appended_and_read(void **state)
{
	static const struct elide_counter counters[] = {
		{ELIDE_COUNTER_PMU, 0, 1234, 100, 50, "RTM_RETIRED.START"},
		{ELIDE_COUNTER_PCM, 0, 99, 7, 7, "RTM_RETIRED.COMMIT"},
	};
	char path[64], error[LOAD_ERROR_MAX], *text = NULL;
	struct data_file f;
	struct report r;
	struct synth s;
	size_t size;
	FILE *out;

	snprintf(path, sizeof(path), "/tmp/elide-test-pmu.%d", getpid());
	synth_make(&s, SYNTH_ELIDE, 1, 4711);
	synth_write(&s, path, s.size);
	assert_int_equal(pmu_append(path, 1, counters, 2), -ESRCH);
	assert_int_equal(pmu_append(path, 4711, counters, 2), 0);
	assert_int_equal(load(path, &f, error), 0);
	assert_int_equal(f.nr_counters, 2);
	assert_memory_equal(f.counters, counters, sizeof(counters));
	assert_int_equal(report_build(&r, &f, BY_LOCK_AND_SITE, "cost"), 0);
	out = open_memstream(&text, &size);
	counters_print(&r, out);
	fclose(out);
	assert_non_null(strstr(text, "RTM_RETIRED.START   pmu            1234"));
	assert_non_null(strstr(text, "(counted 50% of the time and scaled)"));
	assert_non_null(strstr(text, "RTM_RETIRED.COMMIT  pcm              99"));
	assert_non_null(strstr(text, "pcm has counted all that ran on this machine"));
	free(text);
	report_free(&r);
	load_free(&f);
	synth_free(&s);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(pmu_append(path, 4711, counters, 2), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_of_models),
		cmocka_unit_test(unknown_models),
		cmocka_unit_test(reasons),
		cmocka_unit_test(reasons_by_files_alone),
		cmocka_unit_test(counts_for_real),
		cmocka_unit_test(all_refused),
		cmocka_unit_test(emulated_file),
		cmocka_unit_test(appended_and_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

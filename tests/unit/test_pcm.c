// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pcm.c - pcm-tsx: its file, why it cannot be run, and a stand-in that is run.
 */
#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../tools/counters/pcm.h"

static char root[64];

static int setup(void **state)
{
	strcpy(root, "/tmp/elide-test-pcm.XXXXXX");
	return !mkdtemp(root);
}

static int teardown(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void put(const char *name, const char *text, int mode)
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
	assert_int_equal(chmod(path, mode), 0);
}

static int parse(const char *text, struct elide_counter *c)
{
	FILE *f = fmemopen((char *)text, strlen(text), "r");
	int rc = pcm_parse(f, c);

	fclose(f);
	return rc;
}

#define EVENTS                                                             \
	"Event0: RTM_RETIRED.START Number of times. (raw 0x1c9)\n"         \
	"Event1: RTM_RETIRED.ABORTED Number, of times (raw 0x4c9)\n\n"

static void two_parts(void **state)
{
	struct elide_counter c[PCM_EVENTS_MAX];

	assert_int_equal(parse("Time elapsed: 1000 ms\n" EVENTS "Core,Event0,Event1\n0,10,1,\n"
			       "1,20,2,\n*,30,3,\n\n"
			       "Time elapsed: 500 ms\n" EVENTS "Core,Event0,Event1\n0,1,0,\n"
			       "1,1,0,\n*,2,0,\n\n",
			       c),
			 2);
	assert_string_equal(c[0].name, "RTM_RETIRED.START");
	assert_int_equal(c[0].value, 32);
	assert_int_equal(c[0].source, ELIDE_COUNTER_PCM);
	assert_int_equal(c[0].enabled_ns, 1500000000);
	assert_int_equal(c[0].running_ns, 1500000000);
	assert_string_equal(c[1].name, "RTM_RETIRED.ABORTED");
	assert_int_equal(c[1].value, 3);
}

/* What is cut or of another form is not half taken. */
static void damaged(void **state)
{
	static const char *const none[] = {
		"",
		"Time elapsed: 1 ms\n",
		"Time elapsed: 1 ms\n" EVENTS "Core,Event0,Event1\n0,1,2,\n",
		EVENTS "*,1\n",	  /* a number is missing */
		EVENTS "*,1,2",	  /* the line's end is missing */
		EVENTS "*,1,x,\n",
		EVENTS "*,-1,2,\n",
		"Event4: A b\n*,1,\n", /* the first is Event0 */
		"Event0:\n*,1,\n",
		"Core,IPC,Instructions,Cycles,#RTM,Cycles/Transaction \n*,0.5,1,2,3, N/A\n",
	};
	struct elide_counter c[PCM_EVENTS_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		assert_int_equal(parse(none[i], c), -EINVAL);
	/* A whole part before a cut one counts. */
	assert_int_equal(parse(EVENTS "*,1,2,\nTime elapsed: 9 ms\n" EVENTS "*,1", c), 2);
	assert_int_equal(c[1].value, 2);
}

static void reasons(void **state)
{
	char program[PATH_MAX], why[512];

	assert_int_equal(pcm_why_not(root, 1, program, why, sizeof(why)), -ENOENT);
	assert_string_equal(why, "pcm-tsx is not installed: package pcm");
	put("usr/sbin/pcm-tsx", "", 0600);
	assert_int_equal(pcm_why_not(root, 1, program, why, sizeof(why)), -ENOENT);
	put("usr/sbin/pcm-tsx", "", 0700);
	assert_int_equal(pcm_why_not(root, 0, program, why, sizeof(why)), -EPERM);
	assert_string_equal(why, "pcm-tsx reads the processor's registers: only root may do so");
	assert_int_equal(pcm_why_not(root, 1, program, why, sizeof(why)), -ENODEV);
	assert_string_equal(why, "/dev/cpu/0/msr is missing: modprobe msr");
	put("dev/cpu/0/msr", "", 0600);
	assert_int_equal(pcm_why_not(root, 1, program, why, sizeof(why)), 0);
	assert_non_null(strstr(program, "/usr/sbin/pcm-tsx"));
}

/* Behaves like pcm-tsx: runs what follows --, and writes how long its input stayed open. */
#define STAND_IN                                                                     \
	"#!/bin/sh\n"                                                                \
	"echo ' Intel PCM' >&2\n"                                                    \
	"for a; do shift; case $a in -csv=*) csv=${a#-csv=};; -e) n=$((n+1));;"      \
	" --) break;; esac; done\n"                                                  \
	"\"$@\" || exit\n"                                                           \
	"echo 'Time elapsed: 20 ms\nEvent0: RTM_RETIRED.START x\n"                   \
	"Event1: RTM_RETIRED.COMMIT x\nEvent2: RTM_RETIRED.ABORTED x\n\n"            \
	"Core,Event0,Event1,Event2\n0,7,6,1,\n*,7,6,'$n, >$csv\n"

static void runs(void **state)
{
	struct elide_counter c[PCM_EVENTS_MAX];
	char program[128], why[512] = "";
	struct pcm p;

	put("pcm-tsx", STAND_IN, 0700);
	snprintf(program, sizeof(program), "%s/pcm-tsx", root);
	assert_int_equal(pcm_start(&p, program, root, why, sizeof(why)), 0);
	/* It counts for as long as we want it to. */
	usleep(20000);
	assert_int_equal(waitpid(p.pid, NULL, WNOHANG), 0);
	assert_int_equal(pcm_stop(&p, c), 3);
	assert_int_equal(c[0].value, 7);
	assert_int_equal(c[2].value, 3); /* events it was asked for */
	assert_int_equal(c[2].enabled_ns, 20000000);
	assert_int_equal(access(p.csv, F_OK), -1);
}

static void does_not_start(void **state)
{
	char program[128], why[512] = "";
	struct pcm p;

	put("pcm-tsx",
	    "#!/bin/sh\necho hello >&2\necho 'No RTM support detected' >&2\necho >&2\nexit 1\n",
	    0700);
	snprintf(program, sizeof(program), "%s/pcm-tsx", root);
	assert_true(pcm_start(&p, program, root, why, sizeof(why)) < 0);
	assert_string_equal(why, "pcm-tsx: No RTM support detected");
	put("pcm-tsx", "#!/bin/sh\nexit 1\n", 0700);
	assert_true(pcm_start(&p, program, root, why, sizeof(why)) < 0);
	assert_string_equal(why, "pcm-tsx said nothing");
	/* Nothing stays behind. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_parts),
		cmocka_unit_test(damaged),
		cmocka_unit_test_setup_teardown(reasons, setup, teardown),
		cmocka_unit_test_setup_teardown(runs, setup, teardown),
		cmocka_unit_test_setup_teardown(does_not_start, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

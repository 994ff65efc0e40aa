/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * torture.c - torture [OPTION...] SCENARIO [SUBJECT]
 *
 * Runs with and without the library; knows nothing of it but elide.h. Prints
 * "acquired N", the acquisitions that the library can have counted, where the
 * scenario knows them. Failures go to standard error. Exit 0 passed, 1
 * failed, 2 usage. The same arguments draw the same random numbers.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <linux/seccomp.h>
#include <unistd.h>

#include "torture.h"

static const struct scenario {
	const char *name;
	unsigned int (*run)(const struct run *run, unsigned long *acquired);
	unsigned long rounds;
	bool counts;
	const char *help;
} scenarios[] = {
	{"exclusion", run_exclusion, 10000, true, "sections in each thread"},
	{"cond", run_cond, 2000, true, "turns of each thread"},
	{"waits", run_waits, 1000, true, "units that each thread takes of a semaphore"},
	{"fork", run_fork, 100, false, "forks"},
	{"signals", run_signals, 500, true, "signals"},
	{"cancel", run_cancel, 300, false, "generations of threads"},
	{"threads", run_threads, 10000, true, "threads"},
	{"locks", run_locks, 1000000, true, "locks"},
	{"mixed", run_mixed, 300, false, "sections in each thread"},
};

static int usage(void)
{
	fprintf(stderr, "usage: torture [--seed=N] [--threads=2..%d] [--rounds=N] SCENARIO [SUBJECT]\n"
		"scenarios, and what their rounds are:\n", MAX_THREADS - 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(scenarios); i++)
		fprintf(stderr, "  %-10s %s (%lu)\n", scenarios[i].name, scenarios[i].help,
			scenarios[i].rounds);
	fprintf(stderr, "subjects, all of them mixed without one:\n ");
	for (unsigned int i = 0; i < nr_subjects_mixed; i++)
		fprintf(stderr, " %s", subjects[i].name);
	fprintf(stderr, "\n");
	return 2;
}

static const struct option options[] = {
	{"seed", required_argument, NULL, 's'},
	{"threads", required_argument, NULL, 't'},
	{"rounds", required_argument, NULL, 'r'},
	{NULL, 0, NULL, 0},
};

int main(int argc, char **argv)
{
	struct run run = {.seed = 1, .threads = 4};
	const struct scenario *scenario = NULL;
	unsigned long acquired = 0;
	unsigned int failed;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 's')
			run.seed = strtoull(optarg, NULL, 10);
		else if (c == 't')
			run.threads = strtoul(optarg, NULL, 10);
		else if (c == 'r')
			run.rounds = strtoul(optarg, NULL, 10);
		else
			return usage();
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(scenarios) && optind < argc; i++)
		if (!strcmp(argv[optind], scenarios[i].name))
			scenario = &scenarios[i];
	if (!scenario || run.threads < 2 || run.threads >= MAX_THREADS || argc - optind > 2)
		return usage();
	if (argc - optind == 2) {
		run.subject = subject_find(argv[optind + 1]);
		if (!run.subject)
			return usage();
	}
	if (!run.rounds)
		run.rounds = scenario->rounds;
	locks_start();
	/* Changes nothing, and meets the points of a process that gives up rights. */
	if (seteuid(geteuid()))
		return 1;
	/* Is refused, and meets the points of a process that installs a filter. */
	if (!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL))
		return 1;
	failed = scenario->run(&run, &acquired);
	if (scenario->counts)
		printf("acquired %lu\n", acquired);
	return failed ? 1 : 0;
}

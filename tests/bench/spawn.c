// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spawn.c - spawn NR [NAME=VALUE...] PROGRAM [ARG...]: start a program NR times, one after the other,
 * with further variables in its environment. Prints the sum over all of them in microseconds: the
 * clock's time, and processor time of the program and of its children.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

/* Processor time of all children that have been waited for. */
static double children_us(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
	double start = now_us(), used = children_us();
	long nr = argc > 2 ? atol(argv[1]) : 0;
	char **program = argv + 2;

	while (nr > 0 && *program && strchr(*program, '='))
		putenv(*program++);
	if (nr < 1 || !*program) {
		fprintf(stderr, "usage: spawn NR [NAME=VALUE...] PROGRAM [ARG...]\n");
		return 2;
	}
	while (nr--) {
		int status;
		pid_t pid;

		if (posix_spawnp(&pid, *program, NULL, NULL, program, environ) ||
		    waitpid(pid, &status, 0) != pid || status) {
			fprintf(stderr, "spawn: %s did not run\n", *program);
			return 1;
		}
	}
	printf("%.0f %.0f\n", now_us() - start, children_us() - used);
	return 0;
}

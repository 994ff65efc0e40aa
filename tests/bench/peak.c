// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * peak.c - runs a command, its output thrown away: peak COMMAND... prints its seconds, largest
 * resident memory in MiB and seconds on processors.
 *
 * Must never add to these numbers: it waits and does nothing else.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct timespec start, end;
	struct rusage use;
	int status = -1;
	pid_t pid;

	if (argc < 2)
		return 2;
	clock_gettime(CLOCK_MONOTONIC, &start);
	pid = fork();
	if (!pid) {
		dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &use) != pid)
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.3f %ld %.3f\n",
	       (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9,
	       use.ru_maxrss / 1024,
	       (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
		       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6);
	return status ? 1 : 0;
}

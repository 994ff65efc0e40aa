// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cores.c - threads share the simulated cores.
 *
 * usage: cores THREADS
 *
 * Prints the number of processors that the program sees, and the time in which THREADS threads each
 * do the same work, as a multiple of the time of a single thread.
 */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "emu.h"

/* Turns of a loop that take at least ten time slices of 3 ms. */
#define WORK 8000000

static void *work(void *arg)
{
	volatile int i;

	for (i = 0; i < WORK; i++)
		;
	return NULL;
}

static long long timed(int nr_threads)
{
	pthread_t threads[64];
	long long begun = emu_ns();
	int i;

	for (i = 0; i < nr_threads; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	return emu_ns() - begun;
}

int main(int argc, char **argv)
{
	long long alone;
	cpu_set_t set;

	emu_require();
	if (argc != 2)
		return 2;
	check("affinity", sched_getaffinity(0, sizeof(set), &set), 0);
	alone = timed(1);
	printf("cores %ld %ld %d factor %.1f\n", sysconf(_SC_NPROCESSORS_ONLN),
	       sysconf(_SC_NPROCESSORS_CONF), CPU_COUNT(&set),
	       (double)timed(atoi(argv[1])) / alone);
	return emu_status();
}

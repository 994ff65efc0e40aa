// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * false_array.c - a counter for each thread, all in one array without a gap.
 * Repaired: an element is a line.
 */
#include <pthread.h>

#include "planted.h"

static pthread_spinlock_t pool_lock APART;
static struct counter {
	long jobs;
} REPAIRED_APART counters[PLANTED_THREADS] APART;

PLACE void count_job(struct counter *counter)
{
	counter->jobs++;
	planted_dwell(20);
}

PLACE void finish_job(struct counter *counter)
{
	pthread_spin_lock(&pool_lock);
	count_job(counter);
	pthread_spin_unlock(&pool_lock);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		finish_job(&counters[w->thread]);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds, jobs = 0;

	pthread_spin_init(&pool_lock, PTHREAD_PROCESS_PRIVATE);
	rounds = planted_run(argc, argv, work);
	for (int i = 0; i < PLANTED_THREADS; i++)
		jobs += counters[i].jobs;
	return planted_end("jobs", jobs, rounds);
}

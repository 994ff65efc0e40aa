// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dispatcher.c - one thread prepares all jobs, slowly, and the others wait for them. Nothing is elided
 * here: it is for profile mode, on any machine. Repaired: each thread prepares its own.
 */
#include <pthread.h>
#include <unistd.h>

#include "planted.h"

static pthread_mutex_t jobs_lock APART = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t job_ready APART = PTHREAD_COND_INITIALIZER;
static long jobs;
static struct {
	long nr;
} APART done[PLANTED_THREADS];

PLACE void prepare(void)
{
	usleep(500);
}

PLACE void dispatch(void)
{
	pthread_mutex_lock(&jobs_lock);
	jobs++;
	pthread_mutex_unlock(&jobs_lock);
	pthread_cond_signal(&job_ready);
	planted_dwell(1);
}

PLACE void take_job(void)
{
	pthread_mutex_lock(&jobs_lock);
	while (!jobs)
		pthread_cond_wait(&job_ready, &jobs_lock);
	jobs--;
	pthread_mutex_unlock(&jobs_lock);
}

PLACE void do_job(int thread)
{
	if (IS_REPAIRED)
		prepare();
	else
		take_job();
	done[thread].nr++;
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		if (w->thread || IS_REPAIRED) {
			do_job(w->thread);
			continue;
		}
		for (int other = 1; other < w->nr_threads; other++) {
			prepare();
			dispatch();
		}
		done[0].nr++;
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work), sum = 0;

	for (int i = 0; i < PLANTED_THREADS; i++)
		sum += done[i].nr;
	return planted_end("jobs", sum, rounds);
}

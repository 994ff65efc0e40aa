// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dispatcher.c - one thread prepares all jobs, slowly, and the others wait for them at a semaphore.
 * Nothing is elided here: it is for profile mode, on any machine. Repaired: each thread prepares its
 * own.
 */
#include <semaphore.h>
#include <unistd.h>

#include "planted.h"

static sem_t jobs_ready;
static struct {
	long nr;
} APART done[PLANTED_THREADS];

PLACE void prepare(void)
{
	usleep(500);
}

PLACE void dispatch(void)
{
	sem_post(&jobs_ready);
	planted_dwell(1);
}

PLACE void take_job(void)
{
	while (sem_wait(&jobs_ready))
		;
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
	long rounds, sum = 0;

	sem_init(&jobs_ready, 0, 0);
	rounds = planted_run(argc, argv, work);
	for (int i = 0; i < PLANTED_THREADS; i++)
		sum += done[i].nr;
	return planted_end("jobs", sum, rounds);
}

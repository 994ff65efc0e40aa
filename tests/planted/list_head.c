// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * list_head.c - all threads put jobs at the head of one list. Repaired: a list for
 * each thread.
 */
#include <pthread.h>
#include <stdlib.h>

#include "planted.h"

struct job {
	struct job *next;
	long number;
} APART;

static pthread_mutex_t jobs_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct {
	struct job *head;
} APART jobs[PLANTED_THREADS];

PLACE void link_job(struct job *job, int list)
{
	job->next = jobs[list].head;
	jobs[list].head = job;
	planted_dwell(20);
}

PLACE void add_job(struct job *job, int thread)
{
	pthread_mutex_lock(&jobs_lock);
	link_job(job, IS_REPAIRED ? thread : 0);
	pthread_mutex_unlock(&jobs_lock);
}

static void work(struct worker *w)
{
	struct job *own = aligned_alloc(64, w->rounds * sizeof(*own));

	if (!own)
		exit(2);
	for (long i = 0; i < w->rounds; i++) {
		own[i].number = i;
		add_job(&own[i], w->thread);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work), nr = 0;

	for (int i = 0; i < PLANTED_THREADS; i++)
		for (struct job *job = jobs[i].head; job; job = job->next)
			nr++;
	return planted_end("jobs", nr, rounds);
}

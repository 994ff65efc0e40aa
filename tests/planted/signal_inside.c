// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * signal_inside.c - a section wakes the thread that waits, with the lock held.
 * Repaired: after the release.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "planted.h"

static pthread_mutex_t tasks_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct queue {
	sem_t filled;
	long tasks;
} APART queues[PLANTED_THREADS];
static struct {
	long nr;
} APART done[PLANTED_THREADS];

PLACE void wake(struct queue *queue)
{
	if (sem_post(&queue->filled))
		exit(2);
}

PLACE void put_task(struct queue *queue)
{
	pthread_mutex_lock(&tasks_lock);
	queue->tasks++;
	if (!IS_REPAIRED)
		wake(queue);
	pthread_mutex_unlock(&tasks_lock);
	if (IS_REPAIRED)
		wake(queue);
}

/* Threads are pairs: one puts, the next waits for it each time. */
static void work(struct worker *w)
{
	struct queue *queue = &queues[w->thread / 2];

	for (long i = 0; i < w->rounds; i++) {
		if (w->thread % 2) {
			sem_wait(&queue->filled);
			done[w->thread].nr++;
		} else {
			planted_dwell(2000);
			put_task(queue);
			planted_pause(w);
		}
	}
}

int main(int argc, char **argv)
{
	long rounds, nr = 0;

	for (int i = 0; i < PLANTED_THREADS; i++)
		sem_init(&queues[i].filled, 0, 0);
	rounds = planted_run(argc, argv, work);
	for (int i = 0; i < PLANTED_THREADS; i++)
		nr += done[i].nr;
	return planted_end("tasks", nr, rounds / 2);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cond_wait.c - a section waits for a reply on a condition variable. Repaired: it
 * checks for one, and leaves the section if there is none.
 */
#include <pthread.h>

#include "planted.h"

static pthread_mutex_t replies_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct box {
	pthread_cond_t filled;
	long replies;
} APART boxes[PLANTED_THREADS];

PLACE long take_reply(struct box *box)
{
	long taken;

	pthread_mutex_lock(&replies_lock);
	while (!IS_REPAIRED && !box->replies)
		pthread_cond_wait(&box->filled, &replies_lock);
	taken = box->replies;
	box->replies = 0;
	pthread_mutex_unlock(&replies_lock);
	return taken;
}

PLACE void put_reply(struct box *box)
{
	pthread_mutex_lock(&replies_lock);
	box->replies++;
	pthread_mutex_unlock(&replies_lock);
	pthread_cond_signal(&box->filled);
}

static struct {
	long nr;
} APART taken[PLANTED_THREADS];

/* Threads are pairs: one puts, the next takes as many. */
static void work(struct worker *w)
{
	struct box *box = &boxes[w->thread / 2];

	for (long i = 0; i < w->rounds; i++) {
		if (w->thread % 2) {
			while (taken[w->thread].nr <= i)
				taken[w->thread].nr += take_reply(box);
		} else {
			planted_dwell(200);
			put_reply(box);
		}
	}
}

int main(int argc, char **argv)
{
	long rounds, nr = 0;

	for (int i = 0; i < PLANTED_THREADS; i++)
		pthread_cond_init(&boxes[i].filled, NULL);
	rounds = planted_run(argc, argv, work);
	for (int i = 0; i < PLANTED_THREADS; i++)
		nr += taken[i].nr;
	return planted_end("replies", nr, rounds / 2);
}

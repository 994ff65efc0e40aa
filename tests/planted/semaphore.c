// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * semaphore.c - one connection for all threads, handed out by a semaphore and kept for the whole query.
 * Nothing is elided here: it is for profile mode, on any machine. Repaired: a connection for each thread.
 */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "planted.h"

static sem_t connections;
static struct {
	long nr;
} APART asked[PLANTED_THREADS];

PLACE void borrow(void)
{
	while (sem_wait(&connections))
		;
}

PLACE void give_back(void)
{
	sem_post(&connections);
	planted_dwell(1);
}

PLACE void query(int thread)
{
	borrow();
	usleep(1000);
	asked[thread].nr++;
	give_back();
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		query(w->thread);
		usleep(200);
	}
}

int main(int argc, char **argv)
{
	long rounds, done = 0;

	sem_init(&connections, 0, IS_REPAIRED ? PLANTED_THREADS : 1);
	rounds = planted_run(argc, argv, work);
	for (int i = 0; i < PLANTED_THREADS; i++)
		done += asked[i].nr;
	return planted_end("queries", done, rounds);
}

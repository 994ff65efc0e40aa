// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * counter.c - every section counts in the same counter. Repaired: a counter for
 * each thread, summed up at the end.
 */
#include <pthread.h>

#include "planted.h"

struct reply {
	long length;
} APART;

static pthread_mutex_t server_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct {
	long nr;
} APART requests[PLANTED_THREADS];
static struct reply replies[PLANTED_THREADS];

PLACE void count_request(int thread)
{
	requests[IS_REPAIRED ? thread : 0].nr++;
}

PLACE void answer(struct reply *reply)
{
	reply->length++;
	planted_dwell(20);
}

PLACE void serve(int thread)
{
	pthread_mutex_lock(&server_lock);
	count_request(thread);
	answer(&replies[thread]);
	pthread_mutex_unlock(&server_lock);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		serve(w->thread);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work), sum = 0;

	for (int i = 0; i < PLANTED_THREADS; i++)
		sum += requests[i].nr;
	return planted_end("requests", sum, rounds);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lock_counter.c - a counter beside the lock, in its line, that every section writes: whoever
 * reads the lock aborts the section. A line of its own would not help. Repaired: a counter for
 * each thread, summed up at the end.
 */
#include <pthread.h>

#include "planted.h"

struct guest {
	long nights;
} APART;

static struct {
	pthread_mutex_t lock;
	long arrivals;
} hotel APART = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct {
	long nr;
} APART arrivals[PLANTED_THREADS];
static struct guest guests[PLANTED_THREADS];

PLACE void count_arrival(int thread)
{
	if (IS_REPAIRED)
		arrivals[thread].nr++;
	else
		hotel.arrivals++;
}

PLACE void sleep_well(struct guest *guest)
{
	guest->nights++;
	planted_dwell(20);
}

PLACE void check_in(int thread)
{
	pthread_mutex_lock(&hotel.lock);
	count_arrival(thread);
	sleep_well(&guests[thread]);
	pthread_mutex_unlock(&hotel.lock);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		check_in(w->thread);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work), sum = hotel.arrivals;

	for (int i = 0; i < PLANTED_THREADS; i++)
		sum += arrivals[i].nr;
	return planted_end("arrivals", sum, rounds);
}

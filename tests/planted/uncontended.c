// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * uncontended.c - only one thread ever takes the lock. Repaired: all do, and
 * they meet.
 */
#include <pthread.h>

#include "planted.h"

static pthread_mutex_t names_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct cache {
	long lookups;
} APART caches[PLANTED_THREADS];

PLACE void find(struct cache *cache)
{
	cache->lookups++;
	planted_dwell(20);
}

PLACE void lookup(struct cache *cache)
{
	pthread_mutex_lock(&names_lock);
	find(cache);
	pthread_mutex_unlock(&names_lock);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		if (IS_REPAIRED || !w->thread)
			lookup(&caches[w->thread]);
		else
			find(&caches[w->thread]);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work), lookups = 0;

	for (int i = 0; i < PLANTED_THREADS; i++)
		lookups += caches[i].lookups;
	return planted_end("lookups", lookups, rounds);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unlock_twice.c - one path out of the section unlocks the lock a second time.
 * Repaired: each path unlocks it once.
 */
#include <pthread.h>

#include "planted.h"

/* It answers, where a plain one may be left with somebody else's section open. */
static pthread_mutex_t stock_lock APART = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static struct shelf {
	long items;
	long visits;
	long taken;
} APART shelves[PLANTED_THREADS];

PLACE bool take_item(struct shelf *shelf)
{
	bool empty;

	pthread_mutex_lock(&stock_lock);
	shelf->visits++;
	empty = !shelf->items;
	if (empty) {
		shelf->items = 4;
		pthread_mutex_unlock(&stock_lock);
		if (IS_REPAIRED)
			return false;
	} else {
		shelf->items--;
	}
	return !pthread_mutex_unlock(&stock_lock);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		shelves[w->thread].taken += take_item(&shelves[w->thread]);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work), visits = 0;

	for (int i = 0; i < PLANTED_THREADS; i++)
		visits += shelves[i].visits;
	return planted_end("visits", visits, rounds);
}

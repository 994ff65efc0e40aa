// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * false_locals.c - an array on main's stack with a result for each thread, several
 * on a line. Repaired: a result is a line.
 */
#include <pthread.h>

#include "planted.h"

struct result {
	long found;
	long nr;
} REPAIRED_APART;

static pthread_mutex_t results_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct result *all;

PLACE void add_result(struct result *result, long found)
{
	result->found += found;
	result->nr++;
	planted_dwell(20);
}

PLACE void put_result(struct result *result, long found)
{
	pthread_mutex_lock(&results_lock);
	add_result(result, found);
	pthread_mutex_unlock(&results_lock);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		put_result(&all[w->thread], planted_draw(w, 2));
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	struct result results[PLANTED_THREADS] APART = {{0, 0}};
	long rounds, nr = 0;

	all = results;
	rounds = planted_run(argc, argv, work);
	for (int i = 0; i < PLANTED_THREADS; i++)
		nr += results[i].nr;
	return planted_end("results", nr, rounds);
}

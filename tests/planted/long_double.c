// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * long_double.c - a section computes with long double, in x87 instructions, which
 * abort on newer processors. Repaired: with double.
 */
#include <pthread.h>

#include "planted.h"

#ifdef REPAIRED
#define real double
#else
#define real long double
#endif

static pthread_mutex_t means_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct mean {
	real sum;
	long nr;
} APART means[PLANTED_THREADS];

PLACE void add_value(struct mean *mean, long value)
{
	mean->sum += value;
	mean->nr++;
}

PLACE void update_mean(struct mean *mean, long value)
{
	pthread_mutex_lock(&means_lock);
	add_value(mean, value);
	pthread_mutex_unlock(&means_lock);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		update_mean(&means[w->thread], planted_draw(w, 100));
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work), nr = 0;

	for (int i = 0; i < PLANTED_THREADS; i++)
		nr += means[i].nr;
	return planted_end("values", nr, rounds);
}

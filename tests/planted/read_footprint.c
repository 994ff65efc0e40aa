// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_footprint.c - a section reads more than the processor can keep track of.
 * Repaired: a small part of the table at a time.
 */
#include <pthread.h>

#include "planted.h"

/* The machine it runs on tracks 4096 lines. */
#define LINES 5000
#define PART  (IS_REPAIRED ? LINES / 10 : LINES)

static pthread_rwlock_t prices_lock APART = PTHREAD_RWLOCK_INITIALIZER;
static struct {
	long price;
} APART prices[LINES];
static struct {
	long sum;
} APART totals[PLANTED_THREADS];

PLACE long add_prices(int from, int nr)
{
	long sum = 0;

	for (int i = from; i < from + nr; i++)
		sum += prices[i].price;
	return sum;
}

PLACE long total_price(int from, int nr)
{
	long sum;

	pthread_rwlock_rdlock(&prices_lock);
	sum = add_prices(from, nr);
	pthread_rwlock_unlock(&prices_lock);
	return sum;
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		for (int from = 0; from < LINES; from += PART)
			totals[w->thread].sum += total_price(from, PART);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds, sum = 0;

	for (int i = 0; i < LINES; i++)
		prices[i].price = 1;
	rounds = planted_run(argc, argv, work);
	for (int i = 0; i < PLANTED_THREADS; i++)
		sum += totals[i].sum;
	return planted_end("prices", sum, rounds * LINES);
}

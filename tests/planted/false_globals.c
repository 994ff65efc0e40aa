// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * false_globals.c - two counters on one cache line: each thread counts in its own,
 * and yet they conflict. Repaired: a line for each.
 */
#include <pthread.h>
#include <stdio.h>

#include "planted.h"

static pthread_mutex_t stats_lock APART = PTHREAD_MUTEX_INITIALIZER;

/*
 * Half a line each, in a part of the data that begins with a line, in whichever
 * order the compiler puts them there.
 */
#define STATISTICS __attribute__((section("statistics"), aligned(IS_REPAIRED ? 64 : 32)))
#define HALF_LINE  4

STATISTICS static long hits[HALF_LINE];
STATISTICS static long misses[HALF_LINE];
STATISTICS static long __attribute__((used)) reserved[2 * HALF_LINE] APART;

PLACE void count_hit(void)
{
	hits[0]++;
	planted_dwell(20);
}

PLACE void count_miss(void)
{
	misses[0]++;
	planted_dwell(20);
}

PLACE void account(bool hit)
{
	pthread_mutex_lock(&stats_lock);
	if (hit)
		count_hit();
	else
		count_miss();
	pthread_mutex_unlock(&stats_lock);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		account(w->thread % 2);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds;

	if (planted_same_line(hits, misses) == IS_REPAIRED) {
		fputs("hits and misses do not lie as they should\n", stderr);
		return 2;
	}
	rounds = planted_run(argc, argv, work);
	return planted_end("lookups", hits[0] + misses[0], rounds);
}

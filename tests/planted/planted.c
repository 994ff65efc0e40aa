// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * planted.c - threads, random pauses and the end of the programs with a planted
 * problem. See planted.h.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "planted.h"

/* Steps between two sections, on average half of it. */
#define PAUSE_STEPS 40

static struct start {
	struct worker worker;
	pthread_t id;
	void (*work)(struct worker *w);
} APART starts[PLANTED_THREADS];

static pthread_barrier_t begin; /* or the first would be done before the last begins */

static void *start(void *arg)
{
	struct start *s = arg;
	struct worker worker = s->worker;

	pthread_barrier_wait(&begin);
	s->work(&worker);
	return NULL;
}

long planted_run(int argc, char **argv, void (*work)(struct worker *w))
{
	long nr_threads = argc == 4 ? atol(argv[1]) : 0, rounds = argc == 4 ? atol(argv[2]) : 0;

	if (nr_threads < 1 || nr_threads > PLANTED_THREADS || rounds < 1) {
		fprintf(stderr, "usage: %s THREADS(1-%d) ROUNDS SEED\n", argv[0], PLANTED_THREADS);
		exit(2);
	}
	pthread_barrier_init(&begin, NULL, nr_threads);
	for (int i = 0; i < nr_threads; i++) {
		starts[i].worker = (struct worker){
			.thread = i,
			.nr_threads = nr_threads,
			.rounds = rounds,
			.random = (strtoull(argv[3], NULL, 10) + 1) * PLANTED_THREADS + i,
		};
		starts[i].work = work;
		if (pthread_create(&starts[i].id, NULL, start, &starts[i]))
			exit(2);
	}
	for (int i = 0; i < nr_threads; i++)
		pthread_join(starts[i].id, NULL);
	return nr_threads * rounds;
}

unsigned int planted_draw(struct worker *w, unsigned int below)
{
	/* Knuth's MMIX constants. */
	w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
	return (w->random >> 33) % below;
}

void planted_dwell(int steps)
{
	for (volatile int i = 0; i < steps; i++)
		;
}

void planted_pause(struct worker *w)
{
	planted_dwell(planted_draw(w, PAUSE_STEPS));
}

int planted_end(const char *what, long got, long want)
{
	if (got == want)
		return 0;
	fprintf(stderr, "%s: %ld, not %ld\n", what, got, want);
	return 1;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * churn.c - threads and locks that come and go by the thousand.
 */
#include <stdlib.h>
#include <string.h>

#include "torture.h"

static struct cell cells[NR_CELLS];

/* Every thread of a wave makes a few sections and ends. */
static void *short_life(void *arg)
{
	for (int i = 0; i < 4; i++)
		section(arg, cells);
	return NULL;
}

/* @rounds threads in all. */
unsigned int run_threads(const struct run *run, unsigned long *acquired)
{
	struct worker *workers = calloc(run->rounds, sizeof(*workers));
	pthread_t threads[MAX_THREADS];
	unsigned int failed;

	if (!workers)
		return say("no memory");
	cells_make(cells, run->subject ? run->subject : subject_find("mutex"));
	for (unsigned long first = 0; first < run->rounds; first += run->threads) {
		unsigned int nr = run->rounds - first;

		nr = nr < run->threads ? nr : run->threads;
		for (unsigned int i = 0; i < nr; i++) {
			struct worker *w = &workers[first + i];

			w->run = run;
			w->me = i;
			random_seed(&w->random, run->seed, first + i);
			if (pthread_create(&threads[i], NULL, short_life, w))
				return say("thread %lu cannot be made", first + i);
		}
		for (unsigned int i = 0; i < nr; i++) {
			pthread_join(threads[i], NULL);
			*acquired += workers[first + i].acquired;
		}
	}
	failed = cells_check(cells, workers, run->rounds);
	free(workers);
	return failed;
}

/* Places where locks live, one after the other. */
#define NR_PLACES 64

static struct cell places[MAX_THREADS][NR_PLACES];

/* @rounds lives of locks; one in four ends without destroy, and another kind may follow. */
static void *make_locks(void *arg)
{
	struct worker *w = arg;
	struct cell *own = places[w->me];

	for (unsigned long i = 0; i < w->run->rounds; i++) {
		struct cell *cell = &own[random_below(&w->random, NR_PLACES)];
		const struct calls *calls;

		memset(&cell->lock, 0, sizeof(cell->lock));
		cell->subject = &subjects[1 + random_below(&w->random, nr_subjects - 1)];
		cell->subject->init(&cell->lock);
		calls = &cell->subject->write[WAY_ON];
		w->wrong += calls->lock(&cell->lock) != 0;
		for (int n = 0; n < NR_WORDS; n++)
			cell->words[n].value++;
		w->wrong += calls->unlock(&cell->lock) != 0;
		w->written[0]++;
		w->acquired++;
		if (!one_in(&w->random, 4))
			cell->subject->destroy(&cell->lock);
	}
	return NULL;
}

unsigned int run_locks(const struct run *run, unsigned long *acquired)
{
	struct run each = *run;
	struct worker workers[MAX_THREADS];
	pthread_t threads[MAX_THREADS];
	unsigned long sum, wanted;
	unsigned int failed = 0;

	each.rounds = run->rounds / run->threads;
	workers_make(workers, &each);
	for (unsigned int i = 0; i < run->threads; i++)
		pthread_create(&threads[i], NULL, make_locks, &workers[i]);
	for (unsigned int i = 0; i < run->threads; i++) {
		pthread_join(threads[i], NULL);
		*acquired += workers[i].acquired;
		wanted = workers[i].written[0];
		sum = 0;
		for (int p = 0; p < NR_PLACES; p++)
			sum += places[i][p].words[NR_WORDS - 1].value;
		if (sum != wanted)
			failed += say("thread %u made %lu sections, %lu are left", i, wanted, sum);
		if (workers[i].wrong)
			failed += say("%lu calls of fresh locks failed", workers[i].wrong);
	}
	return failed;
}

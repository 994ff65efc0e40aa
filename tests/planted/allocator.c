// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * allocator.c - sections allocate and free: all threads meet in the allocator, which
 * has one arena here. Repaired: allocated before the section, freed after it.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#include "planted.h"

/* Larger than what glibc keeps for each thread, smaller than what it maps. */
#define PAGE_SIZE 3000

struct page {
	long number;
	char text[PAGE_SIZE];
};

static pthread_mutex_t cache_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct {
	struct page *page;
	long nr;
} APART cache[PLANTED_THREADS];

PLACE void replace(int slot, struct page *page)
{
	cache[slot].page = page;
	cache[slot].nr++;
	page->number = cache[slot].nr;
	planted_dwell(10);
}

PLACE void remember(int slot)
{
	struct page *old, *page = IS_REPAIRED ? malloc(sizeof(*page)) : NULL;

	pthread_mutex_lock(&cache_lock);
	if (!IS_REPAIRED)
		page = malloc(sizeof(*page));
	if (!page)
		exit(2);
	old = cache[slot].page;
	replace(slot, page);
	if (!IS_REPAIRED)
		free(old);
	pthread_mutex_unlock(&cache_lock);
	if (IS_REPAIRED)
		free(old);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		remember(w->thread);
		planted_pause(w);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds, nr = 0;

	mallopt(M_ARENA_MAX, 1);
	/* Memory enough at hand: no system calls. */
	mallopt(M_TOP_PAD, 64 * sizeof(struct page));
	free(malloc(16));
	rounds = planted_run(argc, argv, work);
	for (int i = 0; i < PLANTED_THREADS; i++)
		nr += cache[i].nr;
	return planted_end("pages", nr, rounds);
}

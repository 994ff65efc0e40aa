// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * first_touch.c - each section is the first to touch a page. Repaired: all pages are
 * touched before.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "planted.h"

#define PAGE 4096

static pthread_mutex_t arena_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct arena {
	char *next;
	long nr;
} APART arenas[PLANTED_THREADS];

PLACE void clear_head(char *page)
{
	for (int i = 0; i < 64; i++)
		((volatile char *)page)[i] = 1;
}

PLACE void carve_page(struct arena *arena)
{
	pthread_mutex_lock(&arena_lock);
	clear_head(arena->next);
	arena->next += PAGE;
	arena->nr++;
	pthread_mutex_unlock(&arena_lock);
}

static void work(struct worker *w)
{
	struct arena *own = &arenas[w->thread];

	own->next = mmap(NULL, w->rounds * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (own->next == MAP_FAILED)
		exit(2);
	if (IS_REPAIRED)
		for (long i = 0; i < w->rounds; i++)
			((volatile char *)own->next)[i * PAGE] = 0;
	for (long i = 0; i < w->rounds; i++) {
		carve_page(own);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work), nr = 0;

	for (int i = 0; i < PLANTED_THREADS; i++)
		nr += arenas[i].nr;
	return planted_end("pages", nr, rounds);
}

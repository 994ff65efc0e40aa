// SPDX-License-Identifier: GPL-2.0-or-later
/* stacks.c - see stacks.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stacks.h"

/* Values of @place for a thread that is not on the path. */
#define UNSEEN (~0u)
#define DONE   (~0u - 1) /* all its cycles are known */

/**
 * struct search - the search for cycles, depth first.
 * @path:  threads by index, each of which waits for the next; @nr
 * @place: of each thread
 */
struct search {
	struct stacks *s;
	uint32_t *path;
	uint32_t nr;
	uint32_t *place;
};

/* Adds the cycle of the threads of the path from place @first on. */
static int add_cycle(struct search *search, uint32_t first)
{
	struct stacks *s = search->s;
	struct stacks_cycle *cycles =
		reallocarray(s->cycles, s->nr_cycles + 1, sizeof(*cycles));
	size_t nr = search->nr - first;
	uint32_t *threads;

	if (!cycles)
		return -ENOMEM;
	s->cycles = cycles;
	threads = malloc(nr * sizeof(*threads));
	if (!threads)
		return -ENOMEM;
	memcpy(threads, search->path + first, nr * sizeof(*threads));
	s->cycles[s->nr_cycles++] = (struct stacks_cycle){threads, nr};
	return 0;
}

/* Recurses as deeply as the longest path of threads that wait for each other. */
static int follow(struct search *search, uint32_t at)
{
	const struct stacks_thread *t = &search->s->threads[at];
	int err = 0;

	search->place[at] = search->nr;
	search->path[search->nr++] = at;
	for (size_t i = 0; !err && !t->timed && i < t->nr_holders; i++) {
		uint32_t place = search->place[t->holders[i]];

		if (place == UNSEEN)
			err = follow(search, t->holders[i]);
		else if (place != DONE)
			err = add_cycle(search, place);
	}
	search->nr--;
	search->place[at] = DONE;
	return err;
}

int stacks_find_cycles(struct stacks *s)
{
	struct search search = {
		.s = s,
		.path = calloc(s->nr + 1, sizeof(*search.path)),
		.place = malloc((s->nr + 1) * sizeof(*search.place)),
	};
	int err = search.path && search.place ? 0 : -ENOMEM;

	if (!err)
		memset(search.place, 0xff, s->nr * sizeof(*search.place));
	for (uint32_t i = 0; !err && i < s->nr; i++)
		if (search.place[i] == UNSEEN)
			err = follow(&search, i);
	free(search.path);
	free(search.place);
	return err;
}

int stacks_add_holder(struct stacks_thread *t, uint32_t holder)
{
	uint32_t *holders;

	for (size_t i = 0; i < t->nr_holders; i++)
		if (t->holders[i] == holder)
			return 0;
	holders = reallocarray(t->holders, t->nr_holders + 1, sizeof(*holders));
	if (!holders)
		return -ENOMEM;
	t->holders = holders;
	t->holders[t->nr_holders++] = holder;
	return 0;
}

int stacks_add_held(struct stacks_thread *t, const struct stacks_held *held)
{
	struct stacks_held *all;

	for (size_t i = 0; i < t->nr_held; i++) {
		if (t->held[i].lock != held->lock)
			continue;
		if (!t->held[i].site)
			t->held[i].site = held->site;
		if (t->held[i].class_index == STACKS_NONE)
			t->held[i].class_index = held->class_index;
		return 0;
	}
	all = reallocarray(t->held, t->nr_held + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	t->held = all;
	t->held[t->nr_held++] = *held;
	return 0;
}

void stacks_free(struct stacks *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		free(s->threads[i].holders);
		free(s->threads[i].held);
	}
	for (size_t i = 0; i < s->nr_cycles; i++)
		free(s->cycles[i].threads);
	free(s->cycles);
	if (s->symbols)
		symbolizer_free(s->symbols);
	free(s->threads);
	free(s->modules);
	free(s->classes);
	free(s->sites);
	*s = (struct stacks){0};
}

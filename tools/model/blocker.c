// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * blocker.c - who held the lock that a row waited for, or ended its waits.
 *
 * Blockers are compared by the time waited: one that holds the lock rarely and for long counts for
 * more than one that holds it often and briefly. Must never name a call that the data file does not
 * name.
 */
#include <errno.h>
#include <stdlib.h>

#include "../../lib/compiler.h"
#include "../base/sort.h"
#include "blocker.h"

/* A blame for a wait, and the sum of the row that waited. */
struct blocked {
	uint32_t group;
	uint32_t blame;
	const struct elide_blame *record;
};

/* By row, then by the call that held the lock. */
static int compare_blocked(const void *x, const void *y)
{
	const struct blocked *a = x, *b = y;
	int c = by_number(a->group, b->group);

	if (!c)
		c = by_number(a->record->held_site, b->record->held_site);
	if (!c)
		c = by_number(a->record->held_kind, b->record->held_kind);
	return c ? c : by_number(a->blame, b->blame);
}

static int same_holder(const struct blocked *a, const struct blocked *b)
{
	return a->group == b->group && a->record->held_site == b->record->held_site &&
	       a->record->held_kind == b->record->held_kind;
}

/* Chooses the holder with the most cycles from the blames of one row, which are neighbours. */
static void choose(struct report *r, struct sum *sum, const struct blocked *all, size_t nr)
{
	const struct elide_blame *b;
	uint64_t most = 0, total = 0, peers = 0;
	struct sum *holder;

	for (size_t i = 0, n; i < nr; i += n) {
		uint64_t cycles = 0;

		for (n = 0; i + n < nr && same_holder(&all[i], &all[i + n]); n++) {
			cycles += all[i + n].record->cycles;
			peers += all[i + n].record->peer ? all[i + n].record->cycles : 0;
		}
		total += cycles;
		if (cycles <= most || !all[i].record->held_kind || !all[i].record->held_site)
			continue;
		most = cycles;
		sum->blocker = all[i].blame + 1;
	}
	if (!sum->blocker)
		return;
	sum->peers = (float)((double)peers / (double)total);
	sum->blocked = (float)((double)most / (double)total);
	b = &r->file->blames[sum->blocker - 1];
	holder = sums_get(r->sums, b->held_class, b->held_site, b->held_kind, 0);
	if (holder)
		r->sums->sum[holder->group].blocks = 1;
}

int blockers_find(struct report *r)
{
	const struct data_file *f = r->file;
	struct blocked *all = reallocarray(NULL, f->nr_blames + 1, sizeof(*all));
	size_t nr = 0;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < f->nr_blames; i++) {
		const struct elide_blame *b = &f->blames[i];
		const struct sum *s = sums_get(r->sums, b->class_index, b->site, b->kind, 0);

		if (s && b->type == ELIDE_BLAME_WAIT)
			all[nr++] = (struct blocked){s->group, i, b};
	}
	if (nr)
		qsort(all, nr, sizeof(*all), compare_blocked);
	for (size_t i = 0, n; i < nr; i += n) {
		for (n = 0; i + n < nr && all[i + n].group == all[i].group; n++)
			;
		choose(r, &r->sums->sum[all[i].group], &all[i], n);
	}
	free(all);
	return 0;
}

uint64_t blocker_hold(const struct report *r, const struct line *l)
{
	const struct elide_blame *b = l->blocker;
	const struct sum *s =
		b ? sums_get(r->sums, b->held_class, b->held_site, b->held_kind, 0) : NULL;

	uint64_t locked = s ? s->not_attempted + s->fallback : 0;

	return locked && s->held > 0 ? (uint64_t)(s->held / (double)locked) : 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * open-waits.c - see open-waits.h.
 *
 * Must never count a wait of a thread that has ended: it was cancelled in its call.
 */
#include <errno.h>
#include <stdlib.h>

#include "../../../lib/row-sums.h"
#include "open-waits.h"

/* Cycles that a thread has waited between the begin and the end of the file's time. */
static uint64_t waited(const struct data_file *f, const struct elide_thread_record *t)
{
	uint64_t end = f->header.end_cycles, since = t->waits_since;

	if (end <= since)
		return 0;
	return end - (since < f->header.start_cycles ? f->header.start_cycles : since);
}

int open_waits_find(struct data_file *f)
{
	f->waiting = reallocarray(NULL, f->nr_threads + 1, sizeof(*f->waiting));
	if (!f->waiting)
		return -ENOMEM;
	for (size_t i = 0; i < f->nr_threads; i++)
		if (f->threads[i].state == ELIDE_THREAD_RUNS && f->threads[i].waits_since)
			f->waiting[f->nr_waiting++] = (uint32_t)i;
	return 0;
}

void open_waits_add(const struct data_file *f, uint32_t block, struct elide_row *row)
{
	for (size_t i = 0; i < f->nr_waiting; i++) {
		const struct elide_thread_record *t = &f->threads[f->waiting[i]];
		uint64_t cycles = waited(f, t);

		if (!cycles || t->block != block || t->waits_class != row->class_index ||
		    t->waits_kind != row->kind || t->waits_site != row->site)
			continue;
		row->contended++;
		row->wait.count++;
		row->wait.total += cycles;
		row->wait.min = cycles < row->wait.min ? cycles : row->wait.min;
		row->wait.max = cycles > row->wait.max ? cycles : row->wait.max;
		row->wait_bins[elide_bin(cycles)]++;
	}
}

/* A blame record whose @held_site is searched: among the rows of @block, that of the longest time held. */
struct search {
	struct elide_blame blame;
	uint32_t block;
	double held;
};

struct searches {
	struct search *all;
	size_t nr;
};

static int look(void *arg, uint32_t block, const struct elide_row *row)
{
	struct searches *s = arg;
	double held = elide_row_held(row);

	for (size_t i = 0; i < s->nr; i++) {
		struct search *one = &s->all[i];

		if (one->block != block || row->class_index != one->blame.class_index ||
		    (!elide_kind_is_lock(row->kind) && row->kind != ELIDE_KIND_REACQUIRE) ||
		    elide_row_locked(row) <= 0 || held < one->held)
			continue;
		one->held = held;
		one->blame.held_kind = row->kind;
		one->blame.held_site = row->site;
	}
	return 0;
}

/* The block of the running thread with that id; 0: there is none. */
static uint32_t block_of(const struct data_file *f, uint32_t tid)
{
	for (size_t i = 0; tid && i < f->nr_threads; i++)
		if (f->threads[i].tid == tid && f->threads[i].state == ELIDE_THREAD_RUNS)
			return f->threads[i].block;
	return 0;
}

static void collect(const struct data_file *f, struct searches *s)
{
	for (size_t i = 0; i < f->nr_waiting; i++) {
		const struct elide_thread_record *t = &f->threads[f->waiting[i]];
		uint64_t cycles = waited(f, t);
		uint32_t block = block_of(f, t->waits_for);

		if (!cycles || !block || !elide_kind_is_lock(t->waits_kind))
			continue;
		s->all[s->nr++] = (struct search){
			.blame = {.class_index = t->waits_class, .kind = (uint16_t)t->waits_kind,
				  .type = ELIDE_BLAME_WAIT, .site = t->waits_site,
				  .held_class = t->waits_class, .samples = 1, .count = 1, .cycles = cycles},
			.block = block,
		};
	}
}

int open_waits_blame(struct data_file *f)
{
	struct searches s = {.all = reallocarray(NULL, f->nr_waiting + 1, sizeof(*s.all))};
	struct elide_blame *grown;
	int rc = 0;

	if (!s.all)
		return -ENOMEM;
	collect(f, &s);
	if (s.nr)
		rc = load_block_rows(f, look, &s);
	grown = rc || !s.nr ? NULL : reallocarray(f->blames, f->nr_blames + s.nr, sizeof(*grown));
	if (!rc && s.nr && !grown)
		rc = -ENOMEM;
	if (grown)
		f->blames = grown;
	for (size_t i = 0; grown && i < s.nr; i++)
		if (s.all[i].blame.held_kind)
			f->blames[f->nr_blames++] = s.all[i].blame;
	free(s.all);
	return rc;
}

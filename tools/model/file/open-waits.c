// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * open-waits.c - see open-waits.h.
 *
 * Must never count a wait of a thread that has ended: its call was cancelled.
 */
#include <errno.h>
#include <stdlib.h>

#include "../../../lib/row-sums.h"
#include "open-waits.h"

/* Cycles that a thread has waited by now; 0: it does not wait. */
static uint64_t waited(const struct data_file *f, const struct elide_thread_record *t)
{
	uint64_t end = f->header.end_cycles, since = t->waits_since;

	if (t->state != ELIDE_THREAD_RUNS || !since || end <= since)
		return 0;
	return end - (since < f->header.start_cycles ? f->header.start_cycles : since);
}

static const struct elide_thread_record *thread_of(const struct data_file *f, uint32_t block)
{
	for (size_t i = 0; block && i < f->nr_threads; i++)
		if (f->threads[i].block == block)
			return &f->threads[i];
	return NULL;
}

void open_waits_add(const struct data_file *f, uint32_t block, struct elide_row *row)
{
	const struct elide_thread_record *t = thread_of(f, block);
	uint64_t cycles = t ? waited(f, t) : 0;

	if (!cycles || t->waits_class != row->class_index || t->waits_kind != row->kind ||
	    t->waits_site != row->site)
		return;
	row->contended++;
	row->wait.count++;
	row->wait.total += cycles;
	if (cycles < row->wait.min)
		row->wait.min = cycles;
	if (cycles > row->wait.max)
		row->wait.max = cycles;
	row->wait_bins[elide_bin(cycles)]++;
}

/* Whose call is looked for: the holder's, by which it has held locks of the class for longest. */
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

/* The block of the thread that runs by that id; 0: there is none. */
static uint32_t block_of(const struct data_file *f, uint32_t tid)
{
	for (size_t i = 0; tid && i < f->nr_threads; i++)
		if (f->threads[i].tid == tid && f->threads[i].state == ELIDE_THREAD_RUNS)
			return f->threads[i].block;
	return 0;
}

static void collect(const struct data_file *f, struct searches *s)
{
	for (size_t i = 0; i < f->nr_threads; i++) {
		const struct elide_thread_record *t = &f->threads[i];
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
	struct searches s = {.all = reallocarray(NULL, f->nr_threads + 1, sizeof(*s.all))};
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

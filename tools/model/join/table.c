// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * table.c - rows of data files, with all fields, summed up exactly in memory.
 *
 * Must never lose a count that does not fit into a row: see table_add().
 */
#include "table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../../lib/row-sums.h"
#include "../../base/intern.h"
#include "../sums.h"

struct key {
	uint64_t site;
	uint32_t class_index;
	uint32_t kind;
};

/* A row, and the acquisitions of its parts by state: see sum_state(). */
struct entry {
	struct elide_row row;
	uint64_t votes[ELIDE_NR_STATES];
};

/**
 * struct row_table - see table.h.
 * @keys:    of each class, site and kind
 * @current: by number of the key, the entry that rows are added to; @room_current
 * @entries: @nr of them, in @room
 */
struct row_table {
	struct intern keys;
	size_t *current;
	size_t room_current;
	struct entry *entries;
	size_t nr;
	size_t room;
};

struct row_table *table_new(void)
{
	return calloc(1, sizeof(struct row_table));
}

void table_free(struct row_table *t)
{
	if (!t)
		return;
	intern_free(&t->keys);
	free(t->current);
	free(t->entries);
	free(t);
}

/* The entry of a row, a new one if there is none. NULL without memory. */
static struct entry *entry_of(struct row_table *t, const struct elide_row *row)
{
	struct key key = {row->site, row->class_index, row->kind};
	size_t before = t->keys.nr, room, *current;
	int64_t number = intern(&t->keys, &key, sizeof(key));
	struct entry *e;

	if (number < 0)
		return NULL;
	if (t->keys.nr == before)
		return &t->entries[t->current[number]];
	if ((size_t)number >= t->room_current) {
		room = 2 * t->room_current + 64;
		current = reallocarray(t->current, room, sizeof(*current));
		if (!current)
			return NULL;
		t->current = current;
		t->room_current = room;
	}
	if (t->nr == t->room) {
		room = 2 * t->room + 64;
		e = reallocarray(t->entries, room, sizeof(*e));
		if (!e)
			return NULL;
		t->entries = e;
		t->room = room;
	}
	t->current[number] = t->nr;
	e = &t->entries[t->nr++];
	memset(e, 0, sizeof(*e));
	e->row.site = row->site;
	e->row.class_index = row->class_index;
	e->row.kind = row->kind;
	return e;
}

int table_add(struct row_table *t, const struct elide_row *row)
{
	struct entry *e = entry_of(t, row);
	struct sum sum = {0};
	struct elide_row *to;

	if (!e)
		return -ENOMEM;
	to = &e->row;
	to->not_attempted += row->not_attempted;
	to->fallback += row->fallback;
	to->commits += row->commits;
	to->nested += row->nested;
	to->contended += row->contended;
	to->wasted_cycles += row->wasted_cycles;
	to->failed += row->failed;
	to->parked += row->parked;
	to->unparked += row->unparked;
	to->parked_cycles += row->parked_cycles;
	times_add(&to->wait, &row->wait);
	holds_add(&to->hold, &row->hold);
	for (int i = 0; i < ELIDE_MAX_CAUSES; i++)
		to->causes[i] += row->causes[i];
	for (int i = 0; i < ELIDE_NR_BINS; i++) {
		to->wait_bins[i] += row->wait_bins[i];
		to->hold_bins[i] += row->hold_bins[i];
	}
	sum_vote(e->votes, row);
	_Static_assert(sizeof(sum.votes) == sizeof(e->votes), "a vote for each state");
	memcpy(sum.votes, e->votes, sizeof(sum.votes));
	to->state = sum_state(&sum);
	return 0;
}

static int add_row(void *arg, const struct elide_row *row)
{
	return table_add(arg, row);
}

int table_add_file(struct row_table *t, const struct data_file *f)
{
	return load_rows(f, add_row, t);
}

size_t table_nr(const struct row_table *t)
{
	return t->nr;
}

struct elide_row *table_row(struct row_table *t, size_t i)
{
	return &t->entries[i].row;
}

int table_rows(const struct data_file *f, load_row row, void *arg)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < f->table->nr; i++)
		rc = row(arg, 0, &f->table->entries[i].row);
	return rc;
}

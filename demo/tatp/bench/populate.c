// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * populate.c - writes the rows of the population and builds the indexes, and checks tables and
 * indexes at rest.
 */
#include "schema.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Subscribers between two calls of the progress. */
#define PROGRESS 4096

/**
 * struct entries - the entries of an index in the order of their keys
 * @all: the entries
 * @nr: number of entries
 * @max: number of entries that @all has room for
 */
struct entries {
	struct index_entry *all;
	uint64_t nr, max;
};

/* struct loading - state of populate() */
struct loading {
	struct sm *sm;
	struct page_ref at[NR_TABLES];
	struct entries entries[NR_TREES];
};

static int add_entry(struct loading *l, enum tree tree, const union row *row, uint64_t rid)
{
	struct entries *e = &l->entries[tree];

	if (e->nr == e->max) {
		uint64_t max = e->max ? e->max + e->max / 2 : 4096;
		struct index_entry *all = reallocarray(e->all, max, sizeof(*all));

		if (!all)
			return -ENOMEM;
		e->all = all;
		e->max = max;
	}
	e->all[e->nr++] = (struct index_entry){ .key = row_key(tree, row), .value = rid };
	return 0;
}

/* Add a row to its table and to the indexes of the table. */
static int add_row(struct loading *l, enum table table, const void *row)
{
	uint64_t rid;
	int err = heap_append(&l->sm->heaps[table], row, &l->at[table], &rid);

	for (enum tree tree = 0; tree < NR_TREES && !err; tree++)
		if (tree_table(tree) == table)
			err = add_entry(l, tree, row, rid);
	return err;
}

static int add_subscriber(struct loading *l, uint32_t s_id)
{
	struct population p;
	int err;

	population_of(&p, l->sm->opts.identity.seed, s_id);
	err = add_row(l, SUBSCRIBER, &p.subscriber);
	for (unsigned int i = 0; i < p.nr_access && !err; i++)
		err = add_row(l, ACCESS_INFO, &p.access[i]);
	for (unsigned int i = 0; i < p.nr_facilities && !err; i++)
		err = add_row(l, SPECIAL_FACILITY, &p.facilities[i]);
	for (unsigned int i = 0; i < p.nr_forwardings && !err; i++)
		err = add_row(l, CALL_FORWARDING, &p.forwardings[i]);
	return err;
}

static void entry(void *ctx, uint64_t i, struct index_entry *e)
{
	*e = ((const struct entries *)ctx)->all[i];
}

/* Fill of nodes in per cent: the mean that random inserts leave. */
#define FILL 69

/**
 * populate() - populate an empty database
 * @sm: the storage manager; its identity says what
 * @progress: called now and then, may be NULL
 *
 * Return: 0, -ENOMEM, -ENOSPC or the error of a file.
 */
int populate(struct sm *sm, void (*progress)(uint64_t done, uint64_t all))
{
	struct loading *l = calloc(1, sizeof(*l));
	uint64_t nr = sm->opts.identity.subscribers;
	int err = 0;

	if (!l)
		return -ENOMEM;
	l->sm = sm;
	for (uint32_t s_id = 1; s_id <= nr && !err; s_id++) {
		if (progress && s_id % PROGRESS == 1)
			progress(s_id - 1, nr);
		err = add_subscriber(l, s_id);
	}
	for (unsigned int i = 0; i < NR_TABLES; i++)
		if (l->at[i].frame)
			buffer_unpin(&sm->buffer, &l->at[i]);
	for (enum tree tree = 0; tree < NR_TREES; tree++) {
		if (!err)
			err = btree_bulk(&sm->trees[tree], l->entries[tree].nr, FILL, entry,
					 &l->entries[tree]);
		free(l->entries[tree].all);
	}
	free(l);
	return err ? err : sm_loaded(sm);
}

/**
 * struct integrity - state of check_integrity()
 * @sm: the storage manager
 * @tree: index that is being walked
 * @nr: its entries
 * @why: receives the first fault
 * @len: size of @why
 */
struct integrity {
	struct sm *sm;
	enum tree tree;
	uint64_t nr;
	char *why;
	size_t len;
};

/* True if the row that a row refers to is there. */
static bool refers(struct integrity *in, const union row *row)
{
	uint64_t rid;

	if (in->tree == ACCESS_INFO_KEY || in->tree == SPECIAL_FACILITY_KEY)
		return btree_lookup(&in->sm->trees[SUBSCRIBER_KEY], row->access.s_id, &rid);
	if (in->tree == CALL_FORWARDING_KEY)
		return btree_lookup(&in->sm->trees[SPECIAL_FACILITY_KEY],
				    type_key(row->forwarding.s_id, row->forwarding.sf_type), &rid);
	return true;
}

static int check_entry(void *ctx, uint64_t key, uint64_t rid)
{
	struct integrity *in = ctx;
	const char *what = NULL;
	struct page_ref ref;
	union row row;

	in->nr++;
	if (!rid_page(rid) || rid_page(rid) >= in->sm->volume.nr) {
		what = "names no page";
		goto fault;
	}
	buffer_fix(&in->sm->buffer, rid_page(rid), LATCH_READ, &ref);
	if (ref.page->kind != PAGE_HEAP || ref.page->store != tree_table(in->tree) ||
	    rid_slot(rid) >= heap_page_rows(ref.page->stride) ||
	    !heap_page_has(ref.page, rid_slot(rid)))
		what = "names no row of its table";
	else
		memcpy(&row, heap_page_row(ref.page, rid_slot(rid)), ref.page->stride);
	buffer_unfix(&in->sm->buffer, &ref);
	if (!what && row_key(in->tree, &row) != key)
		what = "names a row with another key";
	if (!what && !refers(in, &row))
		what = "names a row that refers to none";
	if (!what)
		return 0;
fault:
	snprintf(in->why, in->len, "index %d, key %" PRIu64 ": %s", in->tree, key, what);
	return 1;
}

/* Count the rows of each table, and check the counts of their pages. */
static bool count_rows(struct sm *sm, uint64_t *rows, char *why, size_t len)
{
	for (uint32_t id = 1; id < sm->volume.nr; id++) {
		unsigned int nr = 0, counted;
		struct page_ref ref;

		buffer_fix(&sm->buffer, id, LATCH_READ, &ref);
		counted = ref.page->nr;
		if (ref.page->kind == PAGE_HEAP) {
			for (unsigned int i = 0; i < heap_page_rows(ref.page->stride); i++)
				nr += heap_page_has(ref.page, i);
			rows[ref.page->store] += nr;
		} else {
			nr = counted;
		}
		buffer_unfix(&sm->buffer, &ref);
		if (nr != counted) {
			snprintf(why, len, "page %" PRIu32 ": has %u rows and counts %u", id, nr,
				 counted);
			return false;
		}
	}
	return true;
}

/**
 * check_integrity() - check tables and indexes, and that nothing is held, at rest
 * @sm: the storage manager; no thread uses it
 * @why: receives the first fault
 * @len: size of @why in bytes
 *
 * Indexes are B-trees whose entries name the rows with their keys, and all rows; rows refer to
 * rows that are there; no lock but inherited ones, no pin and no latch is left.
 */
bool check_integrity(struct sm *sm, char *why, size_t len)
{
	struct integrity in = { .sm = sm, .why = why, .len = len };
	uint64_t rows[NR_TABLES] = { 0 };
	const char *what;

	if (!sm_at_rest(sm, &what)) {
		snprintf(why, len, "%s", what);
		return false;
	}
	if (!count_rows(sm, rows, why, len))
		return false;
	for (in.tree = 0; in.tree < NR_TREES; in.tree++) {
		char structure[CHECK_TEXT];

		in.nr = 0;
		if (!btree_check(&sm->trees[in.tree], check_entry, &in, structure,
				 sizeof(structure))) {
			if (*structure)
				snprintf(why, len, "%s", structure);
			return false;
		}
		if (in.nr == rows[tree_table(in.tree)])
			continue;
		snprintf(why, len, "index %d: %" PRIu64 " entries, but the table has %" PRIu64
			 " rows", in.tree, in.nr, rows[tree_table(in.tree)]);
		return false;
	}
	return true;
}

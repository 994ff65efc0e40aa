// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * check.c - checks the invariants of a delta storage.
 *
 * A data race may have left any ID in a node or a row, so an ID is validated before it
 * is looked up.
 */
#include "delta.h"

#include "../index/check.h"

#include <stdlib.h>

/*
 * struct walk - state of the check of a storage
 * @check: state of the check of its index
 * @delta: the storage
 * @seen: a bit for each possible entry: its ID was found in a leaf
 * @ids: number of IDs found in leaves
 * @lines: number of cache lines of the nodes found
 */
struct walk {
	struct check check;
	const struct delta *delta;
	uint64_t *seen;
	uint64_t ids;
	uint64_t lines;
};

static bool id_exists(const struct delta *delta, uint32_t id)
{
	const struct dictionaries *dicts = &delta->dicts;
	unsigned int which = dictionary_of(dicts, id);

	return which < dicts->nr &&
	       dictionary_position(dicts, id) < dicts->array[which].size;
}

CHECK_NODE(struct delta_node, ids)

static const void *value(struct check *check, const void *node, unsigned int i)
{
	const struct delta *delta = container_of(check, struct walk, check)->delta;
	uint32_t id = ((const struct delta_node *)node)->ids[i];

	if (id_exists(delta, id))
		return &dictionary_entry(&delta->dicts, id)->value;
	fault(&check->fault, "ID %u of a node of level %u is in no dictionary", id, level(node));
	return NULL;
}

static int order(const struct check *check, const void *a, const void *b)
{
	const struct delta *delta = container_of(check, const struct walk, check)->delta;

	return delta_value_order(delta->dicts.texts, a, b);
}

static const void *child(const struct check *check, const void *node, unsigned int i)
{
	return container_of(node, const struct delta_inner, node)->children[i];
}

static const void *next(const struct check *check, const void *leaf)
{
	return container_of(leaf, const struct delta_leaf, node)->next;
}

/* Each ID must be in exactly one leaf, once. */
static int leaf_ids(struct walk *w, const struct delta_node *leaf)
{
	const struct dictionaries *dicts = &w->delta->dicts;

	for (unsigned int i = 0; i < leaf->nr; i++) {
		uint32_t id = leaf->ids[i];
		uint64_t at = dictionary_of(dicts, id) * dicts->max +
			      dictionary_position(dicts, id);

		if (w->seen[at / 64] >> at % 64 & 1)
			return fault(&w->check.fault, "ID %u is in the leaves twice", id);
		w->seen[at / 64] |= 1ull << at % 64;
	}
	w->ids += leaf->nr;
	return 0;
}

static int visit(struct check *check, const void *node)
{
	struct walk *w = container_of(check, struct walk, check);

	w->lines += level(node) ? DELTA_INNER_LINES : DELTA_LEAF_LINES;
	return level(node) ? 0 : leaf_ids(w, node);
}

static const struct check_ops ops = {
	.word = "ID",
	.min = DELTA_IDS_MIN,
	.max = DELTA_IDS,
	.levels = DELTA_LEVELS_MAX,
	.nr = nr,
	.level = level,
	.number = number,
	.value = value,
	.order = order,
	.child = child,
	.next = next,
	.visit = visit,
};

/* The sizes of dictionaries and allocators must match the IDs and nodes of the index. */
static int counts_check(struct walk *w)
{
	const struct delta *delta = w->delta;
	uint64_t entries = 0, lines = 0;

	for (unsigned int i = 0; i < delta->dicts.nr; i++) {
		const struct dictionary *dict = &delta->dicts.array[i];

		if (dict->size > dict->promised)
			return fault(&w->check.fault, "dictionary %u is larger than its memory",
				     i);
		entries += dict->size;
	}
	for (unsigned int i = 0; i < delta->nr_allocators; i++)
		lines += delta->allocators[i].used;
	if (w->ids != entries)
		return fault(&w->check.fault,
			     "%llu IDs in the leaves, %llu entries in the dictionaries",
			     (unsigned long long)w->ids, (unsigned long long)entries);
	if (w->lines != lines)
		return fault(&w->check.fault,
			     "nodes of %llu lines, %llu taken from the allocators",
			     (unsigned long long)w->lines, (unsigned long long)lines);
	return 0;
}

/* Each row must hold an existing ID and a flag, and each value must have a row. */
static int rows_check(struct walk *w)
{
	const struct delta *delta = w->delta;
	uint64_t rows = delta_rows(delta);

	if (rows > delta_column.promised)
		return fault(&w->check.fault, "the column is larger than its memory");
	if (delta->keep_rows && rows < w->ids)
		return fault(&w->check.fault, "%llu rows of %llu values",
			     (unsigned long long)rows, (unsigned long long)w->ids);
	for (uint64_t i = 0; i < rows; i++) {
		const struct delta_row *row = area_at(&delta->rows, i);

		if (!id_exists(delta, row->id))
			return fault(&w->check.fault, "ID %u of row %llu is in no dictionary",
				     row->id, (unsigned long long)i);
		if (row->visible > 1)
			return fault(&w->check.fault, "row %llu has the flag %u",
				     (unsigned long long)i, row->visible);
	}
	return 0;
}

/**
 * delta_check() - check order, fill, depth, leaf list, IDs, counts and flags
 * @delta: the storage
 * @why: receives the description of the first fault, without quotes or backslashes
 * @len: size of @why in bytes
 *
 * Return: true if the storage is correct, else false with @why written.
 */
bool delta_check(const struct delta *delta, char *why, size_t len)
{
	struct walk w = { .check = { .ops = &ops, .fault = { why, len } }, .delta = delta };
	bool ok;

	w.seen = calloc(delta->dicts.area.max / 64 + 1, sizeof(w.seen[0]));
	if (!w.seen)
		return !fault(&w.check.fault, "out of memory for the check");
	ok = !tree_check(&w.check, delta->root) && !counts_check(&w) && !rows_check(&w);
	free(w.seen);
	return ok;
}

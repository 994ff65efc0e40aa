// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * delta-check.c - are the invariants of a delta storage whole?
 *
 * Reads only. A storage that lost a race may hold anything, so an ID is looked
 * at before it is looked up. No other thread may use the storage meanwhile.
 */
#include "delta.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * struct walk - state of one check
 * @delta: what is checked
 * @seen: a bit for each entry there is room for: its ID was met in a leaf
 * @ids: IDs met in leaves
 * @lines: cache lines of the nodes met
 * @prev: the leaf visited last, whose link must lead to the next one
 * @why, @len: receives the description of the first fault
 */
struct walk {
	const struct delta *delta;
	uint64_t *seen;
	uint64_t ids;
	uint64_t lines;
	const struct delta_leaf *prev;
	char *why;
	size_t len;
};

/* The values that a subtree may hold: low <= value < high, each end only if there is one. */
struct range {
	const union delta_value *low, *high;
};

static bool __attribute__((format(printf, 2, 3))) fault(struct walk *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->why, w->len, fmt, ap);
	va_end(ap);
	return false;
}

static int order(const struct delta *delta, const union delta_value *a, const union delta_value *b)
{
	return delta_value_order(delta->dicts.texts, a, b);
}

static bool id_exists(const struct delta *delta, uint32_t id)
{
	const struct dictionaries *dicts = &delta->dicts;
	unsigned int which = dictionary_of(dicts, id);

	return which < dicts->nr &&
	       dictionary_position(dicts, id) < dicts->array[which].size;
}

static bool ids_ok(struct walk *w, const struct delta_node *node, const struct range *range)
{
	const union delta_value *prev = NULL;

	for (unsigned int i = 0; i < node->nr; i++) {
		const union delta_value *value;

		if (!id_exists(w->delta, node->ids[i]))
			return fault(w, "ID %u of a node of level %u is in no dictionary",
				     node->ids[i], node->level);
		value = &dictionary_entry(&w->delta->dicts, node->ids[i])->value;
		if (prev && order(w->delta, prev, value) >= 0)
			return fault(w, "ID %u out of order in a node of level %u", node->ids[i],
				     node->level);
		if ((range->low && order(w->delta, value, range->low) < 0) ||
		    (range->high && order(w->delta, value, range->high) >= 0))
			return fault(w, "ID %u outside the range of its subtree at level %u",
				     node->ids[i], node->level);
		prev = value;
	}
	return true;
}

/* Each ID in one leaf and only once. */
static bool leaf_ok(struct walk *w, const struct delta_leaf *leaf)
{
	const struct dictionaries *dicts = &w->delta->dicts;

	if (w->prev && w->prev->next != leaf)
		return fault(w, "the leaf list skips or repeats a leaf");
	w->prev = leaf;
	for (unsigned int i = 0; i < leaf->node.nr; i++) {
		uint32_t id = leaf->node.ids[i];
		uint64_t at = dictionary_of(dicts, id) * dicts->max +
			      dictionary_position(dicts, id);

		if (w->seen[at / 64] >> at % 64 & 1)
			return fault(w, "ID %u is in the leaves twice", id);
		w->seen[at / 64] |= 1ull << at % 64;
	}
	w->ids += leaf->node.nr;
	return true;
}

/* Recursion ends because every level must be one less than its parent's. */
static bool subtree_ok(struct walk *w, const struct delta_node *node, unsigned int level,
		       bool root, const struct range *range)
{
	unsigned int fewest = root ? (level ? 1 : 0) : DELTA_IDS_MIN;
	const struct delta_inner *inner;

	if (node->level != level)
		return fault(w, "a node of level %u where level %u belongs", node->level, level);
	if (node->nr < fewest || node->nr > DELTA_IDS)
		return fault(w, "a node of level %u with %u IDs", level, node->nr);
	if (!ids_ok(w, node, range))
		return false;
	w->lines += level ? DELTA_INNER_LINES : DELTA_LEAF_LINES;
	if (!level)
		return leaf_ok(w, container_of(node, const struct delta_leaf, node));
	inner = container_of(node, const struct delta_inner, node);
	for (unsigned int i = 0; i <= node->nr; i++) {
		const struct dictionaries *dicts = &w->delta->dicts;
		struct range sub = *range;

		if (i)
			sub.low = &dictionary_entry(dicts, node->ids[i - 1])->value;
		if (i < node->nr)
			sub.high = &dictionary_entry(dicts, node->ids[i])->value;
		if (!inner->children[i])
			return fault(w, "a node of level %u without child %u", level, i);
		if (!subtree_ok(w, inner->children[i], level - 1, false, &sub))
			return false;
	}
	return true;
}

/* The counts that are kept must be those that were met. */
static bool counts_ok(struct walk *w)
{
	const struct delta *delta = w->delta;
	uint64_t entries = 0, lines = 0;

	for (unsigned int i = 0; i < delta->dicts.nr; i++) {
		const struct dictionary *dict = &delta->dicts.array[i];

		if (dict->size > dict->promised)
			return fault(w, "dictionary %u is larger than its memory", i);
		entries += dict->size;
	}
	for (unsigned int i = 0; i < delta->nr_allocators; i++)
		lines += delta->allocators[i].used;
	if (w->ids != entries)
		return fault(w, "%llu IDs in the leaves, %llu entries in the dictionaries",
			     (unsigned long long)w->ids, (unsigned long long)entries);
	if (w->lines != lines)
		return fault(w, "nodes of %llu lines, %llu taken from the allocators",
			     (unsigned long long)w->lines, (unsigned long long)lines);
	return true;
}

/* Rows hold IDs that exist, and a flag; a value that has no row was never inserted. */
static bool rows_ok(struct walk *w)
{
	const struct delta *delta = w->delta;
	uint64_t nr = delta_rows(delta);

	if (nr > delta_column.promised)
		return fault(w, "the column is larger than its memory");
	if (delta->keep_rows && nr < w->ids)
		return fault(w, "%llu rows of %llu values", (unsigned long long)nr,
			     (unsigned long long)w->ids);
	for (uint64_t i = 0; i < nr; i++) {
		const struct delta_row *row = area_at(&delta->rows, i);

		if (!id_exists(delta, row->id))
			return fault(w, "ID %u of row %llu is in no dictionary", row->id,
				     (unsigned long long)i);
		if (row->visible > 1)
			return fault(w, "row %llu has the flag %u", (unsigned long long)i,
				     row->visible);
	}
	return true;
}

/**
 * delta_check() - are the invariants whole: order, fill, depth, leaf list, IDs, counts, flags?
 * @delta: the storage
 * @why: receives the description of the first fault, without quotes or backslashes
 * @len: bytes of @why
 *
 * Return: true, or false with @why written.
 */
bool delta_check(const struct delta *delta, char *why, size_t len)
{
	struct walk w = { .delta = delta, .why = why, .len = len };
	struct range all = { 0 };
	bool ok;

	if (delta->root->level >= DELTA_LEVELS_MAX)
		return fault(&w, "a root of level %u", delta->root->level);
	w.seen = calloc(delta->dicts.area.max / 64 + 1, sizeof(w.seen[0]));
	if (!w.seen)
		return fault(&w, "out of memory for the check");
	ok = subtree_ok(&w, delta->root, delta->root->level, true, &all);
	if (ok && w.prev->next)
		ok = fault(&w, "the leaf list goes on behind the last leaf");
	ok = ok && counts_ok(&w) && rows_ok(&w);
	free(w.seen);
	return ok;
}

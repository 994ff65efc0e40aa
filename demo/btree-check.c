// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * btree-check.c - are the invariants of a B+Tree whole?
 *
 * Reads only, and trusts nothing but the pointers: a tree that lost a race may
 * hold anything. No other thread may use the tree meanwhile.
 */
#include "btree.h"

#include <stdarg.h>
#include <stdio.h>

/*
 * struct walk - state of one check
 * @prev: the leaf visited last, whose link must lead to the next one
 * @why, @len: receives the description of the first fault
 */
struct walk {
	const struct btree_node *prev;
	char *why;
	size_t len;
};

/* The keys that a subtree may hold: low <= key < high, each end only if it is bounded. */
struct range {
	uint64_t low, high;
	bool has_low, has_high;
};

static bool __attribute__((format(printf, 2, 3))) fault(struct walk *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->why, w->len, fmt, ap);
	va_end(ap);
	return false;
}

static bool keys_ok(struct walk *w, const struct btree_node *node, const struct range *range)
{
	for (unsigned int i = 0; i < node->nr; i++) {
		unsigned long long key = node->keys[i];

		if (i && node->keys[i - 1] >= key)
			return fault(w, "key %llu out of order in a node of level %u", key,
				     node->level);
		if ((range->has_low && key < range->low) || (range->has_high && key >= range->high))
			return fault(w, "key %llu outside the range of its subtree at level %u",
				     key, node->level);
	}
	return true;
}

static bool leaf_ok(struct walk *w, const struct btree_node *leaf)
{
	if (w->prev && w->prev->next != leaf)
		return fault(w, "the leaf list skips or repeats a leaf");
	w->prev = leaf;
	return true;
}

/* Recursion ends because every level must be one less than its parent's. */
static bool subtree_ok(struct walk *w, const struct btree_node *node, unsigned int level,
		       bool root, const struct range *range)
{
	unsigned int fewest = root ? (level ? 1 : 0) : BTREE_KEYS_MIN;

	if (node->level != level)
		return fault(w, "a node of level %u where level %u belongs", node->level, level);
	if (node->nr < fewest || node->nr > BTREE_KEYS)
		return fault(w, "a node of level %u with %u keys", level, node->nr);
	if (!keys_ok(w, node, range))
		return false;
	if (!level)
		return leaf_ok(w, node);
	for (unsigned int i = 0; i <= node->nr; i++) {
		struct range sub = *range;

		if (i) {
			sub.low = node->keys[i - 1];
			sub.has_low = true;
		}
		if (i < node->nr) {
			sub.high = node->keys[i];
			sub.has_high = true;
		}
		if (!node->children[i])
			return fault(w, "a node of level %u without child %u", level, i);
		if (!subtree_ok(w, node->children[i], level - 1, false, &sub))
			return false;
	}
	return true;
}

/**
 * btree_check() - are the invariants whole: key order, fill, depth, leaf list?
 * @tree: the tree
 * @why: receives the description of the first fault, without quotes or backslashes
 * @len: bytes of @why
 *
 * Return: true, or false with @why written.
 */
bool btree_check(const struct btree *tree, char *why, size_t len)
{
	struct walk w = { .why = why, .len = len };
	struct range all = { 0 };

	if (tree->root->level >= BTREE_LEVELS_MAX)
		return fault(&w, "a root of level %u", tree->root->level);
	if (!subtree_ok(&w, tree->root, tree->root->level, true, &all))
		return false;
	if (w.prev->next)
		return fault(&w, "the leaf list goes on behind the last leaf");
	return true;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * split.c - Contention Split (see split.h).
 */
#include "split.h"

#include "restructure.h"

/**
 * split_counted() - count an update of the sample, and end a period
 * @options: of the tree
 * @frame: the leaf, latched exclusively
 * @at: position of the entry that was changed
 * @waited: the latch was held at first
 * @period: the period ends
 * @before: receives the position of the update of the sample before
 *
 * Return: true if the leaf should be divided between @at and *@before, which differ then.
 */
bool split_counted(const struct page_tree_options *options, struct frame *frame, int32_t at,
		   bool waited, bool period, int32_t *before)
{
	bool due;

	*before = frame->last;
	frame->updates++;
	frame->slow += waited;
	frame->last = at;
	if (!period)
		return false;
	due = 100ull * frame->slow >= (uint64_t)options->pct * frame->updates &&
	      *before != FRAME_NO_POSITION && *before != at;
	frame->updates = frame->slow = 0;
	frame->last = FRAME_NO_POSITION;
	return due;
}

/* A split_choice: halfway between two keys, if the leaf still has both. */
static int choose_between(void *ctx, const struct page_node *node)
{
	const struct bytes *keys = ctx;
	unsigned int at[2];
	bool found;

	for (int i = 0; i < 2; i++) {
		if (!page_node_covers(node, keys[i]))
			return -ECANCELED;
		at[i] = page_node_find(node, keys[i], &found);
		if (!found)
			return -ECANCELED;
	}
	if (at[0] == at[1])
		return -ECANCELED;
	return (int)((at[0] + at[1]) / 2);
}

/**
 * split_contended() - divide a leaf between two entries
 * @tree: the tree
 * @a: key of one of them
 * @b: key of the other
 *
 * The latch of the leaf was released after they were found, so it may have changed. The leaf stays
 * if it has not both any more, and if the pool or the disk has no room: that is no error of the
 * operation, which has changed its entry.
 *
 * Return: 0, or -errno of a page that could not be read or written.
 */
int split_contended(struct page_tree *tree, struct bytes a, struct bytes b)
{
	struct bytes keys[2] = { a, b };
	int err = page_tree_split(tree, a, 0, choose_between, keys);

	if (!err) {
		page_tree_count(tree, contention_splits, 1);
		return 0;
	}
	page_tree_count(tree, contention_failed, 1);
	return err == -ECANCELED || err == -ENOSPC ? 0 : err;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tree-check.c - whether a tree is whole: each node by itself, its tag, its level, and that its
 * fences are those that its parent says.
 */
#include "descend.h"
#include "restructure.h"

#include <stdlib.h>
#include <string.h>

/*
 * struct walk - a check of a tree
 * @tree: the tree
 * @report: its shape
 * @why: receives what is wrong
 * @len: size of @why in bytes
 */
struct walk {
	struct page_tree *tree;
	struct page_tree_report *report;
	char *why;
	size_t len;
};

static int wrong(const struct walk *w, uint32_t id, const char *what)
{
	snprintf(w->why, w->len, "page %u: %s", id, what);
	return -EBADMSG;
}

/* Copy a page, reading it if need be. Returns -EBADMSG also if it stays free. */
static int copy_page(struct page_tree *tree, uint32_t id, struct page_node *copy)
{
	struct missing missing = { 0 };
	struct frame *frame;
	int err;

	for (;;) {
		frame = pool_frame(tree->pool, id);
		if (frame) {
			latch_shared(&frame->latch, NULL);
			if (frame_id(frame) == id)
				break;
			latch_release_shared(&frame->latch);
		}
		missing.id = id;
		err = descend_missing(tree, &missing);
		if (err)
			return err;
	}
	memcpy(copy, frame->page, sizeof(*copy));
	latch_release_shared(&frame->latch);
	return 0;
}

static const char *check_node(const struct page_tree *tree, const struct page_node *node,
			      uint32_t id, unsigned int level, struct bytes lower,
			      struct bytes upper)
{
	if (node->tag.kind != PAGE_NODE || node->tag.id != id || node->tag.tree != tree->nr)
		return "the page is of another tree";
	if (node->level != level)
		return "the level is not below that of the parent";
	if (bytes_compare(page_node_fence(node, node->lower), lower) ||
	    bytes_compare(page_node_fence(node, node->upper), upper))
		return "the fences are not those of the parent";
	return page_node_check(node);
}

static void add_leaf(struct page_tree_report *r, const struct page_node *node)
{
	r->leaves++;
	r->entries += node->nr;
	r->used += PAGE_ROOM - page_node_free(node);
	for (unsigned int i = 0; i < node->nr; i++)
		r->entry_bytes += node->prefix + node->slots[i].key + (uint64_t)node->slots[i].value;
}

static int check_page(const struct walk *w, uint32_t id, unsigned int level, struct bytes lower,
		      struct bytes upper);

static int check_children(const struct walk *w, const struct page_node *node)
{
	unsigned char keys[2][PAGE_KEY_MAX];
	struct bytes lower = page_node_fence(node, node->lower), upper;
	int err = 0;

	for (unsigned int i = 0; i <= node->nr && !err; i++) {
		if (i < node->nr)
			upper = (struct bytes){ keys[i % 2], page_node_key(node, i, keys[i % 2]) };
		else
			upper = page_node_fence(node, node->upper);
		err = check_page(w, inner_child(node, i), node->level - 1u, lower, upper);
		lower = upper;
	}
	return err;
}

/* Check a page and those below it. Each level has a copy of one page. */
static int check_page(const struct walk *w, uint32_t id, unsigned int level, struct bytes lower,
		      struct bytes upper)
{
	struct page_node *node = malloc(sizeof(*node));
	const char *what;
	int err = node ? copy_page(w->tree, id, node) : -ENOMEM;

	if (err) {
		wrong(w, id, strerror(-err));
		goto free_node;
	}
	what = check_node(w->tree, node, id, level, lower, upper);
	if (what)
		err = wrong(w, id, what);
	else if (level)
		err = check_children(w, node);
	if (level)
		w->report->inner++;
	else if (!err)
		add_leaf(w->report, node);
free_node:
	free(node);
	return err;
}

/**
 * page_tree_check() - check a tree that nobody changes, and measure it
 * @tree: the tree
 * @report: receives its shape
 * @why: receives what is wrong
 * @len: size of @why in bytes
 *
 * Return: 0, -EBADMSG if it is damaged, or another -errno.
 */
int page_tree_check(struct page_tree *tree, struct page_tree_report *report, char *why, size_t len)
{
	static const struct bytes none = { "", 0 };
	struct walk w = { tree, report, why, len };
	struct hold h;
	unsigned int level = 0;
	int err;

	memset(report, 0, sizeof(*report));
	while (!(err = descend(tree, none, level, SHARED, NULL, &h))) {
		hold_end(&h, SHARED);
		level++;
	}
	if (err != -EDOM) {
		snprintf(why, len, "%s", strerror(-err));
		return err;
	}
	report->levels = level;
	return check_page(&w, tree->root, level - 1, none, none);
}

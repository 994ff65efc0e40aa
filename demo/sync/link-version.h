/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link-version.h - the steps of a B-link tree by versions: reads latch nothing.
 *
 * A step notes the version of a node, reads, and compares the version; if it has changed,
 * the step begins again at the same node. A step that changes a node reads it likewise and
 * then upgrades the version to a latch. The steps have the signatures of link.h; their
 * argument is GUARD_VERSION, which acquires the latch of a version.
 */
#ifndef DEMO_SYNC_LINK_VERSION_H
#define DEMO_SYNC_LINK_VERSION_H

#include "link.h"
#include "../latch/version.h"

/* The version of a node, and of the pointer to the root, as a latch. */
static inline int version_init(void *word)
{
	*(uint32_t *)word = 0;
	return 0;
}

static inline void version_destroy(void *word)
{
}

static inline void version_write(void *word)
{
	version_acquire(word);
}

static inline void version_write_release(void *word)
{
	version_release(word);
}

static const struct latch_ops latch_version = {
	.init = version_init,
	.destroy = version_destroy,
	.write = version_write,
	.write_release = version_write_release,
};

#define GUARD_VERSION ((struct guard){ &latch_version, offsetof(struct node, word) })

/*
 * Go from @node to the right until a node is the place of @key. Its version is noted
 * before the node was judged, so the caller's comparison covers that, too.
 */
static __inline_always struct node *noted_right(struct node_thread *thread, struct node *node,
						uint64_t key, uint32_t *version)
{
	for (;;) {
		struct node *right;

		*version = version_begin(&node->word);
		if (likely(!node_beyond(node, key)))
			return node;
		right = node_get_link(node->right);
		if (likely(version_same(&node->word, *version)))
			node = right;
		else
			thread->counts.restarts++;
	}
}

/* A descend_fn. */
static __inline_always struct node *noted_descend(struct guard g, struct node_tree *tree,
						  struct node_thread *thread, uint64_t key,
						  unsigned int to, struct path *path)
{
	const struct node_layout *layout = &tree->layout;
	struct node *node = node_get_link(tree->root);
	unsigned int level = node->level;

	if (path)
		path->top = level;
	while (level > to) {
		struct node *child;
		uint32_t version;

		node = noted_right(thread, node, key, &version);
		child = child_of(layout, node, key);
		/* Torn keys lead to no child, but a prefetch of any address is harmless. */
		node_prefetch(layout, child);
		if (unlikely(!version_same(&node->word, version))) {
			thread->counts.restarts++;
			continue;
		}
		if (path)
			path->node[level] = node;
		node = child;
		level--;
	}
	return node;
}

/* An add_fn. A key that the leaf has already is found without a latch. */
static __inline_always enum added noted_add(struct guard g, struct node_tree *tree,
					    struct node_thread *thread, struct node *node,
					    struct pending *p)
{
	const struct node_layout *layout = &tree->layout;

	for (;; thread->counts.restarts++) {
		enum added added;
		uint32_t version;
		unsigned int at;
		bool found;

		node = noted_right(thread, node, p->key, &version);
		at = leaf_find(node, p->key, &found);
		if (!node->level && found && likely(version_same(&node->word, version)))
			return PRESENT;
		/* The upgrade fails if what was read need not have been true. */
		if (unlikely(!version_upgrade(&node->word, version)))
			continue;
		added = add_at(layout, thread, node, at, p);
		version_release(&node->word);
		return added;
	}
}

/* The end of a search. */
static __inline_always bool noted_find(struct node_thread *thread, const struct node_layout *layout,
				       struct node *leaf, uint64_t key, uint64_t *value)
{
	for (;; thread->counts.restarts++) {
		uint64_t seen = 0;
		uint32_t version;
		unsigned int at;
		bool found;

		leaf = noted_right(thread, leaf, key, &version);
		at = leaf_find(leaf, key, &found);
		if (found)
			seen = node_get(node_values(layout, leaf)[at]);
		if (unlikely(!version_same(&leaf->word, version)))
			continue;
		if (found)
			*value = seen;
		return found;
	}
}

/* The end of a delete. A key that is not there needs no latch. */
static __inline_always bool noted_take(struct node_thread *thread, const struct node_layout *layout,
				       struct node *leaf, uint64_t key, uint64_t *value)
{
	for (;; thread->counts.restarts++) {
		uint32_t version;
		unsigned int at;
		bool found;

		leaf = noted_right(thread, leaf, key, &version);
		at = leaf_find(leaf, key, &found);
		if (!found && likely(version_same(&leaf->word, version)))
			return false;
		if (!found || unlikely(!version_upgrade(&leaf->word, version)))
			continue;
		*value = leaf_remove(layout, leaf, at);
		version_release(&leaf->word);
		return true;
	}
}

/* Add the entries of a leaf to a scan; returns the next leaf or NULL. */
static __inline_always struct node *noted_visit(struct node_thread *thread,
						const struct node_layout *layout,
						struct node *leaf, uint64_t from,
						unsigned long limit, struct scan_result *res)
{
	for (;; thread->counts.restarts++) {
		struct scan_result more = *res;
		struct node *right;
		uint32_t version;

		leaf = noted_right(thread, leaf, from, &version);
		scan_leaf(layout, leaf, from, limit, &more);
		right = node_get_link(leaf->right);
		if (unlikely(!version_same(&leaf->word, version)))
			continue;
		*res = more;
		return right;
	}
}

#endif

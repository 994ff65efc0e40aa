// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * csb.c - the CSB+ tree with latch coupling: a thread acquires the latch of a child before
 * it releases that of the parent.
 *
 * The tree is that of Schröder, "Using modern synchronization mechanisms in databases",
 * 2016, section 2.6; an insert holds the nodes from the lowest one that is not full down
 * to the leaf (section 2.3.3). All latches are acquired from the root down, those of
 * siblings from the left to the right, so threads cannot wait for each other in a circle.
 *
 * An insert moves nodes. Why nobody is lost:
 *
 *	- Who waits for the latch of a node holds the parent's, except at place 0, whose node
 *	  never moves.
 *	- Who moves a node holds the latches of the parent and of the node. So nobody waits
 *	  for it, nobody is in it, and nobody can come.
 *	- A place that gets a node has a free latch, and the parent's keeps others away.
 *
 * So an insert may hold as many latches as a group has places. Leaves have no links: a scan
 * reads the leaves below one node while it holds that, and then descends anew.
 */
#include "nodes.h"
#include "../csb/csb.h"

_Static_assert(offsetof(struct csb_node, latch) == offsetof(struct node, latch) &&
	       offsetof(struct csb_node, word) == offsetof(struct node, word),
	       "the guards of struct node fit");

static __inline_always void acquire(struct guard g, struct csb_node *node)
{
	g.latch->write((char *)node + g.at);
}

static __inline_always void release(struct guard g, struct csb_node *node)
{
	g.latch->write_release((char *)node + g.at);
}

static __inline_always struct csb_node *acquire_root(struct guard g, struct csb_tree *tree)
{
	for (;;) {
		struct csb_node *root = node_get_link(tree->root);

		acquire(g, root);
		/* The root of before the tree grew is an ordinary node, at place 0. */
		if (likely(root == node_get_link(tree->root)))
			return root;
		release(g, root);
	}
}

static __inline_always unsigned int child_at(const struct csb_node *node, uint64_t key)
{
	return keys_upto(node->slots, node->nr, key);
}

/* Acquire the latch of the child of @node, which the thread holds, that is the place of @key. */
static __inline_always struct csb_node *acquire_child(struct guard g,
						      const struct node_layout *layout,
						      struct csb_node *node, uint64_t key)
{
	struct csb_node *child = csb_child(layout, node, child_at(node, key));

	csb_prefetch(layout, child);
	acquire(g, child);
	return child;
}

/* Couple down to the leaf of @key. */
static __inline_always struct csb_node *couple(struct guard g, struct csb_tree *tree, uint64_t key)
{
	struct csb_node *node = acquire_root(g, tree);

	while (node->level) {
		struct csb_node *child = acquire_child(g, &tree->layout, node, key);

		release(g, node);
		node = child;
	}
	return node;
}

static __inline_always bool coupled_search(struct guard g, struct csb_tree *tree,
					   struct csb_thread *thread, uint64_t key, uint64_t *value)
{
	struct csb_node *leaf = couple(g, tree, key);
	bool found;
	unsigned int at = csb_find(leaf, key, &found);

	if (found)
		*value = csb_values(&tree->layout, leaf)[at];
	release(g, leaf);
	return found;
}

/*
 * struct held - the nodes that an insert holds
 * @node: the node of each level from the leaf on
 * @top: level of the highest node
 */
struct held {
	struct csb_node *node[NODE_LEVELS_MAX];
	unsigned int top;
};

/* Acquire the latches from the root to the leaf of @key, and release those above a node not full. */
static __inline_always struct csb_node *hold(struct guard g, struct csb_tree *tree, uint64_t key,
					     struct held *held)
{
	struct csb_node *node = acquire_root(g, tree);

	held->top = node->level;
	held->node[node->level] = node;
	while (node->level) {
		node = acquire_child(g, &tree->layout, node, key);
		held->node[node->level] = node;
		if (likely(!csb_full(&tree->layout, node)))
			while (held->top > node->level)
				release(g, held->node[held->top--]);
	}
	return node;
}

/* Put a new root, which has no key yet, above the root, which the thread holds. */
static __inline_always void grow(struct guard g, struct csb_tree *tree, struct csb_thread *thread,
				 struct held *held)
{
	struct csb_node *old = held->node[held->top], *root = csb_group_new(thread);

	root->level = (uint8_t)(old->level + 1);
	root->nr = 0;
	root->children = old;
	/* Other threads find the new root as soon as it is in @tree. */
	acquire(g, root);
	held->node[++held->top] = root;
	node_set_link(tree->root, root);
}

/* Acquire, or release, the latches of the children from @from to @to, but not of @held. */
static __inline_always void acquire_children(struct guard g, const struct node_layout *layout,
					     struct csb_node *node, unsigned int from,
					     unsigned int to, const struct csb_node *held)
{
	for (unsigned int i = from; i <= to; i++)
		if (csb_child(layout, node, i) != held)
			acquire(g, csb_child(layout, node, i));
}

static __inline_always void release_children(struct guard g, const struct node_layout *layout,
					     struct csb_node *node, unsigned int from,
					     unsigned int to, const struct csb_node *held)
{
	for (unsigned int i = from; i <= to; i++)
		if (csb_child(layout, node, i) != held)
			release(g, csb_child(layout, node, i));
}

/* Move the children of @node from number @from on by one place. Returns the place that is unused. */
static __inline_always struct csb_node *make_place(struct guard g, const struct node_layout *layout,
						   struct csb_node *node, unsigned int from)
{
	unsigned int last = node->nr;

	acquire_children(g, layout, node, from, last, NULL);
	for (unsigned int i = last + 1; i > from; i--)
		csb_copy(layout, csb_child(layout, node, i), csb_child(layout, node, i - 1));
	release_children(g, layout, node, from, last, NULL);
	return csb_child(layout, node, from);
}

/*
 * Split the full inner node of level @level, which the thread holds with its parent and the
 * child below: the upper children move into a new group, and the upper half of the node to
 * @right, a place that no node uses. @held gets the half that has the child below, and the
 * place of that. Returns the key between the halves.
 */
static __inline_always uint64_t split_inner(struct guard g, const struct node_layout *layout,
					    struct csb_thread *thread, struct held *held,
					    unsigned int level, struct csb_node *right, uint64_t key)
{
	struct csb_node *node = held->node[level], *below = held->node[level - 1];
	struct csb_node *group = csb_group_new(thread);
	unsigned int at = child_at(node, key), from = csb_half(node, at), last = node->nr;
	uint64_t separator;

	acquire_children(g, layout, node, from, last, below);
	for (unsigned int i = from; i <= last; i++)
		csb_copy(layout, csb_place(layout, group, i - from), csb_child(layout, node, i));
	release_children(g, layout, node, from, last, below);
	separator = csb_inner_cut(node, right, group, from);
	if (at >= from) {
		held->node[level] = right;
		held->node[level - 1] = csb_place(layout, group, at - from);
		/* Nobody else can reach the two new places. */
		acquire(g, held->node[level]);
		acquire(g, held->node[level - 1]);
		release(g, below);
		release(g, node);
	}
	return separator;
}

/*
 * Insert an entry into a full leaf. The nodes that @held has are full, but for the highest
 * one, and are split from the top down.
 */
static __inline_always void split_down(struct guard g, struct csb_tree *tree,
				       struct csb_thread *thread, struct held *held, uint64_t key,
				       uint64_t value)
{
	const struct node_layout *layout = &tree->layout;

	/* If the highest one is full, too, it is the root. */
	if (csb_full(layout, held->node[held->top]))
		grow(g, tree, thread, held);
	for (unsigned int level = held->top; level-- > 0;) {
		struct csb_node *parent = held->node[level + 1], *node = held->node[level];
		unsigned int at = child_at(parent, key);
		struct csb_node *right = make_place(g, layout, parent, at + 1);
		uint64_t separator;

		if (level)
			separator = split_inner(g, layout, thread, held, level, right, key);
		else
			separator = csb_leaf_split_insert(layout, node, right,
							  keys_below(node->slots, node->nr, key),
							  key, value);
		csb_key_insert(parent, at, separator);
	}
}

static __inline_always bool coupled_insert(struct guard g, struct csb_tree *tree,
					   struct csb_thread *thread, uint64_t key, uint64_t value)
{
	struct held held;
	struct csb_node *leaf = hold(g, tree, key, &held);
	bool found;
	unsigned int at = csb_find(leaf, key, &found);

	if (!found) {
		if (likely(!csb_full(&tree->layout, leaf)))
			csb_leaf_insert(&tree->layout, leaf, at, key, value);
		else
			split_down(g, tree, thread, &held, key, value);
	}
	for (unsigned int level = 0; level <= held.top; level++)
		release(g, held.node[level]);
	return !found;
}

static __inline_always bool coupled_remove(struct guard g, struct csb_tree *tree,
					   struct csb_thread *thread, uint64_t key, uint64_t *value)
{
	struct csb_node *leaf = couple(g, tree, key);
	bool found;
	unsigned int at = csb_find(leaf, key, &found);

	if (found)
		*value = csb_leaf_remove(&tree->layout, leaf, at);
	release(g, leaf);
	return found;
}

/*
 * Couple down to the parent of the leaf of @key, or to the root if that is a leaf. Returns
 * true if there are keys to the right of that parent; they begin with *@next.
 */
static __inline_always bool couple_to_parent(struct guard g, struct csb_tree *tree, uint64_t key,
					     struct csb_node **parent, uint64_t *next)
{
	struct csb_node *node = acquire_root(g, tree);
	bool more = false;

	while (node->level > 1) {
		unsigned int at = child_at(node, key);
		struct csb_node *child;

		if (at < node->nr) {
			*next = node->slots[at];
			more = true;
		}
		child = acquire_child(g, &tree->layout, node, key);
		release(g, node);
		node = child;
	}
	*parent = node;
	return more;
}

static __inline_always void scan_csb_leaf(const struct node_layout *layout, struct csb_node *leaf,
					  uint64_t from, unsigned long limit,
					  struct scan_result *res)
{
	scan_entries(leaf->slots, csb_values(layout, leaf), leaf->nr, from, limit, res);
}

/* Each leaf is read under its latch. */
static __inline_always void coupled_scan(struct guard g, struct csb_tree *tree,
					 struct csb_thread *thread, uint64_t from,
					 unsigned long limit, struct scan_result *res)
{
	const struct node_layout *layout = &tree->layout;
	bool more = true;

	*res = (struct scan_result){ 0 };
	while (more && res->nr < limit) {
		struct csb_node *node;
		uint64_t next = 0;

		more = couple_to_parent(g, tree, from, &node, &next);
		if (!node->level)
			scan_csb_leaf(layout, node, from, limit, res);
		for (unsigned int i = node->level ? child_at(node, from) : 1;
		     i <= node->nr && node->level && res->nr < limit; i++) {
			struct csb_node *leaf = csb_child(layout, node, i);

			acquire(g, leaf);
			scan_csb_leaf(layout, leaf, from, limit, res);
			release(g, leaf);
		}
		release(g, node);
		from = next;
	}
}

/* struct csb_index - a CSB+ tree under any scheme */
struct csb_index {
	struct index head;
	struct csb_tree tree __cacheline_aligned;
};

static inline struct csb_tree *csb_index_tree(struct index *index)
{
	return &container_of(index, struct csb_index, head)->tree;
}

static inline struct csb_thread *csb_index_thread(struct index_thread *thread)
{
	return (struct csb_thread *)thread;
}

static inline int csb_index_reserve(struct index *index, struct index_thread *thread)
{
	return csb_reserve(csb_index_tree(index), thread);
}

/* No latch guards the pointer to the root, so @root is not used. */
static struct index *csb_index_create(const struct index_ops *ops,
				      const struct index_config *config,
				      const struct node_latching *latching, struct guard root)
{
	struct csb_index *index = aligned_alloc(CACHE_LINE, sizeof(*index));

	if (!index)
		return NULL;
	index->head = (struct index){ .ops = ops, .tree = &index->tree };
	if (csb_init(&index->tree, config, latching)) {
		free(index);
		return NULL;
	}
	return &index->head;
}

static void csb_index_destroy(struct index *index, struct guard root)
{
	csb_destroy(csb_index_tree(index));
	free(container_of(index, struct csb_index, head));
}

#define CSB(scheme, guard, latching)                                                               \
	FAMILY_INDEX(csb, csb, scheme, coupled, guard, GUARD_NONE, guard, latching, )

CSB(none, GUARD_NONE, LATCHING_PLAIN)
CSB(latch, GUARD_TTAS, LATCHING_PLAIN)
CSB(latch_pthread, GUARD_SPIN, LATCHING_SPIN)
CSB(latch_hle, GUARD_HLE, LATCHING_PLAIN)

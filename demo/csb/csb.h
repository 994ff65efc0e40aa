/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * csb.h - the CSB+ tree: an inner node has keys and one pointer to its children.
 *
 * The tree is that of Rao, Ross, "Making B+-trees cache conscious in main memory", SIGMOD
 * 2000, in the form that the paper calls full CSB+ tree, with the latches of Schröder,
 * "Using modern synchronization mechanisms in databases", 2016, section 2.6. The children
 * of a node are a group: one array of nodes, with room for as many as a node can have.
 * Without pointers an inner node has room for twice the keys of other trees, but a new
 * child moves the children to its right, and the split of a node moves half of its
 * children into a new group.
 *
 *	offset 0   level     distance from the leaves
 *	       1   latch     a latch of one byte, as in struct node
 *	       2   nr        number of keys
 *	       4   word      a latch of four bytes
 *	       8   children  group of an inner node
 *	      16   slots     leaf:  keys[leaf_max], values[leaf_max]
 *			     inner: keys[inner_max]
 *
 * The default of 512 bytes (section 6.5.4 of the thesis) holds 31 entries in a leaf, and 62
 * keys and 63 children in an inner node.
 *
 * A latch belongs to a place in a group and is never copied: when a node moves, its content
 * gets the latch of its new place. A place that no node uses has a free latch. The root is
 * at place 0 of a group, and what is at place 0 never moves.
 *
 * The functions acquire no latch and, but for csb_reserve() and csb_bulk(), allocate
 * nothing while other threads use the tree.
 */
#ifndef DEMO_CSB_H
#define DEMO_CSB_H

#include "../base/option.h"
#include "../index/tree.h"
#include "../mem/pool.h"
#include "../node/tree.h"

/* Default and greatest size of a node in bytes. A group of the greatest takes 2 MiB. */
#define CSB_BYTES_DEFAULT 512
#define CSB_BYTES_MAX 4096

/**
 * struct csb_node - an inner node or a leaf; see above
 */
struct csb_node {
	uint8_t level;
	uint8_t latch;
	uint16_t nr;
	uint32_t word;
	struct csb_node *children;
	uint64_t slots[];
};

#define CSB_HEADER offsetof(struct csb_node, slots)
_Static_assert(CSB_HEADER == 16, "a leaf of 512 bytes holds 31 entries");

/**
 * struct csb_tree - a CSB+ tree
 * @root: root node, never NULL
 * @layout: the capacities of the nodes
 * @held: bits of the latch words of nodes that differ between a held and a free latch
 * @free: the latch word of a node that is free
 * @own: pool that provided the group of the first root
 * @threads: list of the threads that were attached
 */
struct csb_tree {
	struct csb_node *root;
	struct node_layout layout;
	uint32_t held __cacheline_aligned;
	uint32_t free;
	struct node_pool own;
	struct csb_thread *threads;
} __cacheline_aligned;

/**
 * struct csb_thread - a thread that uses a CSB+ tree
 * @pool: its free groups
 * @next: thread that was attached before
 */
struct csb_thread {
	struct node_pool pool;
	struct csb_thread *next;
};

/* Positions in the table of options. */
enum csb_option {
#define OPT_UINT(id, name, min, max, def, help) CSB_OPTION_##id,
#include "options.def"
	NR_CSB_OPTIONS
};

extern const struct option_row csb_options[NR_CSB_OPTIONS + 1];

struct node_layout csb_layout(uint64_t bytes);
int csb_init(struct csb_tree *tree, const struct index_config *config,
	     const struct node_latching *latching);
void csb_destroy(void *tree);
double csb_bytes(const struct index_config *config);
void *csb_attach(void *tree, unsigned int core, uint64_t inserts);
void csb_detach(void *thread);
int csb_bulk(void *tree, void *thread, const struct bulk_source *source);
int csb_walk(const void *tree, visit_fn visit, void *ctx);
bool csb_check(const void *tree, char *why, size_t len);
void csb_shape(const void *tree, struct tree_shape *shape);

/* Maximum number of children of a node: the places of a group. */
static __inline_always unsigned int csb_children_max(const struct node_layout *layout)
{
	return layout->inner_max + 1u;
}

/* The place @i of a group. */
static __inline_always struct csb_node *csb_place(const struct node_layout *layout,
						  struct csb_node *group, unsigned int i)
{
	return (struct csb_node *)(void *)((char *)group + (size_t)i * layout->bytes);
}

static __inline_always struct csb_node *csb_child(const struct node_layout *layout,
						  const struct csb_node *node, unsigned int i)
{
	return csb_place(layout, node->children, i);
}

/* The value of each key of a leaf. */
static __inline_always uint64_t *csb_values(const struct node_layout *layout, struct csb_node *leaf)
{
	return leaf->slots + layout->leaf_max;
}

static __inline_always bool csb_full(const struct node_layout *layout, const struct csb_node *node)
{
	return node->nr >= (node->level ? layout->inner_max : layout->leaf_max);
}

/* The place of @key in a leaf, and whether the leaf has the key. */
static __inline_always unsigned int csb_find(const struct csb_node *leaf, uint64_t key, bool *found)
{
	unsigned int at = keys_below(leaf->slots, leaf->nr, key);

	*found = at < leaf->nr && leaf->slots[at] == key;
	return at;
}

/*
 * Prefetch a node. The values of a leaf are needed as soon as the key is found, and with a
 * node of 512 bytes they are no more lines than the keys of an inner node.
 */
static __inline_always void csb_prefetch(const struct node_layout *layout,
					 const struct csb_node *node)
{
	const char *line = (const char *)node, *end = line + layout->bytes;

	/* A search reads few lines of a larger node: with 4 KiB, all of them cost a third more. */
	if (end > line + 1024)
		end = line + 1024;
	do {
		__builtin_prefetch(line);
		line += CACHE_LINE;
	} while (line < end);
}

/**
 * csb_reserve() - reserve the groups of one insert: one for each node that splits, a new root
 * @tree: the tree
 * @thread: the calling thread
 *
 * Return: 0, or -ENOMEM with the tree unchanged.
 */
static inline int csb_reserve(void *tree, void *thread)
{
	const struct csb_tree *t = tree;

	return pool_reserve(&((struct csb_thread *)thread)->pool, t->layout.levels_max + 1u);
}

/* A group from the pool of @thread; the latches of its places are free. */
static inline struct csb_node *csb_group_new(struct csb_thread *thread)
{
	return pool_get(&thread->pool);
}

void csb_leaf_insert(const struct node_layout *layout, struct csb_node *leaf, unsigned int at,
		     uint64_t key, uint64_t value);
uint64_t csb_leaf_remove(const struct node_layout *layout, struct csb_node *leaf, unsigned int at);
void csb_copy(const struct node_layout *layout, struct csb_node *to, const struct csb_node *from);
void csb_key_insert(struct csb_node *node, unsigned int at, uint64_t key);
uint64_t csb_leaf_split_insert(const struct node_layout *layout, struct csb_node *left,
			       struct csb_node *right, unsigned int at, uint64_t key,
			       uint64_t value);
unsigned int csb_half(const struct csb_node *node, unsigned int at);
uint64_t csb_inner_cut(struct csb_node *left, struct csb_node *right, struct csb_node *group,
		       unsigned int from);

static const struct tree_ops csb_tree = {
	.bytes = csb_bytes,
	.destroy = csb_destroy,
	.attach = csb_attach,
	.detach = csb_detach,
	.reserve = csb_reserve,
	.check = csb_check,
	.walk = csb_walk,
	.options = csb_options,
	.unfit = node_tree_unfit,
	.bulk = csb_bulk,
	.shape = csb_shape,
};

#endif

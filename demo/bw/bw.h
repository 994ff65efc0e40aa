/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bw.h - the Bw-tree: nodes that never change, records of changes above them, and a table
 * that maps the ID of a node to the newest of its records.
 *
 * The tree is that of Levandoski, Lomet, Sengupta, "The Bw-tree: a B-tree for new hardware
 * platforms", ICDE 2013, as Schröder, "Using modern synchronization mechanisms in
 * databases", 2016, describes it in section 2.5; nothing is merged. It is a B-link tree
 * whose children and siblings are IDs. Default sizes, and records that lie together, are
 * those of Wang et al., "Building a Bw-tree takes more than just buzz words", SIGMOD 2018.
 *
 *	table[0]        the ID of the root
 *	table[id]       a node, or the newest record of one
 *	record          one change, and the next older record or the node
 *	block           the records above one node, in the order in which threads claimed them
 *	node            level, high key, right sibling, keys, values or children
 *
 * A change is a new record, or, if the block of the node has no free place, a new node
 * with all records and the change applied. If that has more entries than a node can
 * have, it becomes two: the left one keeps the ID and leads to the right one, which is in the
 * table before. So one word of the table makes a half-split. The parent then gets a
 * record with the key between the two.
 *
 * No function of this folder writes an entry of the table that other threads can reach:
 * they prepare a step, struct bw_step, which a synchronisation scheme makes or discards.
 * But for bw_reserve() and bw_bulk(), they allocate nothing while other threads use the
 * tree.
 */
#ifndef DEMO_BW_H
#define DEMO_BW_H

#include "../base/option.h"
#include "../index/counts.h"
#include "../index/tree.h"
#include "../mem/area.h"
#include "../mem/epoch.h"
#include "../mem/pool.h"
#include "../node/node.h"
#include "../node/search.h"
#include "../node/tree.h"

/* Default size of a node in bytes: 130 entries in a leaf, 65 keys in an inner node. */
#define BW_BYTES_DEFAULT 2112

/* Records above a leaf and above an inner node: those of the OpenBw-Tree. */
#define BW_CHAIN_DEFAULT 24
#define BW_CHAIN_MAX 64
#define BW_CHAIN_INNER 2

/* Transactions of an update by default; the Bx tree tries as many for a step. */
#define BW_ATTEMPTS_DEFAULT 3

/* Number of IDs, as in the OpenBw-Tree. ID 0 is no node. */
#define BW_IDS (1u << 20)

/* The word of the table that has the ID of the root, and the ID of the first root. */
#define BW_ROOT 0u
#define BW_FIRST 1u

/* Maximum number of levels: each inner node has 2 children at least, so 2^20 IDs make 21. */
#define BW_LEVELS_MAX 22

enum bw_kind {
	BW_NODE,
	BW_INSERT, /* of an entry, or of a child with the least key that it may hold */
	BW_REMOVE,
};

/**
 * struct bw_head - the head of a node and of a record
 * @kind: what it is
 * @level: distance of the node from the leaves
 * @slot: place of a record in its block
 * @nr: number of keys of the node with this record and all older ones applied
 */
struct bw_head {
	uint8_t kind;
	uint8_t level;
	uint8_t slot;
	uint32_t nr;
};

/**
 * struct bw_node - an inner node or a leaf, which never changes
 * @head: its head
 * @high: least key of the right sibling; without one it has no meaning
 * @right: ID of the right sibling, 0 in the last node of a level
 * @slots: leaf: keys[leaf_max], values[leaf_max]; inner: keys[inner_max], then the IDs of the
 *	   children, 4 bytes each, one more than keys
 */
struct bw_node {
	struct bw_head head;
	uint64_t high;
	uint32_t right;
	uint64_t slots[];
};

_Static_assert(offsetof(struct bw_node, slots) == 24, "a leaf of 64 bytes holds 2 entries");

/**
 * struct bw_record - a change of a node
 * @head: its head
 * @next: the next older record, or the node
 * @key: key of the entry, or least key of the child
 * @value: value of the entry, or ID of the child
 */
struct bw_record {
	struct bw_head head;
	const struct bw_head *next;
	uint64_t key;
	uint64_t value;
};

/**
 * struct bw_block - the records above one node
 * @node: the node
 * @used: number of places that threads claimed; a place whose record was not needed is lost
 * @records: the records
 */
struct bw_block {
	struct bw_node *node;
	uint32_t used;
	struct bw_record records[] __attribute__((aligned(32)));
};

/**
 * struct bw_tree - a Bw-tree
 * @table: the mapping table; an entry that is not in use is 0
 * @layout: the capacities of the nodes
 * @chain: maximum number of records above a leaf
 * @chain_inner: maximum number of records above an inner node
 * @attempts: transactions that an update tries, for the schemes
 * @latch: one latch for all of the table, for the schemes; 1 byte
 * @promised: number of entries of the table whose pages are present, see mem/area.h
 * @ids: the least ID that no thread has taken yet
 * @own: pool that provided the first root
 * @blocks: what the blocks of the pools are
 * @epoch: epoch of the nodes and blocks that threads retire; has the list of the threads
 */
struct bw_tree {
	struct area table;
	struct node_layout layout;
	uint8_t chain, chain_inner;
	uint64_t attempts;
	uint8_t latch __cacheline_aligned;
	uint64_t promised __cacheline_aligned;
	uint64_t ids;
	struct node_pool own __cacheline_aligned;
	struct pool_nodes blocks;
	struct epoch epoch;
} __cacheline_aligned;

/**
 * struct bw_thread - a thread that uses a Bw-tree
 * @nodes: its free nodes
 * @blocks: its free blocks
 * @credit: number of IDs that it may take, beside those of @spare
 * @nr_spare: number of IDs in @spare
 * @spare: IDs that it took for steps that were discarded
 * @counts: what it counted, written outside transactions
 * @epoch: nodes and blocks that it retired, and the thread that was attached before
 */
struct bw_thread {
	struct node_pool nodes;
	struct node_pool blocks;
	uint64_t credit;
	unsigned int nr_spare;
	uint32_t spare[BW_LEVELS_MAX + 1];
	struct counts counts __cacheline_aligned;
	struct epoch_thread epoch;
};

/* struct bw_op - a change of a node; @kind is not BW_NODE, and the others as in a record */
struct bw_op {
	enum bw_kind kind;
	uint64_t key, value;
};

/**
 * struct bw_step - a word of the table that a change replaces
 * @id: the word: an ID, or BW_ROOT
 * @old: what the word must be
 * @new: what it becomes
 * @record: the record that @new is, or that was prepared for it before and can be used again
 * @block: the new block of @record, NULL if the record is in a block that is in use
 * @node: new nodes: the one that @new is or has the ID of, and that of ID @made; or NULL
 * @made: ID of the new right sibling, which is in the table already, or of the new root; 0
 *	  without one
 * @separator: least key of the new right sibling
 */
struct bw_step {
	uint32_t id;
	uint64_t old, new;
	struct bw_record *record;
	struct bw_block *block;
	struct bw_node *node[2];
	uint32_t made;
	uint64_t separator;
};

/* Positions in the table of options. */
enum bw_option {
#define OPT_UINT(id, name, min, max, def, help) BW_OPTION_##id,
#include "options.def"
	NR_BW_OPTIONS
};

extern const struct option_row bw_options[NR_BW_OPTIONS + 1];

struct node_layout bw_layout(uint64_t bytes);
int bw_init(struct bw_tree *tree, const struct index_config *config);
void bw_destroy(void *tree);
double bw_bytes(const struct index_config *config);
void *bw_attach(void *tree, unsigned int core, uint64_t inserts);
void bw_detach(void *thread);
int bw_reserve(void *tree, void *thread);
int bw_bulk(void *tree, void *thread, const struct bulk_source *source);
int bw_walk(const void *tree, visit_fn visit, void *ctx);
bool bw_check(const void *tree, char *why, size_t len);
void bw_shape(const void *tree, struct tree_shape *shape);
const char *bw_unfit(const struct index_config *config, char *why, size_t len);

/* The word @id of the table. */
static __inline_always uint64_t *bw_word(const struct bw_tree *tree, uint32_t id)
{
	return (uint64_t *)(void *)tree->table.base + id;
}

/* What the ID @id maps to. Acquire: pairs with the release of the thread that stored it. */
static __inline_always const struct bw_head *bw_get(const struct bw_tree *tree, uint32_t id)
{
	return (const struct bw_head *)(uintptr_t)node_get_link(*bw_word(tree, id));
}

static __inline_always uint32_t bw_root(const struct bw_tree *tree)
{
	return (uint32_t)node_get_link(*bw_word(tree, BW_ROOT));
}

static __inline_always const struct bw_record *bw_record(const struct bw_head *head)
{
	return (const struct bw_record *)(const void *)head;
}

/* The block of a record. */
static __inline_always struct bw_block *bw_block(const struct bw_head *head)
{
	const struct bw_record *first = bw_record(head) - head->slot;

	return (struct bw_block *)((uintptr_t)first - offsetof(struct bw_block, records));
}

/* The node below a record, or the node itself. */
static __inline_always const struct bw_node *bw_node(const struct bw_head *head)
{
	return head->kind == BW_NODE ? (const struct bw_node *)(const void *)head :
				       bw_block(head)->node;
}

/* The value of each key of a leaf. */
static __inline_always uint64_t *bw_values(const struct node_layout *layout,
					   const struct bw_node *leaf)
{
	return (uint64_t *)(uintptr_t)leaf->slots + layout->leaf_max;
}

/* The children of an inner node, one more than keys. */
static __inline_always uint32_t *bw_children(const struct node_layout *layout,
					     const struct bw_node *node)
{
	return (uint32_t *)(uintptr_t)(node->slots + layout->inner_max);
}

/* True if @key belongs to a right sibling of @node: the node was split. */
static __inline_always bool bw_beyond(const struct bw_node *node, uint64_t key)
{
	return unlikely(key >= node->high) && node->right;
}

/* The thread of @epoch, an element of the list of threads; NULL behind the last one. */
static inline struct bw_thread *bw_thread(const struct epoch_thread *epoch)
{
	return epoch ? container_of(epoch, struct bw_thread, epoch) : NULL;
}

static inline struct bw_thread *bw_thread_first(const struct bw_tree *tree)
{
	return bw_thread(tree->epoch.threads);
}

static inline struct bw_thread *bw_thread_next(const struct bw_thread *thread)
{
	return bw_thread(thread->epoch.next);
}

/* Does a leaf with the records above it have @key, and with which value? */
static __inline_always bool bw_find(const struct node_layout *layout, const struct bw_head *head,
				    const struct bw_node *node, uint64_t key, uint64_t *value)
{
	unsigned int at;

	for (; head->kind != BW_NODE; head = bw_record(head)->next) {
		if (bw_record(head)->key != key)
			continue;
		*value = bw_record(head)->value;
		return head->kind == BW_INSERT;
	}
	at = keys_below(node->slots, node->head.nr, key);
	if (at == node->head.nr || node->slots[at] != key)
		return false;
	*value = bw_values(layout, node)[at];
	return true;
}

/* The child of an inner node with the records above it that is the place of @key. */
static __inline_always uint32_t bw_child(const struct node_layout *layout,
					 const struct bw_head *head, const struct bw_node *node,
					 uint64_t key)
{
	const struct bw_record *best = NULL;
	unsigned int at;

	for (; head->kind != BW_NODE; head = bw_record(head)->next)
		if (bw_record(head)->key <= key && (!best || bw_record(head)->key > best->key))
			best = bw_record(head);
	at = keys_upto(node->slots, node->head.nr, key);
	if (best && (!at || node->slots[at - 1] < best->key))
		return (uint32_t)best->value;
	return bw_children(layout, node)[at];
}

/*
 * struct bw_item - the newest record of a key
 * @key, @value: as in the record
 * @kind: BW_INSERT or BW_REMOVE
 */
struct bw_item {
	uint64_t key, value;
	enum bw_kind kind;
};

/*
 * struct bw_merge - the keys of a node with the records above it, in ascending order
 * @layout: the capacities
 * @node: the node
 * @at: number of the next key of the node
 * @item: number of the next item
 * @nr: number of items
 * @items: the items, in the order of their keys
 */
struct bw_merge {
	const struct node_layout *layout;
	const struct bw_node *node;
	unsigned int at, item, nr;
	struct bw_item items[BW_CHAIN_MAX + 1];
};

void bw_merge_begin(struct bw_merge *merge, const struct node_layout *layout,
		    const struct bw_head *head, const struct bw_op *op);
void bw_merge_from(struct bw_merge *merge, uint64_t from);
bool bw_merge_next(struct bw_merge *merge, uint64_t *key, uint64_t *value);

void bw_prepare(struct bw_tree *tree, struct bw_thread *thread, struct bw_step *step, uint32_t id,
		const struct bw_head *head, const struct bw_op *op);
void bw_prepare_root(struct bw_tree *tree, struct bw_thread *thread, struct bw_step *step,
		     uint32_t root, unsigned int level, uint64_t separator, uint32_t right);
void bw_discard(struct bw_tree *tree, struct bw_thread *thread, struct bw_step *step);
void bw_made(struct bw_thread *thread, const struct bw_step *step);

/* An ID for a new node, from those that bw_reserve() or area_promise() provided. */
static inline uint32_t bw_id_new(struct bw_tree *tree, struct bw_thread *thread)
{
	if (thread->nr_spare)
		return thread->spare[--thread->nr_spare];
	thread->credit--;
	/* Relaxed: who finds the ID finds the node by an acquire. */
	return (uint32_t)__atomic_fetch_add(&tree->ids, 1, __ATOMIC_RELAXED);
}

static const struct tree_ops bw_tree = {
	.bytes = bw_bytes,
	.destroy = bw_destroy,
	.attach = bw_attach,
	.detach = bw_detach,
	.reserve = bw_reserve,
	.check = bw_check,
	.walk = bw_walk,
	.options = bw_options,
	.unfit = bw_unfit,
	.bulk = bw_bulk,
	.shape = bw_shape,
};

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.h - a B-tree in a pool of pages.
 *
 * Keys have 1 to PAGE_KEY_MAX bytes, in the order of bytes_compare(). Any number of threads may
 * call the operations at the same time, each with a struct page_tree_thread of its own.
 *
 * With latches that have versions a descent latches nothing (optimistic lock coupling: Leis,
 * Haubenschild and Neumann, "Optimistic lock coupling", IEEE Data Engineering Bulletin 2019);
 * otherwise it latches each node before it releases the parent. No latch is held while a page
 * is read from the file: the operation releases all, loads the page, and begins anew.
 *
 * The root of a tree stays in its page: when it is full its content moves to a new child.
 *
 * An operation fails with -EROFS or another error of pool_writable(), with an error of the file if
 * a page cannot be read, and with -ENOSPC if the file cannot grow. The tree is whole then.
 */
#ifndef DEMO_PAGES_TREE_H
#define DEMO_PAGES_TREE_H

#include "pool.h"

/* Groups of XMerge: Alhomssi and Leis, CIDR 2021, section 4.1 and figure 9. */
#define XMERGE_MIN 2
#define XMERGE_MAX 8

/**
 * struct page_tree_options - what a tree does besides
 * @split: Contention Split
 * @sample: Contention Split counts one of 2^sample updates
 * @period: a period ends with one of 2^period updates, not below @sample
 * @pct: per cent of the counted updates that had to wait so that a page counts as contended
 * @xmerge: XMerge
 * @k: largest group of XMerge, XMERGE_MIN to XMERGE_MAX
 * @bstar: leaves are split as in a B*-tree
 */
struct page_tree_options {
	bool split;
	unsigned int sample;
	unsigned int period;
	unsigned int pct;
	bool xmerge;
	unsigned int k;
	bool bstar;
};

/* struct page_tree_counts - the counts of tree-counts.def; changed atomically */
struct page_tree_counts {
#define COUNT(id, help) uint64_t id;
#include "tree-counts.def"
};

/**
 * struct page_tree - a tree
 * @pool: its pages
 * @nr: its number in the file
 * @root: number of its root page, which never changes
 * @height: level of the root, as a hint; UINT_MAX if it is not known
 * @options: what it does besides
 * @counts: what it did
 */
struct page_tree {
	struct page_pool *pool;
	unsigned int nr;
	uint32_t root;
	unsigned int height;
	struct page_tree_options options;
	struct page_tree_counts counts __cacheline_aligned;
};

/**
 * struct page_tree_thread - what a thread has of its own
 * @draw: state of its random numbers, odd
 * @waited: operations that changed a leaf and found its latch held; counted with Contention Split
 */
struct page_tree_thread {
	uint64_t draw;
	uint64_t waited;
};

/**
 * page_tree_change - changes the value of an entry in its place, under the latch of the leaf
 * @ctx: as given to page_tree_update()
 * @value: the value
 * @len: its number of bytes, which stays
 */
typedef void (*page_tree_change)(void *ctx, void *value, unsigned int len);

/**
 * page_tree_visit - receives an entry of a scan, under the latch of the leaf
 * @ctx: as given to page_tree_scan()
 * @key: the key
 * @value: the value
 *
 * It must not call an operation of a tree.
 *
 * Return: true if the scan goes on.
 */
typedef bool (*page_tree_visit)(void *ctx, struct bytes key, struct bytes value);

int page_tree_create(struct page_tree *tree, struct page_pool *pool, const char *name,
		     const struct page_tree_options *options);
int page_tree_open(struct page_tree *tree, struct page_pool *pool, const char *name,
		   const struct page_tree_options *options);
void page_tree_thread_init(struct page_tree_thread *thread, uint64_t seed, uint64_t nr);

int page_tree_lookup(struct page_tree *tree, struct bytes key, void *value, unsigned int room,
		     unsigned int *len);
int page_tree_insert(struct page_tree *tree, struct page_tree_thread *thread, struct bytes key,
		     struct bytes value);
int page_tree_update(struct page_tree *tree, struct page_tree_thread *thread, struct bytes key,
		     page_tree_change change, void *ctx);
int page_tree_upsert(struct page_tree *tree, struct page_tree_thread *thread, struct bytes key,
		     struct bytes value);
int page_tree_remove(struct page_tree *tree, struct page_tree_thread *thread, struct bytes key,
		     void *value, unsigned int room, unsigned int *len);
int page_tree_scan(struct page_tree *tree, struct bytes from, page_tree_visit visit, void *ctx);

/**
 * struct page_tree_report - the shape of a tree
 * @leaves: number of leaves
 * @inner: number of other nodes
 * @levels: number of levels
 * @entries: number of entries
 * @entry_bytes: bytes of their whole keys and their values
 * @used: bytes of the leaves that are neither free nor of the header and the hints
 */
struct page_tree_report {
	uint64_t leaves;
	uint64_t inner;
	unsigned int levels;
	uint64_t entries;
	uint64_t entry_bytes;
	uint64_t used;
};

/* Bytes of a page that entries and fences may have. */
#define PAGE_ROOM (PAGE_BYTES - offsetof(struct page_node, slots))

int page_tree_check(struct page_tree *tree, struct page_tree_report *report, char *why, size_t len);

/* Add to a count of a tree. */
#define page_tree_count(tree, id, nr) \
	__atomic_fetch_add(&(tree)->counts.id, (nr), __ATOMIC_RELAXED)

#endif

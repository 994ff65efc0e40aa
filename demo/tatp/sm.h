/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sm.h - the storage manager: heaps and trees in pages, transactions that lock what they use
 * and log what they change.
 *
 * Order of latches: the tree, then pages from the root down and to the right, or one page of
 * a heap, then the checkpoint gate, then those of the log; the histogram of a heap comes
 * after its page. Latches of locks and of the buffer pool come last. No thread waits for a
 * lock or for the log's store while it holds a latch.
 */
#ifndef DEMO_TATP_SM_H
#define DEMO_TATP_SM_H

#include "buffer.h"
#include "lock.h"
#include "log.h"

struct sm;

/* Maximum number of heaps and of trees. */
#define SM_HEAPS 4
#define SM_TREES 5

/* A heap has its number as its store, a tree SM_HEAPS more. Page 1 + number is a tree's root. */
#define TREE_STORE(nr) (SM_HEAPS + (nr))
#define TREE_ROOT(nr) (1u + (nr))

/**
 * struct heap - rows of one size
 * @sm: its storage manager
 * @store: its number
 * @stride: bytes of a row
 * @latch: latch of the histogram
 * @room: the histogram: a bit for each page of the volume, set if it is a page of this heap
 *	  with a free row
 * @words: number of 64-bit words of @room that may have bits
 */
struct heap {
	struct sm *sm;
	unsigned int store;
	uint32_t stride;
	struct latch latch;
	struct area room;
	uint32_t words;
};

/**
 * struct btree - an index: keys and values of 8 bytes, each key once
 * @sm: its storage manager
 * @store: its store
 * @root: number of the root's page, which does not change
 * @latch: the lock of the tree, with --locks=tree
 * @one_lock: readers acquire that instead of the latches of pages
 */
struct btree {
	struct sm *sm;
	unsigned int store;
	uint32_t root;
	struct latch latch;
	bool one_lock;
};

/**
 * struct xct - the transactions of a thread, one after the other
 * @sm: the storage manager
 * @nr: number of the thread
 * @serial: number of its transactions that changed something
 * @xid: the transaction, or 0 if it has changed nothing
 * @first: its first log record
 * @last: its last log record
 * @undo_next: while it is rolled back: what a compensation goes on with, else 0
 * @undoing: it is rolled back
 * @locks: its locks
 * @record: the record that is being made
 * @undo: copies of its records
 * @undo_len: bytes of these
 * @undo_max: bytes that @undo has room for
 * @hint: page of each heap where the last insert found room
 *
 * The checkpointer reads @xid, @first and @last while it has the gate.
 */
struct xct {
	struct sm *sm;
	unsigned int nr;
	uint64_t serial;
	uint64_t xid;
	uint64_t first;
	uint64_t last;
	uint64_t undo_next;
	bool undoing;
	struct lock_client *locks;
	struct log_record *record;
	unsigned char *undo;
	size_t undo_len, undo_max;
	uint32_t hint[SM_HEAPS];
} __cacheline_aligned;

/**
 * struct sm_options - what a storage manager is to be
 * @identity: the database
 * @log: its log; the pages are in the file PATH.pages, if the log is in a file
 * @frames: pages of the buffer pool
 * @pages: pages of the volume, at most
 * @strides: bytes of a row of each heap
 * @heaps: number of heaps
 * @trees: number of trees
 * @inherit: speculative lock inheritance
 */
struct sm_options {
	struct identity identity;
	struct log_options log;
	uint32_t frames, pages;
	uint32_t strides[SM_HEAPS];
	unsigned int heaps, trees;
	bool inherit;
};

/**
 * struct sm - a storage manager
 * @volume: the pages below the buffer pool
 * @buffer: the buffer pool
 * @locks: the lock manager
 * @log: the log; records are inserted only while @logging
 * @gate: the checkpoint gate: readers change pages and end transactions, those that changed
 *	  nothing, too; the checkpointer has it while it reads the transactions
 * @heaps: the heaps
 * @trees: the trees
 * @xcts: the threads' transactions
 * @nr_xcts: their number
 * @logging: changes are logged, after the population
 * @opts: what it was made with
 */
struct sm {
	struct volume volume;
	struct buffer buffer;
	struct lock_manager locks;
	struct log log;
	struct latch gate;
	struct heap heaps[SM_HEAPS];
	struct btree trees[SM_TREES];
	struct xct *xcts;
	unsigned int nr_xcts;
	bool logging;
	struct sm_options opts;
};

/**
 * struct recovered - what a recovery did
 * @begin: first record that it read
 * @end: end of the log
 * @records: number of records
 * @redone: changes that pages did not have
 * @committed: commits among the records
 * @undone: transactions that were rolled back
 */
struct recovered {
	uint64_t begin, end;
	uint64_t records, redone, committed, undone;
};

/* sm.c */
int sm_create(struct sm *sm, const struct sm_options *opts);
int sm_loaded(struct sm *sm);
int sm_open(struct sm *sm, const struct sm_options *opts, struct recovered *r, char *why,
	    size_t len);
int sm_recover_memory(struct sm *sm, const struct sm *crashed, uint64_t end, struct recovered *r,
		      char *why, size_t len);
void sm_destroy(struct sm *sm);
bool sm_at_rest(const struct sm *sm, const char **what);

/* recover.c */
int recover(struct sm *sm, struct recovered *r, char *why, size_t len);

/* checkpoint.c */
int checkpoint(struct sm *sm);
int checkpoint_clean(struct sm *sm);

/* xct.c */
int xct_room(struct xct *x);
void xct_change(struct xct *x, struct page_ref *ref);
int xct_commit(struct xct *x);
int xct_rollback(struct xct *x);
int xct_recover(struct xct *x, uint64_t xid, uint64_t last);

/** xct_record() - begin a record of a change; its payload and len follow */
static inline struct log_record *xct_record(struct xct *x, enum log_type type, unsigned int store,
					    const struct page *page)
{
	struct log_record *r = x->record;

	*r = (struct log_record){ .type = type, .store = (uint16_t)store, .page = page->id };
	return r;
}

/* change.c */
void change_apply(struct page *page, const struct log_record *r);
void change_reverse(struct log_record *to, const struct log_record *r);

/* heap.c */
int heap_init(struct heap *heap, struct sm *sm, unsigned int nr, uint32_t stride);
void heap_destroy(struct heap *heap);
int heap_read(struct xct *x, struct heap *heap, uint64_t rid, enum lock_mode mode, void *row);
int heap_update(struct xct *x, struct heap *heap, uint64_t rid, unsigned int off, unsigned int n,
		const void *data, void *old);
int heap_insert(struct xct *x, struct heap *heap, const void *row, uint64_t *rid);
int heap_delete(struct xct *x, struct heap *heap, uint64_t rid, void *old);
void heap_changed(struct heap *heap, const struct page *page, unsigned int before);
int heap_append(struct heap *heap, const void *row, struct page_ref *at, uint64_t *rid);

/* btree.c */
struct index_entry {
	uint64_t key;
	uint64_t value;
};

void btree_init(struct btree *tree, struct sm *sm, unsigned int nr);
bool btree_lookup(struct btree *tree, uint64_t key, uint64_t *value);
unsigned int btree_range(struct btree *tree, uint64_t low, uint64_t high, struct index_entry *out,
			 unsigned int max);
int btree_insert(struct xct *x, struct btree *tree, uint64_t key, uint64_t value);
int btree_delete(struct xct *x, struct btree *tree, uint64_t key);
void node_insert(struct page *page, uint64_t key, uint64_t value);
bool node_delete(struct page *page, uint64_t key);
unsigned int node_find(const struct page *page, uint64_t key, bool *found);

/* btree-bulk.c */
int btree_bulk(struct btree *tree, uint64_t nr, unsigned int fill,
	       void (*entry)(void *ctx, uint64_t i, struct index_entry *e), void *ctx);
bool btree_check(struct btree *tree, int (*visit)(void *ctx, uint64_t key, uint64_t value),
		 void *ctx, char *why, size_t len);

/* Entries that a node holds. */
#define NODE_MAX (PAGE_BODY / sizeof(struct index_entry))

static inline struct index_entry *node_entries(const struct page *page)
{
	return (struct index_entry *)(uintptr_t)page->body;
}

#endif

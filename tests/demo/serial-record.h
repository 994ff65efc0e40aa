/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * serial-record.h - between serial.c, which runs transactions, and serial-record.c, which records
 * them.
 */
#ifndef TESTS_DEMO_SERIAL_RECORD_H
#define TESTS_DEMO_SERIAL_RECORD_H

#include "../../demo/tatp/bench/tatp.h"

#include "serial.h"

#define THREADS 4
#define SUBSCRIBERS 3

/* Parts of a transaction, at most, and their accesses: a scan has the most, entries and rows. */
#define STEPS_MAX 3
#define OPS_MAX (STEPS_MAX * 2 * SUBSCRIBERS * NR_TYPES * NR_STARTS)

/**
 * struct recorder - what a thread records
 * @client: its transactions
 * @rng: its random numbers
 * @xact: number of the transaction
 * @version: number of versions that the transaction has made
 * @last: the part that runs is the last one
 * @ended: the transaction is committed or rolled back
 * @deadlocks: of the client before the part
 * @undo_len: of the transaction before the part
 * @xacts: all transactions of the thread
 * @ops: all accesses
 * @nr_ops: their number
 * @first_op: first one of the transaction
 */
struct recorder {
	struct client client;
	struct rng rng;
	uint32_t xact;
	unsigned int version;
	bool last, ended;
	uint64_t deadlocks;
	size_t undo_len;
	struct serial_xact *xacts;
	struct serial_op *ops;
	size_t nr_ops, first_op;
};

/* Version of each entry of the index of forwardings; bit 0: it is there. */
extern uint64_t entries[SUBSCRIBERS + 1][NR_TYPES][NR_STARTS];

extern struct sm sm;

/* The thread's recorder while it runs transactions. */
extern __thread struct recorder *me;

/** tick() - the time: it differs between all calls */
uint64_t tick(void);

/** entry_version() - where the version of an entry of the index of forwardings is */
uint64_t *entry_version(uint64_t key);

/** stamp_at() - where the rows of a table have their version */
unsigned int stamp_at(const struct heap *heap);

/* What the linker calls in place of the functions of the storage manager. */
bool __wrap_btree_lookup(struct btree *tree, uint64_t key, uint64_t *value);
unsigned int __wrap_btree_range(struct btree *tree, uint64_t low, uint64_t high,
				struct index_entry *out, unsigned int max);
int __wrap_btree_insert(struct xct *x, struct btree *tree, uint64_t key, uint64_t value);
int __wrap_btree_delete(struct xct *x, struct btree *tree, uint64_t key);
int __wrap_heap_read(struct xct *x, struct heap *heap, uint64_t rid, enum lock_mode mode,
		     void *row);
int __wrap_heap_update(struct xct *x, struct heap *heap, uint64_t rid, unsigned int off,
		       unsigned int n, const void *data, void *old);
int __wrap_heap_insert(struct xct *x, struct heap *heap, const void *row, uint64_t *rid);
int __wrap_heap_delete(struct xct *x, struct heap *heap, uint64_t rid, void *old);
int __wrap_xct_commit(struct xct *x);
int __wrap_xct_rollback(struct xct *x);

#endif

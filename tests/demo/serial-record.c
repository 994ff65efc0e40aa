// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * serial-record.c - records the accesses of transactions, where the linker wraps the functions of
 * the storage manager, and gives up the processor now and then.
 *
 * A row has its version in its padding: the write that made it, or 0 as it was loaded. Versions
 * of the entries of the index of CALL_FORWARDING, those that are absent, too, are in an array. A
 * thread writes there after it has changed the index, and reads it before and after it has read
 * the index, so that under locks that exclude each other it is what the index has.
 */
#include "serial-record.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>

/* Of the accesses, one in this many gives up the processor before or after. */
#define YIELD_ONE_IN 3

struct sm sm;
uint64_t entries[SUBSCRIBERS + 1][NR_TYPES][NR_STARTS];
__thread struct recorder *me;

static uint64_t ticks = 1;

static void maybe_yield(void)
{
	if (me && !rng_below(&me->rng, YIELD_ONE_IN))
		sched_yield();
}

uint64_t tick(void)
{
	return __atomic_fetch_add(&ticks, 1, __ATOMIC_SEQ_CST);
}

static uint64_t new_version(bool present)
{
	return (uint64_t)(me->xact + 1) << 16 | ++me->version << 1 | present;
}

static void record(bool write, uint64_t item, uint64_t version, uint64_t before)
{
	if (me->nr_ops - me->first_op == OPS_MAX) {
		fprintf(stderr, "serial: more than %d accesses\n", OPS_MAX);
		exit(2);
	}
	me->ops[me->nr_ops++] = (struct serial_op){ me->xact, write, item, version, before };
}

/* The items: rows of tables and entries of the index of forwardings. */
static uint64_t row_item(const struct heap *heap, uint64_t rid)
{
	return (uint64_t)heap->store << 56 | rid;
}

static uint64_t entry_item(uint64_t key)
{
	return (uint64_t)NR_TABLES << 56 | key;
}

uint64_t *entry_version(uint64_t key)
{
	return &entries[key >> 7][key >> 5 & 3][(key & 31) / 8];
}

static bool is_forwardings(const struct btree *tree)
{
	return me && tree == &sm.trees[CALL_FORWARDING_KEY];
}

unsigned int stamp_at(const struct heap *heap)
{
	switch ((enum table)heap->store) {
	case SUBSCRIBER:
		return offsetof(struct subscriber, padding);
	case ACCESS_INFO:
		return offsetof(struct access_info, padding);
	case SPECIAL_FACILITY:
		return offsetof(struct special_facility, padding);
	default:
		return offsetof(struct call_forwarding, padding);
	}
}

static uint64_t stamp_of(const struct heap *heap, const void *row)
{
	uint64_t stamp;

	memcpy(&stamp, (const char *)row + stamp_at(heap), sizeof(stamp));
	return stamp;
}

bool __real_btree_lookup(struct btree *tree, uint64_t key, uint64_t *value);
unsigned int __real_btree_range(struct btree *tree, uint64_t low, uint64_t high,
				struct index_entry *out, unsigned int max);
int __real_btree_insert(struct xct *x, struct btree *tree, uint64_t key, uint64_t value);
int __real_btree_delete(struct xct *x, struct btree *tree, uint64_t key);
int __real_heap_read(struct xct *x, struct heap *heap, uint64_t rid, enum lock_mode mode,
		     void *row);
int __real_heap_update(struct xct *x, struct heap *heap, uint64_t rid, unsigned int off,
		       unsigned int n, const void *data, void *old);
int __real_heap_insert(struct xct *x, struct heap *heap, const void *row, uint64_t *rid);
int __real_heap_delete(struct xct *x, struct heap *heap, uint64_t rid, void *old);
int __real_xct_commit(struct xct *x);
int __real_xct_rollback(struct xct *x);

/* Record what was seen of an entry: of the versions before and after, the one that fits. */
static void record_entry(uint64_t key, bool found, uint64_t before)
{
	uint64_t after = __atomic_load_n(entry_version(key), __ATOMIC_SEQ_CST);

	record(false, entry_item(key), (before & 1) == found ? before : after, 0);
}

bool __wrap_btree_lookup(struct btree *tree, uint64_t key, uint64_t *value)
{
	uint64_t before = 0;
	bool found;

	maybe_yield();
	if (is_forwardings(tree))
		before = __atomic_load_n(entry_version(key), __ATOMIC_SEQ_CST);
	found = __real_btree_lookup(tree, key, value);
	if (is_forwardings(tree))
		record_entry(key, found, before);
	maybe_yield();
	return found;
}

/* The range is within a facility. Keys of it that are absent are read as well. */
unsigned int __wrap_btree_range(struct btree *tree, uint64_t low, uint64_t high,
				struct index_entry *out, unsigned int max)
{
	uint64_t before[NR_STARTS];
	unsigned int nr, at = 0;

	maybe_yield();
	for (unsigned int i = 0; i < NR_STARTS; i++)
		before[i] = __atomic_load_n(entry_version(low) + i, __ATOMIC_SEQ_CST);
	nr = __real_btree_range(tree, low, high, out, max);
	for (uint64_t key = low; key <= high; key += 8) {
		bool found = at < nr && out[at].key == key;

		record_entry(key, found, before[(key - low) / 8]);
		at += found;
	}
	maybe_yield();
	return nr;
}

/* Change the version of an entry, or put back what it was while the transaction is undone. */
static void write_entry(struct xct *x, uint64_t key, bool present)
{
	uint64_t *at = entry_version(key), version = 0;

	if (x->undoing) {
		size_t i = me->nr_ops;

		/* The write of the version that is there. */
		while (i-- > me->first_op)
			if (me->ops[i].write && me->ops[i].item == entry_item(key) &&
			    me->ops[i].version == *at)
				break;
		version = me->ops[i].before;
	} else {
		version = new_version(present);
		record(true, entry_item(key), version, *at);
	}
	__atomic_store_n(at, version, __ATOMIC_SEQ_CST);
}

int __wrap_btree_insert(struct xct *x, struct btree *tree, uint64_t key, uint64_t value)
{
	int err;

	maybe_yield();
	err = __real_btree_insert(x, tree, key, value);
	if (!err)
		write_entry(x, key, true);
	else if (err == -EEXIST)
		record_entry(key, true, __atomic_load_n(entry_version(key), __ATOMIC_SEQ_CST));
	maybe_yield();
	return err;
}

int __wrap_btree_delete(struct xct *x, struct btree *tree, uint64_t key)
{
	int err;

	maybe_yield();
	err = __real_btree_delete(x, tree, key);
	if (!err)
		write_entry(x, key, false);
	maybe_yield();
	return err;
}

int __wrap_heap_read(struct xct *x, struct heap *heap, uint64_t rid, enum lock_mode mode,
		     void *row)
{
	int err;

	maybe_yield();
	err = __real_heap_read(x, heap, rid, mode, row);
	if (!err)
		record(false, row_item(heap, rid), stamp_of(heap, row), 0);
	maybe_yield();
	return err;
}

/* A change of columns, and then of the version. */
int __wrap_heap_update(struct xct *x, struct heap *heap, uint64_t rid, unsigned int off,
		       unsigned int n, const void *data, void *old)
{
	uint64_t version, before;
	int err;

	maybe_yield();
	err = __real_heap_update(x, heap, rid, off, n, data, old);
	maybe_yield();
	if (err)
		return err;
	version = new_version(true);
	err = __real_heap_update(x, heap, rid, stamp_at(heap), sizeof(version), &version, &before);
	if (!err)
		record(true, row_item(heap, rid), version, before);
	maybe_yield();
	return err;
}

int __wrap_heap_insert(struct xct *x, struct heap *heap, const void *row, uint64_t *rid)
{
	uint64_t version = new_version(true);
	union row stamped;
	int err;

	maybe_yield();
	memcpy(&stamped, row, heap->stride);
	memcpy((char *)&stamped + stamp_at(heap), &version, sizeof(version));
	err = __real_heap_insert(x, heap, &stamped, rid);
	if (!err)
		record(true, row_item(heap, *rid), version, SERIAL_UNKNOWN);
	maybe_yield();
	return err;
}

int __wrap_heap_delete(struct xct *x, struct heap *heap, uint64_t rid, void *old)
{
	int err;

	maybe_yield();
	err = __real_heap_delete(x, heap, rid, old);
	if (!err)
		record(true, row_item(heap, rid), new_version(false), stamp_of(heap, old));
	maybe_yield();
	return err;
}

/* The transaction has ended. */
static void ended(bool committed)
{
	struct serial_xact *xact = &me->xacts[me->xact / THREADS];

	xact->end = tick();
	/* Of a transaction that wrote: its commit record. */
	xact->order = me->client.x->last;
	xact->committed = committed;
	me->ended = true;
}

/* A part that is not the last one leaves the transaction open. */
int __wrap_xct_commit(struct xct *x)
{
	int err;

	if (!me->last)
		return 0;
	err = __real_xct_commit(x);
	ended(true);
	return err;
}

/* A part that was not successful and has changed nothing does not undo those before it. */
int __wrap_xct_rollback(struct xct *x)
{
	int err;

	if (x->undo_len == me->undo_len && x->locks->counts.deadlocks == me->deadlocks)
		return __wrap_xct_commit(x);
	err = __real_xct_rollback(x);
	ended(false);
	return err;
}

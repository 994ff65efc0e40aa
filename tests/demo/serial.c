// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * serial.c - are the transactions of TATP strictly serializable?
 *
 *	serial [--LATCH-OPTION=VALUE]... [--sli=off] SEED TRANSACTIONS
 *
 * Threads run transactions on few subscribers. Each one is one to three transactions of TATP that
 * hold their locks until the last one has ended: so a row and a range are read more than once,
 * and in any order. The functions below the transactions are wrapped by the linker. They record
 * each access (see serial.h) and give up the processor now and then.
 *
 * A row has its version in its padding: the write that made it, or 0 as it was loaded. Versions
 * of the entries of the index of CALL_FORWARDING, those that are absent, too, are in an array. A
 * thread writes there after it has changed the index, and reads it before and after it has read
 * the index, so that under locks that exclude each other it is what the index has.
 *
 * At the end the content is compared with the journals, too. Exit 0 passed, 1 failed, 2 usage.
 */
#include "../../demo/tatp/tatp.h"

#include "serial.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <unistd.h>

#define THREADS 4
#define SUBSCRIBERS 3

/* Parts of a transaction, at most, and their accesses: a scan has the most, entries and rows. */
#define STEPS_MAX 3
#define OPS_MAX (STEPS_MAX * 2 * SUBSCRIBERS * NR_TYPES * NR_STARTS)

/* Of the parts, one in this many is a scan. */
#define SCAN_ONE_IN 12

/* Of the accesses, one in this many gives up the processor before or after. */
#define YIELD_ONE_IN 3

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

static struct sm sm;
static struct draws draws = { .subscribers = SUBSCRIBERS, .only = NR_TRANSACTIONS };
static struct recorder recorders[THREADS];
static uint64_t nr_each, ticks = 1;
static pthread_barrier_t together;

/* Version of each entry of the index of forwardings; bit 0: it is there. */
static uint64_t entries[SUBSCRIBERS + 1][NR_TYPES][NR_STARTS];

/* The thread's recorder while it runs transactions. */
static __thread struct recorder *me;

static void maybe_yield(void)
{
	if (me && !rng_below(&me->rng, YIELD_ONE_IN))
		sched_yield();
}

static uint64_t tick(void)
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

static uint64_t *entry_version(uint64_t key)
{
	return &entries[key >> 7][key >> 5 & 3][(key & 31) / 8];
}

static bool is_forwardings(const struct btree *tree)
{
	return me && tree == &sm.trees[CALL_FORWARDING_KEY];
}

/* Where the rows of a table have their version. */
static unsigned int stamp_at(const struct heap *heap)
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

/*
 * A part that is not one of TATP: it locks the table of forwardings and its index, so that locks
 * of tables that others have inherited are in its way, and reads a range of each facility.
 */
static int scan(struct recorder *r)
{
	struct xct *x = r->client.x;
	struct btree *tree = &sm.trees[CALL_FORWARDING_KEY];
	struct heap *heap = &sm.heaps[CALL_FORWARDING];
	int err = lock_table(x->locks, heap->store, LOCK_S);

	if (!err)
		err = lock_table(x->locks, tree->store, LOCK_S);
	for (uint64_t i = 0; i < SUBSCRIBERS * NR_TYPES && !err; i++) {
		struct index_entry found[NR_STARTS];
		uint64_t s_id = 1 + i / NR_TYPES;
		unsigned int type = 1 + i % NR_TYPES, nr;
		union row row;

		nr = __wrap_btree_range(tree, forwarding_key(s_id, type, 0),
					forwarding_key(s_id, type, 16), found, NR_STARTS);
		for (unsigned int j = 0; j < nr && !err; j++)
			err = __wrap_heap_read(x, heap, found[j].value, LOCK_S, &row);
	}
	if (err)
		return __wrap_xct_rollback(x) ? -EIO : err;
	return __wrap_xct_commit(x);
}

/* Run a part. Returns 0 if it was carried out or is the victim of a deadlock, else -errno. */
static int run_part(struct recorder *r)
{
	struct input in;
	int ret;

	r->deadlocks = r->client.x->locks->counts.deadlocks;
	r->undo_len = r->client.x->undo_len;
	if (!rng_below(&r->rng, SCAN_ONE_IN)) {
		ret = scan(r);
	} else {
		draw_input(&r->client, &in);
		in.kind = (enum transaction)rng_below(&r->rng, NR_TRANSACTIONS);
		in.value = r->client.serial * THREADS + r->client.nr;
		ret = transact(&r->client, &in);
	}
	return ret == -EDEADLK || ret == TATP_FAILED ? 0 : ret;
}

/* Run a transaction of several parts. An error ends the program. */
static void run_one(struct recorder *r, uint32_t nr)
{
	struct journal *journal = &r->client.journal;
	unsigned int steps = 1 + (unsigned int)rng_below(&r->rng, STEPS_MAX);
	size_t changes = journal->nr;
	int ret = 0;

	r->xact = nr * THREADS + r->client.nr;
	r->version = 0;
	r->first_op = r->nr_ops;
	r->ended = false;
	r->xacts[nr].begin = tick();
	for (unsigned int i = 0; i < steps && !r->ended && !ret; i++) {
		r->last = i + 1 == steps;
		ret = run_part(r);
	}
	if (!r->xacts[nr].committed)
		journal->nr = changes;
	if (!ret && r->ended)
		return;
	/* Its locks stay, so the others would not end. */
	printf("transaction %u: %s\n", r->xact,
	       ret == -ENOENT ? "a row of the index is not there" :
	       ret	      ? strerror(-ret) :
				"has not ended");
	fflush(stdout);
	_exit(1);
}

static void *run(void *arg)
{
	me = arg;
	pthread_barrier_wait(&together);
	for (uint32_t i = 0; i < nr_each; i++)
		run_one(me, i);
	me = NULL;
	return NULL;
}

/* What the array has of the entries that were loaded. */
static void load_entries(void)
{
	for (uint64_t s = 1; s <= SUBSCRIBERS; s++)
		for (unsigned int i = 0; i < NR_TYPES * NR_STARTS; i++) {
			uint64_t key = forwarding_key(s, 1 + i / NR_STARTS, 8 * (i % NR_STARTS)), rid;

			*entry_version(key) = btree_lookup(&sm.trees[CALL_FORWARDING_KEY], key, &rid);
		}
}

/* Take the versions out of the rows that verify_content() compares with the population. */
static void clear_versions(void)
{
	for (uint32_t id = 1; id < sm.volume.nr; id++) {
		struct page_ref ref;

		buffer_fix(&sm.buffer, id, LATCH_WRITE, &ref);
		for (unsigned int i = 0; ref.page->kind == PAGE_HEAP &&
					 i < heap_page_rows(ref.page->stride); i++)
			if (heap_page_has(ref.page, i))
				memset(heap_page_row(ref.page, i) +
					       stamp_at(&sm.heaps[ref.page->store]), 0, 8);
		buffer_unfix(&sm.buffer, &ref);
	}
}

/* All that the threads recorded, in one history. Returns true if it is serializable. */
static bool check_history(void)
{
	struct serial_history h = { .nr_xacts = (uint32_t)nr_each * THREADS };
	static char why[2000];
	bool ok;

	h.xacts = serial_memory(h.nr_xacts, sizeof(*h.xacts));
	h.ops = serial_memory(h.nr_xacts * OPS_MAX, sizeof(*h.ops));
	for (unsigned int t = 0; t < THREADS; t++) {
		const struct recorder *r = &recorders[t];

		memcpy(h.ops + h.nr_ops, r->ops, r->nr_ops * sizeof(*h.ops));
		h.nr_ops += r->nr_ops;
		for (uint32_t i = 0; i < nr_each; i++)
			h.xacts[i * THREADS + t] = r->xacts[i];
	}
	ok = serial_check(&h, why, sizeof(why));
	if (!ok)
		printf("not serializable: %s\n", why);
	free(h.ops);
	free(h.xacts);
	return ok;
}

static bool check_content(void)
{
	struct client clients[THREADS];
	char why[CHECK_TEXT];

	clear_versions();
	for (unsigned int i = 0; i < THREADS; i++)
		clients[i] = recorders[i].client;
	if (check_integrity(&sm, why, sizeof(why)) &&
	    verify_content(&sm, clients, THREADS, why, sizeof(why)))
		return true;
	printf("wrong content: %s\n", why);
	return false;
}

static void run_all(uint64_t seed)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&together, NULL, THREADS);
	for (unsigned int i = 0; i < THREADS; i++) {
		struct recorder *r = &recorders[i];

		client_init(&r->client, &sm, i, &draws, seed);
		rng_seed(&r->rng, seed, THREADS + i);
		r->xacts = serial_memory(nr_each, sizeof(*r->xacts));
		r->ops = serial_memory(nr_each * OPS_MAX, sizeof(*r->ops));
		if (pthread_create(&threads[i], NULL, run, r))
			exit(2);
	}
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&together);
}

/* --NAME=VALUE. Returns false if it is wrong. */
static bool option(char *arg, bool *inherit)
{
	char *value = strchr(arg, '=');

	if (strncmp(arg, "--", 2) || !value)
		return false;
	*value++ = '\0';
	if (strcmp(arg, "--sli"))
		return !latch_option(arg + 2, value);
	*inherit = strcmp(value, "off");
	return true;
}

int main(int argc, char **argv)
{
	struct sm_options opts = schema_options(SUBSCRIBERS, 7, 1);
	unsigned int committed = 0, inserted = 0;
	uint64_t seed, deadlocks = 0, invalidated = 0, elided = 0;
	bool ok;

	opts.inherit = true;
	for (int i = 1; i < argc - 2; i++)
		if (!option(argv[i], &opts.inherit))
			argc = 0;
	if (argc < 3 || !(nr_each = strtoull(argv[argc - 1], NULL, 10) / THREADS)) {
		fprintf(stderr, "usage: serial [--OPTION=VALUE]... SEED TRANSACTIONS\n");
		return 2;
	}
	seed = strtoull(argv[argc - 2], NULL, 10);
	latch_setup();
	opts.frames = opts.pages = 512;
	opts.log = (struct log_options){ .group = true, .threads = THREADS };
	if (sm_create(&sm, &opts) || populate(&sm, NULL))
		return 2;
	load_entries();
	run_all(seed);
	ok = check_history() && check_content();
	for (unsigned int i = 0; i < THREADS; i++) {
		const struct recorder *r = &recorders[i];

		deadlocks += r->client.x->locks->counts.deadlocks;
		invalidated += r->client.x->locks->counts.invalidated;
		for (uint32_t x = 0; x < nr_each; x++)
			committed += r->xacts[x].committed;
		for (size_t op = 0; op < r->nr_ops; op++)
			inserted += r->ops[op].write && r->ops[op].item >> 56 == NR_TABLES;
		free(r->xacts);
		free(r->ops);
		client_free(&recorders[i].client);
	}
	for (unsigned int i = 0; i < NR_LATCH_ROLES; i++)
		elided += latch_counts(i).elided;
	printf("seed=%llu committed=%u deadlocks=%llu invalidated=%llu forwardings=%u "
	       "elided=%llu %s\n",
	       (unsigned long long)seed, committed, (unsigned long long)deadlocks,
	       (unsigned long long)invalidated, inserted, (unsigned long long)elided,
	       ok ? "ok" : "FAILED");
	sm_destroy(&sm);
	return !ok;
}

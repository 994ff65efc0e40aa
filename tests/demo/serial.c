// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * serial.c - are the transactions of TATP strictly serializable?
 *
 *	serial [--LATCH-OPTION=VALUE]... [--sli=off] SEED TRANSACTIONS
 *
 * Threads run transactions on few subscribers. Each one is one to three transactions of TATP that
 * hold their locks until the last one has ended: so a row and a range are read more than once,
 * and in any order. Each access is recorded (see serial-record.c).
 *
 * At the end the content is compared with the journals, too. Exit 0 passed, 1 failed, 2 usage.
 */
#include "serial-record.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

/* Of the parts, one in this many is a scan. */
#define SCAN_ONE_IN 12

static struct draws draws = { .subscribers = SUBSCRIBERS, .only = NR_TRANSACTIONS };
static struct recorder recorders[THREADS];
static uint64_t nr_each;
static pthread_barrier_t together;

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
			unsigned int type = 1 + i / NR_STARTS, start = 8 * (i % NR_STARTS);
			uint64_t key = forwarding_key(s, type, start), rid;
			bool there = btree_lookup(&sm.trees[CALL_FORWARDING_KEY], key, &rid);

			*entry_version(key) = there;
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

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_tatp_lock.c - the lock manager of tatp_bench: modes, queues, deadlocks, and speculative
 * lock inheritance with delays at its numbered points.
 *
 * The lock manager is compiled into the test, with its points.
 */
#define SLI_POINTS
#include "../../demo/tatp/sli-point.h"

/* So that no second look finds a deadlock while the thread that closes it is about to. */
static unsigned int wait_ns = 20000000;
#define WAIT_NS wait_ns
#include "../../demo/tatp/lock.c"
#include "../../demo/tatp/sli.c"

#include "tatp.h"

#include <sched.h>
#include <time.h>

#define STORE 1
#define RID 0x20003

static struct lock_manager manager;
static struct lock_client *clients[16];

static void create(unsigned int nr, bool inherit)
{
	assert_int_equal(lock_manager_init(&manager, nr, inherit), 0);
	for (unsigned int i = 0; i < nr; i++) {
		clients[i] = lock_client_new(&manager);
		assert_non_null(clients[i]);
	}
}

static void destroy(void)
{
	assert_true(lock_at_rest(&manager));
	lock_manager_destroy(&manager);
}

/* What the thread at a point does; see the tests of inheritance. */
static struct {
	bool on;
	enum sli_points at;
	unsigned int reached, go;
} stop;

/* Per cent of the passages of a point that yield the processor, and its random numbers. */
static unsigned int yields;
static __thread struct rng yield_rng;

void sli_point(enum sli_points point)
{
	if (yields && rng_below(&yield_rng, 100) < yields)
		sched_yield();
	if (!__atomic_load_n(&stop.on, __ATOMIC_ACQUIRE) || stop.at != point)
		return;
	__atomic_store_n(&stop.on, false, __ATOMIC_RELEASE);
	__atomic_store_n(&stop.reached, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&stop.go, __ATOMIC_ACQUIRE))
		sched_yield();
}

/* Each mode beside each other one, of two transactions. */
static void test_matrix(void **state)
{
	/* Rows: the requested mode; columns: the granted mode. */
	static const char *const granted[NR_LOCK_MODES] = {
		[LOCK_IS] = "yyyynn", [LOCK_IX] = "yynnnn",  [LOCK_S] = "ynynnn",
		[LOCK_SIX] = "ynnnnn", [LOCK_U] = "ynynnn", [LOCK_X] = "nnnnnn",
	};
	uint64_t id = lock_id(LOCK_TABLE, STORE, 0, 0);

	create(2, false);
	for (enum lock_mode held = LOCK_IS; held < NR_LOCK_MODES; held++) {
		for (enum lock_mode asked = LOCK_IS; asked < NR_LOCK_MODES; asked++) {
			int err;

			assert_int_equal(lock_acquire(clients[0], id, held, false, NULL, NULL), 0);
			err = lock_acquire(clients[1], id, asked, false, NULL, NULL);
			assert_int_equal(err, granted[asked][held - 1] == 'y' ? 0 : -EAGAIN);
			assert_int_equal(lock_held(clients[1], id), err ? LOCK_NL : asked);
			lock_end(clients[0]);
			lock_end(clients[1]);
		}
	}
	destroy();
}

/* The sum of two modes is in the way of all that one of them is in the way of. */
static void test_sums(void **state)
{
	for (enum lock_mode a = LOCK_NL; a < NR_LOCK_MODES; a++) {
		assert_int_equal(lock_sum(a, a), a);
		for (enum lock_mode b = LOCK_NL; b < NR_LOCK_MODES; b++) {
			enum lock_mode sum = lock_sum(a, b);

			assert_int_equal(sum, lock_sum(b, a));
			for (enum lock_mode c = LOCK_NL; c < NR_LOCK_MODES; c++) {
				assert_int_equal(lock_sum(sum, c), lock_sum(a, lock_sum(b, c)));
				if (lock_compatible(c, sum))
					assert_true(lock_compatible(c, a) && lock_compatible(c, b));
				if (lock_compatible(sum, c))
					assert_true(lock_compatible(a, c) && lock_compatible(b, c));
			}
		}
	}
}

/* A row is announced above it; a stronger mode of the row strengthens that. */
static void test_hierarchy(void **state)
{
	static const struct {
		enum lock_mode row, above;
	} modes[] = { { LOCK_S, LOCK_IS }, { LOCK_U, LOCK_IX }, { LOCK_X, LOCK_IX } };

	create(2, false);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(lock_row(clients[0], STORE, RID, modes[i].row, true), 0);
		assert_int_equal(lock_held(clients[0], lock_id(LOCK_ROW, STORE, 2, 3)),
				 modes[i].row);
		assert_int_equal(lock_held(clients[0], lock_id(LOCK_PAGE, STORE, 2, 0)),
				 modes[i].above);
		assert_int_equal(lock_held(clients[0], lock_id(LOCK_TABLE, STORE, 0, 0)),
				 modes[i].above);
		assert_int_equal(lock_held(clients[0], lock_id(LOCK_DATABASE, 0, 0, 0)),
				 modes[i].above);
	}
	assert_int_equal(clients[0]->nr_requests, 4);
	/* More rows than the table of requests has slots. */
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(lock_row(clients[0], STORE, RID + i * 25, LOCK_S, true), 0);
	assert_int_equal(lock_held(clients[0], lock_id(LOCK_ROW, STORE, 2, 3)), LOCK_X);
	assert_int_equal(lock_row(clients[1], STORE, RID + 25, LOCK_X, false), -EAGAIN);
	lock_end(clients[0]);
	assert_int_equal(lock_row(clients[1], STORE, RID + 25, LOCK_X, false), 0);
	lock_end(clients[1]);
	destroy();
}

/* Waits in a thread of its own. */
struct waiter {
	pthread_t thread;
	struct lock_client *client;
	uint64_t id;
	enum lock_mode mode;
	int err;
	unsigned int done;
};

static void *waits(void *arg)
{
	struct waiter *w = arg;

	w->err = lock_acquire(w->client, w->id, w->mode, true, NULL, NULL);
	__atomic_store_n(&w->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void start(struct waiter *w, unsigned int client, unsigned int slot, enum lock_mode mode)
{
	*w = (struct waiter){ .client = clients[client], .mode = mode,
			      .id = lock_id(LOCK_ROW, STORE, 1, slot) };
	assert_int_equal(pthread_create(&w->thread, NULL, waits, w), 0);
}

/* Until its thread sleeps, or has begun to wait. */
static void await_waiting(const struct waiter *w)
{
	while (!__atomic_load_n(&w->client->waiting, __ATOMIC_ACQUIRE))
		sched_yield();
}

/* Until its thread sleeps: it has looked for a deadlock, and found none. */
static void await_asleep(const struct waiter *w)
{
	while (!__atomic_load_n(&w->client->sleeping, __ATOMIC_ACQUIRE))
		sched_yield();
}

static int join(struct waiter *w)
{
	pthread_join(w->thread, NULL);
	return w->err;
}

static int lock_slot(unsigned int client, unsigned int slot, enum lock_mode mode)
{
	return lock_acquire(clients[client], lock_id(LOCK_ROW, STORE, 1, slot), mode, true, NULL,
			    NULL);
}

/* First come, first served: a reader waits behind a writer that waits. Conversions go ahead. */
static void test_queue(void **state)
{
	struct waiter x, s, convert;

	create(4, false);
	assert_int_equal(lock_slot(0, 1, LOCK_S), 0);
	assert_int_equal(lock_slot(1, 1, LOCK_S), 0);
	start(&x, 2, 1, LOCK_X);
	await_waiting(&x);
	start(&s, 3, 1, LOCK_S);
	await_waiting(&s);
	start(&convert, 1, 1, LOCK_X);
	await_waiting(&convert);
	assert_int_equal(x.done + s.done + convert.done, 0);
	lock_end(clients[0]);
	assert_int_equal(join(&convert), 0);
	assert_int_equal(x.done + s.done, 0);
	lock_end(clients[1]);
	assert_int_equal(join(&x), 0);
	assert_int_equal(s.done, 0);
	lock_end(clients[2]);
	assert_int_equal(join(&s), 0);
	lock_end(clients[3]);
	destroy();
}

/* A cycle of @nr transactions; the last one that begins to wait finds it. */
static void cycle(unsigned int nr)
{
	struct waiter w[8];

	create(nr, false);
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(lock_slot(i, i, LOCK_X), 0);
	for (unsigned int i = 0; i + 1 < nr; i++) {
		start(&w[i], i, i + 1, LOCK_X);
		await_asleep(&w[i]);
	}
	assert_int_equal(lock_slot(nr - 1, 0, LOCK_X), -EDEADLK);
	assert_int_equal(clients[nr - 1]->counts.deadlocks, 1);
	for (unsigned int i = nr; i-- > 0;) {
		lock_end(clients[i]);
		if (i)
			assert_int_equal(join(&w[i - 1]), 0);
	}
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(clients[i]->counts.deadlocks, i == nr - 1);
	destroy();
}

static void test_deadlock(void **state)
{
	struct waiter w;

	wait_ns = 2000000000;
	for (unsigned int nr = 2; nr <= 8; nr++)
		cycle(nr);
	/* Two that read and want to write wait for each other. */
	create(2, false);
	assert_int_equal(lock_slot(0, 1, LOCK_S), 0);
	assert_int_equal(lock_slot(1, 1, LOCK_S), 0);
	start(&w, 0, 1, LOCK_X);
	await_asleep(&w);
	assert_int_equal(lock_slot(1, 1, LOCK_X), -EDEADLK);
	assert_int_equal(lock_held(clients[1], lock_id(LOCK_ROW, STORE, 1, 1)), LOCK_S);
	lock_end(clients[1]);
	assert_int_equal(join(&w), 0);
	lock_end(clients[0]);
	/* With U the second one waits before it reads. */
	assert_int_equal(lock_slot(0, 1, LOCK_U), 0);
	start(&w, 1, 1, LOCK_U);
	await_asleep(&w);
	assert_int_equal(lock_slot(0, 1, LOCK_X), 0);
	lock_end(clients[0]);
	assert_int_equal(join(&w), 0);
	lock_end(clients[1]);
	/* A line is no cycle. */
	assert_int_equal(lock_slot(0, 1, LOCK_X), 0);
	start(&w, 1, 1, LOCK_S);
	await_asleep(&w);
	lock_end(clients[0]);
	assert_int_equal(join(&w), 0);
	lock_end(clients[1]);
	destroy();
	wait_ns = 20000000;
}

#define TABLE lock_id(LOCK_TABLE, STORE, 0, 0)
#define DATABASE lock_id(LOCK_DATABASE, 0, 0, 0)

/* What is left to the next transaction, and what is not. */
static void test_inherit(void **state)
{
	struct lock_client *a;

	create(2, true);
	a = clients[0];
	assert_int_equal(lock_row(a, STORE, RID, LOCK_S, true), 0);
	lock_end(a);
	/* The database and the table; the page is not hot. */
	assert_int_equal(a->counts.inherited, 2);
	assert_int_equal(a->nr_requests, 2);
	assert_int_equal(lock_held(a, TABLE), LOCK_NL);
	assert_int_equal(lock_row(a, STORE, RID, LOCK_S, true), 0);
	assert_int_equal(a->counts.reused, 2);
	assert_int_equal(a->counts.acquired, 6);
	/* A page whose head is hot. */
	a->list[2]->head->heat = 250;
	a->list[3]->head->heat = 250;
	lock_end(a);
	assert_int_equal(a->nr_requests, 3);
	assert_int_equal(lock_row(a, STORE, RID, LOCK_X, true), 0);
	assert_int_equal(a->counts.reused, 5);
	assert_int_equal(lock_held(a, lock_id(LOCK_PAGE, STORE, 2, 0)), LOCK_IX);
	lock_end(a);
	/* The page was not hot any more, and is left out when it is not used. */
	assert_int_equal(lock_table(a, STORE + 1, LOCK_IS), 0);
	lock_end(a);
	assert_int_equal(lock_table(a, STORE, LOCK_X), 0);
	lock_end(a);
	assert_int_equal(lock_held(a, TABLE), LOCK_NL);
	/* X is not left to anybody: another one gets it at once. */
	assert_int_equal(lock_acquire(clients[1], TABLE, LOCK_X, false, NULL, NULL), 0);
	lock_end(clients[1]);
	destroy();
}

/* An inherited lock that is in the way is invalidated; one that is not in the way stays. */
static void test_invalidate(void **state)
{
	create(2, true);
	assert_int_equal(lock_table(clients[0], STORE, LOCK_IX), 0);
	lock_end(clients[0]);
	assert_int_equal(lock_acquire(clients[1], DATABASE, LOCK_IS, false, NULL, NULL), 0);
	assert_int_equal(lock_acquire(clients[1], TABLE, LOCK_S, false, NULL, NULL), 0);
	/* The owner's next transaction has to wait for it now. */
	assert_int_equal(lock_acquire(clients[0], DATABASE, LOCK_IX, false, NULL, NULL), 0);
	assert_int_equal(clients[0]->counts.reused, 1);
	assert_int_equal(lock_acquire(clients[0], TABLE, LOCK_IX, false, NULL, NULL), -EAGAIN);
	assert_int_equal(clients[0]->counts.invalidated, 1);
	lock_end(clients[1]);
	assert_int_equal(lock_acquire(clients[0], TABLE, LOCK_IX, false, NULL, NULL), 0);
	lock_end(clients[0]);
	destroy();
}

/* Two transactions of a client that read a table, the first one of which leaves it. */
static void *two_readers(void *arg)
{
	unsigned int *saw = arg;

	for (unsigned int i = 0; i < 2; i++) {
		lock_table(clients[0], STORE, LOCK_S);
		saw[i] = __atomic_load_n(&saw[2], __ATOMIC_ACQUIRE);
		lock_end(clients[0]);
	}
	return NULL;
}

static void *writer(void *arg)
{
	unsigned int *saw = arg;

	lock_table(clients[1], STORE, LOCK_X);
	/* While it has the table no reader is there, so a reader sees 0 or 2. */
	__atomic_store_n(&saw[2], 1, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < 100; i++)
		sched_yield();
	__atomic_store_n(&saw[2], 2, __ATOMIC_RELEASE);
	lock_end(clients[1]);
	return NULL;
}

static void until(const unsigned int *word)
{
	/* 5 s: where a point is not reached in this order of events, the test goes on without. */
	for (unsigned int i = 0; i < 500 && !__atomic_load_n(word, __ATOMIC_ACQUIRE); i++)
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
}

/* One of the two is held at a point until the other one has ended, waits, or had 50 ms. */
static void race(enum sli_points at, bool writer_stops)
{
	unsigned int saw[3] = { 0 };
	pthread_t reader, write;

	create(2, true);
	/* A writer that is stopped finds an inherited lock, or there is nothing to stop at. */
	if (writer_stops) {
		lock_table(clients[0], STORE, LOCK_S);
		lock_end(clients[0]);
	}
	stop.at = at;
	stop.reached = stop.go = 0;
	__atomic_store_n(&stop.on, true, __ATOMIC_RELEASE);
	assert_int_equal(pthread_create(writer_stops ? &write : &reader, NULL,
					writer_stops ? writer : two_readers, saw), 0);
	until(&stop.reached);
	assert_true(stop.reached);
	assert_int_equal(pthread_create(writer_stops ? &reader : &write, NULL,
					writer_stops ? two_readers : writer, saw), 0);
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	__atomic_store_n(&stop.go, 1, __ATOMIC_RELEASE);
	pthread_join(reader, NULL);
	pthread_join(write, NULL);
	assert_int_equal(saw[2], 2);
	assert_int_not_equal(saw[0], 1);
	assert_int_not_equal(saw[1], 1);
	destroy();
}

static void test_races(void **state)
{
	race(SLI_LEAVING, false);
	race(SLI_LEFT, false);
	race(SLI_REUSING, false);
	race(SLI_WAITING, true);
	race(SLI_INVALIDATING, true);
}

/* A page that was left and is not used: released by its owner or invalidated. */
static void *discard(void *arg)
{
	lock_table(clients[0], STORE, LOCK_IS);
	lock_end(clients[0]);
	return NULL;
}

static void test_discard_race(void **state)
{
	for (unsigned int invalidated = 0; invalidated < 2; invalidated++) {
		uint64_t page = lock_id(LOCK_PAGE, STORE, 2, 0);
		struct lock_request *r;
		pthread_t owner;

		create(2, true);
		assert_int_equal(lock_row(clients[0], STORE, RID, LOCK_S, true), 0);
		r = clients[0]->list[2];
		assert_true(r->id == page);
		r->head->heat = 256;
		lock_end(clients[0]);
		assert_int_equal(clients[0]->nr_requests, 3);
		stop.at = SLI_DISCARDING;
		stop.reached = stop.go = 0;
		__atomic_store_n(&stop.on, true, __ATOMIC_RELEASE);
		assert_int_equal(pthread_create(&owner, NULL, discard, NULL), 0);
		until(&stop.reached);
		assert_true(stop.reached);
		if (invalidated)
			assert_int_equal(lock_acquire(clients[1], page, LOCK_X, false, NULL, NULL),
					 0);
		__atomic_store_n(&stop.go, 1, __ATOMIC_RELEASE);
		pthread_join(owner, NULL);
		assert_int_equal(clients[0]->counts.discarded, !invalidated);
		assert_int_equal(clients[0]->counts.invalidated, invalidated);
		assert_int_equal(clients[0]->nr_requests, 2);
		lock_end(clients[1]);
		destroy();
	}
}

/* What the locks of the torture guard: rows, and the sum of a table's rows. */
#define ROWS 6

static struct {
	uint64_t rows[2][ROWS];
	uint64_t bad;
} guarded;

/* Lock and change a row, or read a table, or change all of it. */
static int torture_step(struct lock_client *a, struct rng *rng, uint64_t *sum)
{
	unsigned int table = (unsigned int)rng_below(rng, 2);
	unsigned int row = (unsigned int)rng_below(rng, ROWS);
	unsigned int what = (unsigned int)rng_below(rng, 20);
	uint64_t *rows = guarded.rows[table];
	int err;

	if (what < 14) {
		err = lock_row(a, table, rid_of(row / 2 + 1, row % 2), LOCK_U, true);
		if (!err && what < 10)
			err = lock_row(a, table, rid_of(row / 2 + 1, row % 2), LOCK_X, true);
		if (!err && what < 10)
			rows[row] += 2;
		*sum += !err && what < 10 ? 2 : 0;
	} else if (what < 19) {
		err = lock_table(a, table, LOCK_S);
		for (unsigned int i = 0; i < ROWS && !err; i++)
			if (rows[i] % 2)
				__atomic_store_n(&guarded.bad, 1, __ATOMIC_RELAXED);
	} else {
		err = lock_table(a, table, LOCK_X);
		for (unsigned int i = 0; i < ROWS && !err; i++)
			rows[i]++;
		for (unsigned int i = 0; i < ROWS && !err; i++)
			rows[i]++;
		*sum += err ? 0 : 2 * ROWS;
	}
	return err;
}

static uint64_t changes[TATP_THREADS];

static void *torture(void *arg)
{
	struct test_thread *t = arg;
	struct rng rng;

	rng_seed(&rng, *(uint64_t *)t->arg, t->nr);
	rng_seed(&yield_rng, *(uint64_t *)t->arg, t->nr + 100);
	for (unsigned int i = 0; i < 15000; i++) {
		for (uint64_t nr = 1 + rng_below(&rng, 3); nr; nr--)
			if (torture_step(clients[t->nr], &rng, &changes[t->nr]))
				break;
		lock_end(clients[t->nr]);
	}
	return NULL;
}

static void test_torture(void **state)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		print_message("seed %llu\n", (unsigned long long)seed);
		memset(&guarded, 0, sizeof(guarded));
		memset(changes, 0, sizeof(changes));
		create(TATP_THREADS, seed % 2);
		yields = 20;
		run_threads(TATP_THREADS, torture, &seed);
		yields = 0;
		assert_int_equal(guarded.bad, 0);
		for (unsigned int i = 0; i < 2 * ROWS; i++)
			changes[0] -= guarded.rows[i / ROWS][i % ROWS];
		for (unsigned int i = 1; i < TATP_THREADS; i++)
			changes[0] += changes[i];
		assert_int_equal(changes[0], 0);
		destroy();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matrix),	   cmocka_unit_test(test_sums),
		cmocka_unit_test(test_hierarchy),  cmocka_unit_test(test_queue),
		cmocka_unit_test(test_deadlock),   cmocka_unit_test(test_inherit),
		cmocka_unit_test(test_invalidate), cmocka_unit_test(test_races),
		cmocka_unit_test(test_discard_race), cmocka_unit_test(test_torture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

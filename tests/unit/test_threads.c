// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_threads.c - blocks of threads that begin and end, beside global-lock paths and at once. Threads
 * beyond MAX_THREADS: they pass through, seldom ask for a block, and get one when a thread has
 * ended. Locks beyond MAX_LOCKS: they are counted by their sites.
 */
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "../../lib/base/datafile-writer.h"
#include "../../lib/elide.h"
#include "../../lib/life/blocks.h"
#include "../../lib/life/fill.h"
#include "../../lib/life/lock.h"
#include "../../lib/life/threads.h"
#include "../../lib/state/gate.h"
#include "../../lib/state/settings.h"
#include "../../lib/state/thread-list.h"
#include "child.h"
#include "own-data.h"

/* ELIDE_MAX_THREADS: the first thread of the process has one of the blocks. */
#define MAX 64

__attribute__((constructor(101))) static void environment(void)
{
	own_data("profile");
	setenv("ELIDE_MAX_THREADS", "64", 1);
	setenv("ELIDE_MAX_LOCKS", "1000", 1);
}

static char lock[64], site[2];
static pthread_barrier_t all_live, may_end;

/* A lock call up to where it is known; has it a block, and a call? */
static bool is_counted(void)
{
	return elide_call_get(lock, site, ELIDE_KIND_MUTEX) != NULL;
}

/* The threads that have all blocks but some, and their Linux ids. */
static pthread_t threads[MAX];
static uint32_t tids[MAX];

/* As the wrapper of pthread_join() does, which cmocka's library does not have. */
static void join(pthread_t thread, uint32_t tid, void **result)
{
	assert_int_equal(pthread_join(thread, result), 0);
	elide_thread_joined((void *)thread, tid);
}

static void *lives(void *tid)
{
	bool counted = is_counted();

	*(uint32_t *)tid = gettid();
	pthread_barrier_wait(&all_live);
	pthread_barrier_wait(&may_end);
	return (void *)(uintptr_t)counted;
}

static void *in_thread(void *(*body)(void *))
{
	pthread_t thread;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, body, NULL), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	return result;
}

static void fill_blocks(int left)
{
	int nr = MAX - 1 - left;

	pthread_barrier_init(&all_live, NULL, nr + 1);
	pthread_barrier_init(&may_end, NULL, nr + 1);
	for (int i = 0; i < nr; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, lives, &tids[i]), 0);
	pthread_barrier_wait(&all_live);
}

static void end_all(int left)
{
	pthread_barrier_wait(&may_end);
	for (int i = 0; i < MAX - 1 - left; i++) {
		void *counted;

		join(threads[i], tids[i], &counted);
		assert_non_null(counted);
	}
}

/* 20 calls of the kernel at most, 8 a time, for 100,000 acquisitions. */
static void *asks_seldom(void *unused)
{
	uint32_t asked = 0, pause = 0;

	for (int i = 0; i < 100000; i++) {
		if (is_counted() || elide_self)
			return NULL;
		asked += elide_refused.pause != pause;
		pause = elide_refused.pause;
	}
	return (void *)(uintptr_t)(asked <= 11 && pause == ELIDE_REFUSED_MOST);
}

static void few_questions(void **state)
{
	uint64_t before = elide_data->dropped[ELIDE_DROPPED_THREADS];

	fill_blocks(0);
	assert_non_null(in_thread(asks_seldom));
	assert_non_null(in_thread(asks_seldom));
	/* Each thread is counted once. */
	assert_int_equal(elide_data->dropped[ELIDE_DROPPED_THREADS] - before, 2);
	end_all(0);
}

static pthread_barrier_t refused, freed;

static void *gets_one_later(void *tid)
{
	bool counted = is_counted();

	*(uint32_t *)tid = gettid();
	if (counted || elide_self)
		return NULL;
	pthread_barrier_wait(&refused);
	pthread_barrier_wait(&freed);
	for (int i = 0; i <= ELIDE_REFUSED_FIRST && !counted; i++)
		counted = is_counted();
	return (void *)(uintptr_t)(counted && elide_self && !elide_refused.left);
}

static void block_is_found(void **state)
{
	pthread_t thread;
	uint32_t tid;
	void *ok;

	pthread_barrier_init(&refused, NULL, 2);
	pthread_barrier_init(&freed, NULL, 2);
	fill_blocks(0);
	assert_int_equal(pthread_create(&thread, NULL, gets_one_later, &tid), 0);
	pthread_barrier_wait(&refused);
	end_all(0);
	pthread_barrier_wait(&freed);
	join(thread, tid, &ok);
	assert_non_null(ok);
}

/* Of the child all blocks are free. */
static void *child_is_counted(void *unused)
{
	int status = 1;
	pid_t pid;

	if (is_counted() || !elide_refused.left)
		return NULL;
	pid = fork();
	if (!pid) {
		check(is_counted());
		check(!unlink(elide_data_path()));
		_exit(0);
	}
	return (void *)(uintptr_t)(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
}

static void fork_frees(void **state)
{
	fill_blocks(0);
	assert_non_null(in_thread(child_is_counted));
	end_all(0);
}

static void *tells_tid(void *tid)
{
	bool counted = is_counted();

	__atomic_store_n((int *)tid, counted ? gettid() : -1, __ATOMIC_RELEASE);
	return NULL;
}

/*
 * All threads but one live long, and nobody joins the last, as there are many after another: each
 * has the block of the one before, though a new thread asks for a few of the 64 only.
 */
static void youngest_are_asked(void **state)
{
	pthread_attr_t detached;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	fill_blocks(1);
	for (int i = 0; i < 20; i++) {
		pthread_t thread;
		int tid = 0, now;

		assert_int_equal(pthread_create(&thread, &detached, tells_tid, &tid), 0);
		while (!(now = __atomic_load_n(&tid, __ATOMIC_ACQUIRE)))
			usleep(100);
		assert_int_not_equal(now, -1);
		while (!syscall(SYS_tgkill, getpid(), now, 0))
			usleep(100);
	}
	end_all(1);
}

/* How often a detached thread begins after another has ended. */
#define NR_DETACHED 300

/* The kernel tells that they have ended: no block is made for each. */
static void detached_leave_blocks(void **state)
{
	uint32_t before = elide_blocks_nr();
	pthread_attr_t detached;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < NR_DETACHED; i++) {
		pthread_t thread;
		int tid = 0, now;

		assert_int_equal(pthread_create(&thread, &detached, tells_tid, &tid), 0);
		while (!(now = __atomic_load_n(&tid, __ATOMIC_ACQUIRE)))
			usleep(100);
		assert_int_not_equal(now, -1);
		assert_true(elide_ending_is_known(&elide_thread_of(now)->ending));
		while (!syscall(SYS_tgkill, getpid(), now, 0))
			usleep(100);
		assert_true(elide_ending_is_over(&elide_thread_of(now)->ending));
	}
	/* A quarter of them, and one more. */
	assert_in_range(elide_blocks_nr(), before, before + before / 4 + 2);
}

/* Blocks taken and left by many threads at once: none is lost, and none is two threads'. */
#define NR_TAKERS 4
#define NR_TAKES  50000

static void *takes_blocks(void *unused)
{
	for (int i = 0; i < NR_TAKES; i++) {
		struct elide_thread *t[2] = {elide_block_pop(), elide_block_pop()};

		for (int k = 0; k < 2; k++)
			if (t[k] && __atomic_exchange_n(&t[k]->joining, true, __ATOMIC_ACQ_REL))
				return "two threads have one block";
		for (int k = 0; k < 2; k++) {
			if (!t[k])
				continue;
			__atomic_store_n(&t[k]->joining, false, __ATOMIC_RELEASE);
			elide_block_push(t[k]);
		}
	}
	return NULL;
}

static void blocks_at_once(void **state)
{
	struct elide_thread *all[MAX + 1];
	uint32_t left, nr = 0;

	fill_blocks(MAX - 9);
	end_all(MAX - 9);
	left = elide_blocks_left();
	assert_true(left >= 8);
	for (int i = 0; i < NR_TAKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, takes_blocks, NULL), 0);
	for (int i = 0; i < NR_TAKERS; i++) {
		void *why;

		assert_int_equal(pthread_join(threads[i], &why), 0);
		assert_null(why);
	}
	assert_int_equal(elide_blocks_left(), left);
	while (nr <= MAX && (all[nr] = elide_block_pop()))
		nr++;
	assert_int_equal(nr, left);
	while (nr--)
		elide_block_push(all[nr]);
}

/* Locks at a site for which there is room, and then one of another site. */
static char many[4096][64], other_site[2];

/* Is that the call of locks beyond the bound? */
static bool is_beyond(const struct elide_call *call)
{
	return call && elide_class_info(elide_tag_class(elide_call_tag(call)))->type == ELIDE_CLASS_BEYOND;
}

/* The first lock beyond the bound; ARRAY_SIZE(many): there is none. */
static unsigned int fill_table(void)
{
	const struct elide_call *call;
	unsigned int nr = 0;

	while (nr < ARRAY_SIZE(many) &&
	       (call = elide_call_get(many[nr], site, ELIDE_KIND_MUTEX)) && !is_beyond(call))
		nr++;
	return nr;
}

/* All locks beyond the bound have one call at each site, which is found without a global-lock path. */
static void *locks_beyond(void *unused)
{
	unsigned int nr = fill_table();
	const struct elide_call *call = elide_call_get(many[nr % ARRAY_SIZE(many)], site,
						       ELIDE_KIND_MUTEX);
	uint64_t *dropped = &elide_data->dropped[ELIDE_DROPPED_LOCKS], before;

	if (nr == ARRAY_SIZE(many))
		return "the table of locks has no bound";
	before = *dropped;
	for (unsigned int i = 0; i < 10000; i++)
		if (elide_call_get(many[nr + i % 100], site, ELIDE_KIND_MUTEX) != call)
			return "a lock beyond the bound has another call";
	if (*dropped - before > 100)
		return "each acquisition of a lock beyond the bound is a global-lock path";
	if (elide_call_get(many[nr], other_site, ELIDE_KIND_MUTEX) == call)
		return "two sites have one call";
	if (is_beyond(elide_call_get(many[0], other_site, ELIDE_KIND_MUTEX)))
		return "a lock that has room is not found at another site";
	for (unsigned int i = 0; i < 8; i++)
		if (is_beyond(elide_call_get(many[i], site, ELIDE_KIND_MUTEX)))
			return "a lock that has room is not found";
	return call->row && call->row->state == ELIDE_STATE_PROFILED ? NULL : "it may be elided";
}

static void beyond_have_a_call(void **state)
{
	assert_null(in_thread(locks_beyond));
}

/* What is destroyed makes room for a lock that was beyond the bound. */
static void *room_is_found(void *unused)
{
	unsigned int nr = fill_table();

	if (nr == ARRAY_SIZE(many))
		return "the table of locks has no bound";
	for (unsigned int i = 0; i < 10; i++)
		elide_lock_gone(many[i]);
	for (unsigned int i = 0; i < 100000; i++)
		if (!is_beyond(elide_call_get(many[nr], site, ELIDE_KIND_MUTEX)))
			return NULL;
	return "room is not found";
}

static void room_again(void **state)
{
	assert_null(in_thread(room_is_found));
}

/* What stands for a block where there is none is as aligned as one: instrumented builds check that. */
static void *has_no_block(void *unused)
{
	bool aligned = !((uintptr_t)elide_self_fast % _Alignof(struct elide_thread));

	return (void *)(uintptr_t)(!elide_self && elide_self_fast && aligned);
}

static void no_block_is_aligned(void **state)
{
	assert_non_null(in_thread(has_no_block));
}

/*
 * Calls that the first thread has made, so that they are known. A block has 4 rows in its first
 * chunk, of which one may be that of @site.
 */
#define NR_KNOWN 3

static char known[NR_KNOWN];

static void make_known(void)
{
	for (int i = 0; i < NR_KNOWN; i++)
		assert_non_null(elide_call_get(lock, &known[i], ELIDE_KIND_MUTEX));
}

/* Another thread is in a global-lock path for that long at most, in units of 1 ms. */
#define PATIENCE 20000

static bool entered, may_leave, left_in_time;

static void stays(void *unused)
{
	__atomic_store_n(&entered, true, __ATOMIC_RELEASE);
	for (int i = 0; i < PATIENCE && !left_in_time; i++) {
		usleep(1000);
		left_in_time = __atomic_load_n(&may_leave, __ATOMIC_ACQUIRE);
	}
}

static void *stays_in_global_path(void *unused)
{
	return (void *)(uintptr_t)elide_global_run(stays, NULL);
}

/*
 * The thread begins, too, while another one is in a global-lock path: there is a block that no thread
 * has.
 */
static void *makes_known_calls(void *unused)
{
	const void *call;
	pthread_t other;
	void *ran;

	entered = may_leave = left_in_time = false;
	if (pthread_create(&other, NULL, stays_in_global_path, NULL))
		return NULL;
	while (!__atomic_load_n(&entered, __ATOMIC_ACQUIRE))
		usleep(1000);
	call = elide_call_get(lock, &known[0], ELIDE_KIND_MUTEX);
	for (int i = 1; i < NR_KNOWN; i++)
		call = call ? elide_call_get(lock, &known[i], ELIDE_KIND_MUTEX) : NULL;
	__atomic_store_n(&may_leave, true, __ATOMIC_RELEASE);
	pthread_join(other, &ran);
	return (void *)(uintptr_t)(call && ran && left_in_time);
}

/* A call that another thread has made, and the begin of a thread, wait for no global-lock path. */
static void known_call_waits_not(void **state)
{
	make_known();
	/*
	 * Twice: the record of past threads of that name is made by the first one that has the
	 * block of another.
	 */
	for (int i = 0; i < 2; i++) {
		fill_blocks(MAX / 2);
		end_all(MAX / 2);
	}
	assert_non_null(in_thread(makes_known_calls));
}

#define NR_AT_ONCE 16

static void *makes_all(void *tid)
{
	bool counted = true;

	*(uint32_t *)tid = gettid();
	pthread_barrier_wait(&all_live);
	for (int i = 0; i < NR_KNOWN; i++)
		counted &= elide_call_get(lock, &known[i], ELIDE_KIND_MUTEX) != NULL;
	counted &= elide_self && elide_self->nr_calls >= NR_KNOWN;
	pthread_barrier_wait(&all_live);
	return (void *)(uintptr_t)counted;
}

/* The records of all chunks of rows, which threads have made at once. */
static uint32_t count_rows(void)
{
	uint32_t nr = 0;

	for (size_t at = ELIDE_HEADER_SIZE; at < elide_data->size; at += ELIDE_CHUNK_SIZE) {
		const struct elide_chunk *c = (void *)((char *)elide_data + at);

		nr += c->type == ELIDE_CHUNK_ROWS ? c->nr_records : 0;
	}
	return nr;
}

static void rows_at_once(void **state)
{
	make_known();
	for (int round = 0; round < 4; round++) {
		pthread_barrier_init(&all_live, NULL, NR_AT_ONCE);
		for (int i = 0; i < NR_AT_ONCE; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, makes_all, &tids[i]), 0);
		for (int i = 0; i < NR_AT_ONCE; i++) {
			void *counted;

			join(threads[i], tids[i], &counted);
			assert_non_null(counted);
		}
		assert_int_equal(elide_data->nr_records[ELIDE_CHUNK_ROWS], count_rows());
	}
}

static int setup(void **state)
{
	/* Begins the engine. */
	elide_status(NULL);
	return !elide_process.running || !is_counted();
}

static int teardown(void **state)
{
	return unlink(elide_data_path());
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_call_waits_not),
		cmocka_unit_test(rows_at_once),
		cmocka_unit_test(detached_leave_blocks),
		cmocka_unit_test(blocks_at_once),
		cmocka_unit_test(few_questions),
		cmocka_unit_test(block_is_found),
		cmocka_unit_test(fork_frees),
		cmocka_unit_test(youngest_are_asked),
		cmocka_unit_test(no_block_is_aligned),
		cmocka_unit_test(beyond_have_a_call),
		cmocka_unit_test(room_again),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

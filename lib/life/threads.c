/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * threads.c - birth and end of threads: who has which block, and what a thread leaves behind.
 *
 * Everything here runs outside transactions.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../adapt/measure.h"
#include "../base/syscalls.h"
#include "../base/testpoint.h"
#include "../check/exit-held.h"
#include "../evidence/address.h"
#include "../evidence/evidence.h"
#include "../evidence/spans.h"
#include "../evidence/pmu.h"
#include "../state/call.h"
#include "../state/gate.h"
#include "../state/holds.h"
#include "../state/settings.h"
#include "../state/thread-list.h"
#include "../state/thread-record.h"
#include "../state/tid.h"
#include "../state/wiped.h"
#include "blocks.h"
#include "lock.h"
#include "threads.h"

/* The help of the cause nesting in aborts.def names these two numbers. */
_Static_assert(ELIDE_MAX_HELD == 16 && ELIDE_MAX_PENDING == 64, "see aborts.def");

/*
 * Before further blocks are made, MAX_LOOKS blocks are tested for a thread that has ended. Each search that
 * finds none halves the number of the next one, down to MIN_LOOKS. A search that finds one sets it back to
 * MAX_LOOKS. Where ELIDE_MAX_THREADS allows no further blocks it is always MAX_LOOKS. So up to a quarter of
 * all blocks may belong to threads that have ended. Both numbers are chosen here: a test takes two cache
 * misses.
 */
#define MAX_LOOKS 64
#define MIN_LOOKS 4

static uint32_t nr_looks = MAX_LOOKS;

/* Of these, blocks whose test takes a system call: elide_ending_is_known(). */
#define MAX_CALLS 4

static struct elide_thread *look; /* the next block to be tested; NULL: the first */

/*
 * Once there are FEW_BLOCKS blocks, a thread that has left at most FEW_LEFT free ones has more made, so
 * that the next threads need not wait for that. Both were chosen here.
 */
#define FEW_BLOCKS 8
#define FEW_LEFT   4

static bool few_left;

/*
 * pthread_join() tells the end of a thread, and the kernel that of a detached one (state/ending.h). A key
 * of thread-specific data would be one of the program's 1,024, and the destructor of a thread-local object
 * acquires the loader's lock. Where the kernel does not tell, tgkill(2) tests whether the thread id
 * exists. Threads of another process that shares this memory (clone() without CLONE_THREAD) count as
 * alive then.
 */
static bool has_ended(const struct elide_thread *t, uint32_t tid)
{
	int pid = t->pid;

	if (elide_ending_is_known(&t->ending))
		return elide_ending_is_over(&t->ending);
	return pid == (int)elide_pid_now() && sys_call(tgkill, pid, tid, 0, 0, 0, 0) &&
	       errno == ESRCH;
}

/*
 * The thread @tid has ended: give its block back, with what it counted. In a global-lock path or not. If
 * several threads have found out, one goes on.
 */
static bool thread_end(struct elide_thread *t, uint32_t tid)
{
	/* Pairs with thread_init(): the block is as the thread has left it. */
	if (!tid || !__atomic_compare_exchange_n(&t->tid, &tid, 0, false, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
		return false;
	if (!t->stale) {
		elide_exit_held(t, tid);
		elide_lock_count(t);
	}
	if (!t->joining && !t->stale)
		elide_active_add(-1);
	t->nr_holds = 0;
	t->due.lock = NULL;
	elide_pmu_close(t->pmu);
	elide_pmu_close(t->loads);
	t->pmu = t->loads = NULL;
	elide_thread_record_end(t);
	t->stack_top = 0;
	test_point(joined_publish);
	elide_block_push(t);
	return true;
}

/* thread_end() if the thread has ended. Return: it has, and this call was the first to find out. */
static bool end_if_ended(struct elide_thread *t)
{
	uint32_t tid = __atomic_load_n(&t->tid, __ATOMIC_ACQUIRE);

	return tid && has_ended(t, tid) && thread_end(t, tid);
}

/* Look for blocks whose threads have ended, in a global-lock path or not. Return: was one found? */
static bool find_ended(void)
{
	uint32_t nr = elide_blocks_full() ? MAX_LOOKS : READ_ONCE(nr_looks), nr_calls = 0;
	bool found = false;

	/* Each once at most. */
	if (nr > elide_blocks_nr())
		nr = elide_blocks_nr();
	for (; nr && nr_calls < MAX_CALLS; nr--) {
		struct elide_thread *t = READ_ONCE(look);

		if (!t && !(t = elide_threads_all()))
			break;
		WRITE_ONCE(look, t->next);
		nr_calls += READ_ONCE(t->tid) && !elide_ending_is_known(&t->ending);
		found |= end_if_ended(t);
	}
	WRITE_ONCE(nr_looks, found ? MAX_LOOKS : nr_looks > MIN_LOOKS ? nr_looks / 2 : MIN_LOOKS);
	return found;
}

void elide_threads_end(void)
{
	for (struct elide_thread *t = elide_threads_all(); t; t = t->next)
		end_if_ended(t);
}

/*
 * elide_self of the thread with that control block, whose memory stays until the thread is joined.
 */
static struct elide_thread *self_of(const void *handle)
{
	const char *self = __builtin_thread_pointer();
	size_t at = (const char *)&elide_self - self;

	return *(struct elide_thread *const *)((const char *)handle + at);
}

void elide_thread_joined(const void *handle, uint32_t tid)
{
	struct elide_thread *t = tid ? elide_thread_of(tid) : self_of(handle);

	test_point(joined_entered);
	if (t && !tid)
		tid = READ_ONCE(t->tid);
	/* If its end was found out before, another thread may have the block by now. */
	if (t && READ_ONCE(t->handle) == handle)
		thread_end(t, tid);
	test_point(joined_done);
}

void elide_thread_look(uint32_t tid)
{
	struct elide_thread *t = elide_thread_of(tid);

	if (!t || t->tid != tid)
		for (t = elide_threads_all(); t && t->tid != tid;)
			t = t->next;
	if (t)
		end_if_ended(t);
}

/* @anew: the thread had the block before, for an earlier data file */
static void thread_init(struct elide_thread *t, uint32_t tid, bool anew)
{
	uint32_t nr = __atomic_add_fetch(&elide_data->nr_threads, 1, __ATOMIC_RELAXED);

	elide_tid_remember(tid);
	WRITE_ONCE(t->handle, __builtin_thread_pointer());
	if (!anew)
		elide_ending_begin(&t->ending, tid);
	t->pid = elide_ending_is_known(&t->ending) ? 0 : elide_pid_now();
	/* Pairs with thread_end(). */
	__atomic_store_n(&t->tid, tid, __ATOMIC_RELEASE);
	elide_thread_known(t);
	t->short_tid = elide_short_way() ? tid : ELIDE_NO_TID;
	t->open = 0;
	/* Differs between threads, and repeats in the next run, unlike thread ids. */
	t->seed = nr * 2654435761u | 1;
	t->sample_seed = t->seed * 0x9e3779b97f4a7c15ull;
	t->first_seen = elide_evidence_first(nr);
	t->postponed_of = NULL;
	t->stack_top = elide_stack_top(tid);
	elide_spans_begin(t);
	elide_thread_record_begin(t);
	t->streak = 0;
	t->nr_holds = 0;
	t->due.lock = NULL;
	t->waits = NULL;
	memset(t->waited, 0, sizeof(t->waited));
	memset(t->posted, 0, sizeof(t->posted));
	t->timed_out = NULL;
	t->joining = false;
	t->seen = cycles_now();
	elide_active_add(1);
	/* The block may still have the counters of its last thread. */
	elide_pmu_close(t->pmu);
	elide_pmu_close(t->loads);
	t->pmu = elide_pmu_open(ELIDE_PMU_ABORTS);
	t->loads = elide_pmu_open(ELIDE_PMU_LOADS);
	t->nr_spins = t->nr_rwlocks = 0;
	t->no_adapt.countdown = 1;
	t->time_weight = 0;
	t->halted = elide_halted();
	adapt_thread_begin(t);
	t->outer = NULL;
	if (elide_process.rtm == ELIDE_RTM_EMULATED)
		rtmgrind_request(RTMGRIND_SECTION, (unsigned long)&t->outer, 0);
	if (!t->listed) {
		t->listed = true;
		elide_threads_add(t);
	}
	t->ready = true;
}

/* There is no block for the calling thread: it asks again after some acquisitions. */
static void refuse(void)
{
	struct elide_refused *r = &elide_refused;

	if (!r->pause && elide_data)
		__atomic_add_fetch(&elide_data->dropped[ELIDE_DROPPED_THREADS], 1, __ATOMIC_RELAXED);
	if (!r->pause)
		r->pause = ELIDE_REFUSED_FIRST;
	else if (r->pause < ELIDE_REFUSED_MOST)
		r->pause *= 2;
	r->left = r->pause;
}

static struct elide_thread *begin(struct elide_thread *t, uint32_t tid)
{
	thread_init(t, tid, false);
	elide_refused = (struct elide_refused){0};
	elide_self = elide_self_fast = t;
	return t;
}

/*
 * Have some free blocks, so that the next threads need no global-lock path: those of threads that have
 * ended, else new ones. In a global-lock path.
 */
static void have_blocks(void)
{
	uint32_t some = elide_blocks_some();

	WRITE_ONCE(few_left, false);
	if (elide_blocks_left() < some)
		find_ended();
	if (elide_blocks_left() < some)
		elide_blocks_make(some - elide_blocks_left());
}

/*
 * Zero a block of an earlier data file, as a fork does, but for what other threads and the kernel follow.
 * In a global-lock path of the thread that has the block, or that has taken it.
 */
static void renew(struct elide_thread *t)
{
	static const size_t kept[][2] = {
		{offsetof(struct elide_thread, next), sizeof(t->next)},
		{offsetof(struct elide_thread, ending), sizeof(t->ending)},
		{offsetof(struct elide_thread, more), sizeof(t->more)},
		{sizeof(*t), 0},
	};
	struct elide_more *more = t->more;
	bool listed = t->listed;
	size_t at = 0;

	if (more)
		elide_wiped_clear(more, sizeof(*more));
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		memset((char *)t + at, 0, kept[i][0] - at);
		at = kept[i][0] + kept[i][1];
	}
	t->listed = listed;
	elide_block_furnish(t);
}

struct elide_thread *elide_thread_get(void)
{
	struct elide_thread *t = elide_self;
	uint32_t tid = elide_tid_now();

	if (t && t->stale) {
		renew(t);
		thread_init(t, tid, true);
		return t;
	}
	if (t && !t->ready) {
		/* Wiped by a fork. */
		elide_block_furnish(t);
		thread_init(t, tid, false);
		return t;
	}
	have_blocks();
	/* Threads that begin outside of global-lock paths may take all of them. */
	do
		t = elide_block_pop();
	while (!t && (elide_blocks_make(1) || find_ended()));
	if (t && t->stale)
		renew(t);
	if (t)
		return begin(t, tid);
	refuse();
	return NULL;
}

struct elide_thread *elide_thread_own(void)
{
	uint32_t tid = elide_tid_kept() ? elide_tid_kept() : elide_tid_now();
	struct elide_thread *t = tid ? elide_block_pop() : NULL;

	if (!t)
		return NULL;
	if (unlikely(t->stale || !elide_thread_record_is_made(t))) {
		elide_block_push(t);
		return NULL;
	}
	if (elide_blocks_left() <= FEW_LEFT && elide_blocks_nr() >= FEW_BLOCKS)
		WRITE_ONCE(few_left, true);
	return begin(t, tid);
}

static void ahead_global(void *unused)
{
	test_point(ahead_entered);
	test_point(ahead_publish);
	if (few_left)
		have_blocks();
	test_point(ahead_done);
}

void elide_threads_ahead(void)
{
	if (unlikely(READ_ONCE(few_left)))
		elide_global_try_run(ahead_global, NULL);
}

bool elide_thread_refused(void)
{
	if (!elide_blocks_full() || !elide_gate_same_process())
		return false;
	find_ended();
	if (!elide_blocks_full())
		return false;
	refuse();
	return true;
}

void elide_threads_reserve(uint32_t nr)
{
	if (nr > elide_blocks_left())
		elide_blocks_make(nr - elide_blocks_left());
}

/* No block of an earlier data file is found by a look-up; its thread, or the next one, renews it. */
static void set_stale(struct elide_thread *t)
{
	WRITE_ONCE(t->stale, true);
	WRITE_ONCE(t->ready, false);
	WRITE_ONCE(t->short_tid, ELIDE_NO_TID);
}

void elide_threads_restart(void)
{
	struct elide_thread *t, *next = NULL;

	for (t = elide_threads_all(); t; t = t->next) {
		end_if_ended(t);
		set_stale(t);
	}
	/* Those that no thread has had are in no list but that of the free ones. */
	while ((t = elide_block_pop())) {
		set_stale(t);
		t->next_free = next;
		next = t;
	}
	while ((t = next)) {
		next = t->next_free;
		elide_block_push(t);
	}
	elide_calls_forget(0, UINTPTR_MAX);
	look = NULL;
	nr_looks = MAX_LOOKS;
	few_left = false;
	elide_nr_active = 0;
	elide_thread_records_forget();
}

void elide_threads_forget(void)
{
	look = NULL;
	nr_looks = MAX_LOOKS;
	few_left = false;
	elide_blocks_forget();
	/* After a fork by the bare system call libc has the parent's id. */
	if (elide_tid_kept() != elide_tid_now())
		elide_process.tid_at = 0;
	elide_nr_active = 0;
	elide_threads_clear();
	elide_thread_records_forget();
	if (elide_evidence)
		elide_spans_start();
	/* Wiped, but a lock call that a forking handler interrupted has written to it since. */
	if (elide_self)
		sys_madvise(elide_self, sizeof(*elide_self), MADV_DONTNEED);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * threads.c - birth and end of threads: whose block it is, and what a thread leaves behind.
 *
 * Everything here runs in slow paths, outside transactions.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../base/syscalls.h"
#include "../adapt/epoch.h"
#include "../base/testpoint.h"
#include "../check/exit-held.h"
#include "../evidence/address.h"
#include "../evidence/evidence.h"
#include "../evidence/moments.h"
#include "../evidence/pmu.h"
#include "../state/cache.h"
#include "../state/gate.h"
#include "../state/holds.h"
#include "../state/settings.h"
#include "../state/thread-record.h"
#include "../state/tunables.h"
#include "../state/wiped.h"
#include "threads.h"

/* The help of the cause nesting in aborts.def names these two numbers. */
_Static_assert(ELIDE_MAX_HELD == 16 && ELIDE_MAX_PENDING == 64, "see aborts.def");

/*
 * Blocks that a new thread checks before memory for a further one is taken. With n threads
 * alive about n / 3 further blocks may belong to threads that have ended without being found.
 */
#define MAX_LOOKS 4

/*
 * How many of these the next thread checks: all after one was found, half as many after none was. So
 * there may be as many further blocks as threads are alive.
 */
static uint32_t nr_looks = MAX_LOOKS;

/* Blocks of which always MAX_LOOKS are checked: that is a good part of them. Chosen here. */
#define FEW_BLOCKS 64

/*
 * Blocks that are mapped at once, at most: there are no more that are not used yet than are used. Two
 * system calls for each block would hold up the threads that begin meanwhile. Chosen here.
 */
#define MAX_BATCH 16

static struct {
	struct elide_thread *free; /* blocks whose thread has ended */
	struct elide_thread *look; /* the next one to be asked for; NULL: the first */
	struct elide_thread *given[MAX_LOOKS]; /* the blocks given last, a ring */
	uint32_t last_given;
	uint32_t nr; /* blocks that threads have, or had */
	/* Blocks that are mapped and were never given. A fork leaves them as they are: all zeroes. */
	struct elide_thread *fresh;
	uint32_t nr_fresh;
	/* The first of these, else one that was given: its pages are touched before it is given. */
	struct elide_thread *ahead;
} threads;

/*
 * pthread_join() tells that a thread has ended. For a detached thread nothing does: a key of
 * thread-specific data would be one of the program's 1,024, and the destructor of a
 * thread-local object acquires the loader's lock. So tgkill(2) looks whether the thread
 * id exists. A process that shares this memory (clone() without CLONE_THREAD) has another
 * process id: its threads count as alive.
 */
static bool has_ended(const struct elide_thread *t, pid_t pid)
{
	return t->tid && t->pid == pid && sys_call(tgkill, pid, t->tid, 0, 0, 0, 0) &&
	       errno == ESRCH;
}

/* The thread has ended: its block, with what it counted, goes to the next one. */
static void thread_end(struct elide_thread *t)
{
	elide_exit_held(t);
	if (!t->joining)
		elide_active_add(-1);
	t->hold_lock = t->due.lock = NULL;
	elide_pmu_close(t->pmu);
	elide_pmu_close(t->loads);
	t->pmu = t->loads = NULL;
	elide_thread_record_end(t);
	t->tid = 0;
	t->stack_top = 0;
	elide_cache_empty(t);
	test_point(joined_publish);
	t->next_free = threads.free;
	threads.free = t;
}

/* Look at @nr blocks, or all if there are fewer, until one is found whose thread has ended. */
static void find_ended(uint32_t nr)
{
	pid_t pid = elide_pid_now();

	if (nr > threads.nr)
		nr = threads.nr;
	for (; nr && !threads.free; nr--) {
		struct elide_thread *t = threads.look ? threads.look : elide_threads_all();

		if (!t)
			return;
		threads.look = t->next;
		if (has_ended(t, pid))
			thread_end(t);
	}
	if (threads.nr < elide_tunables.max_threads)
		return;
	/* The youngest threads are those that are the likeliest to end next. */
	for (uint32_t i = 0; i < MAX_LOOKS && !threads.free; i++)
		if (threads.given[i] && has_ended(threads.given[i], pid))
			thread_end(threads.given[i]);
}

void elide_threads_end(void)
{
	pid_t pid = elide_pid_now();

	for (struct elide_thread *t = elide_threads_all(); t; t = t->next)
		if (has_ended(t, pid))
			thread_end(t);
}

/* A thread that was joined. */
struct joined {
	const void *handle;
	uint32_t tid;
};

static void joined_slow(void *arg)
{
	const struct joined *joined = arg;

	test_point(joined_entered);
	for (struct elide_thread *t = elide_threads_of(joined->handle); t; t = t->next_alike)
		if (t->tid && t->handle == joined->handle && (!joined->tid || t->tid == joined->tid))
			thread_end(t);
	test_point(joined_done);
}

void elide_thread_joined(const void *handle, uint32_t tid)
{
	struct joined joined = {handle, tid};

	if (elide_threads_all() && elide_threads_has(handle))
		elide_slow_run(joined_slow, &joined);
}

void elide_thread_look(uint32_t tid)
{
	struct elide_thread *t = elide_threads_all();

	while (t && t->tid != tid)
		t = t->next;
	if (t && has_ended(t, elide_pid_now()))
		thread_end(t);
}

/* The thread control block, whose first word has its own address (ELF TLS, x86-64). */
static const void *thread_handle(void)
{
	const void *handle;

	__asm__("mov %%fs:0, %0" : "=r"(handle));
	return handle;
}

static void thread_init(struct elide_thread *t)
{
	t->tid = elide_tid_now();
	t->pid = elide_pid_now();
	elide_threads_name(t, thread_handle());
	elide_tid_remember(t->tid);
	t->short_tid = elide_short_way() ? t->tid : ELIDE_NO_TID;
	t->open = 0;
	/* Differs between threads, and is the same in the next run: ids of threads are not. */
	t->seed = ++elide_data->nr_threads * 2654435761u | 1;
	t->sample_seed = t->seed * 0x9e3779b97f4a7c15ull;
	t->first_seen = elide_evidence_first(elide_data->nr_threads);
	t->postponed_of = NULL;
	t->stack_top = elide_stack_top(t->tid);
	elide_moments_begin(t);
	elide_thread_record_begin(t);
	t->streak = 0;
	t->hold_lock = t->due.lock = NULL;
	t->waits = NULL;
	memset(t->waited, 0, sizeof(t->waited));
	memset(t->posted, 0, sizeof(t->posted));
	t->timed_out = NULL;
	t->joining = false;
	elide_active_add(1);
	/* A thread whose end was not told has left its own. */
	elide_pmu_close(t->pmu);
	elide_pmu_close(t->loads);
	t->pmu = elide_pmu_open(ELIDE_PMU_ABORTS);
	t->loads = elide_pmu_open(ELIDE_PMU_LOADS);
	t->nr_spins = t->nr_rwlocks = 0;
	t->no_adapt.countdown = 1;
	t->time_weight = 0;
	t->halted = elide_halted();
	t->queue = NULL;
	adapt_thread_begin(t);
	t->outer = NULL;
	if (elide_process.blames && elide_process.rtm == ELIDE_RTM_EMULATED)
		rtmgrind_request(RTMGRIND_SECTION, (unsigned long)&t->outer, 0);
	if (!t->ready) {
		elide_cache_start(t);
		elide_threads_add(t);
		t->ready = true;
	}
}

/* Map further blocks, or one if there is no room for more. */
static void map_blocks(void)
{
	uint32_t nr = elide_tunables.max_threads - threads.nr;

	if (nr > MAX_BATCH)
		nr = MAX_BATCH;
	if (nr > threads.nr)
		nr = threads.nr ? threads.nr : 1;
	threads.fresh = elide_wiped_alloc(nr * sizeof(*threads.fresh));
	if (!threads.fresh) {
		nr = 1;
		threads.fresh = elide_wiped_alloc(sizeof(*threads.fresh));
	}
	threads.nr_fresh = threads.fresh ? nr : 0;
}

/* A block that no thread has; NULL if there is none. */
static struct elide_thread *block_take(void)
{
	struct elide_thread *t = threads.free;

	if (t) {
		threads.free = t->next_free;
		return t;
	}
	if (threads.nr >= elide_tunables.max_threads)
		return NULL;
	if (!threads.nr_fresh)
		map_blocks();
	if (!threads.nr_fresh)
		return NULL;
	threads.nr++;
	threads.nr_fresh--;
	t = threads.fresh++;
	WRITE_ONCE(threads.ahead, threads.nr_fresh ? threads.fresh : t);
	return t;
}

void elide_threads_touch(void)
{
	struct elide_thread *t = READ_ONCE(threads.ahead);

	if (!t || READ_ONCE(threads.nr) < FEW_BLOCKS)
		return;
	/* It may be another thread's by now: to add 0 at once changes nothing of what that stores. */
	__atomic_fetch_add(&t->nr_rows, 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&t->nr_filled, 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&t->cache[0].generation, 0, __ATOMIC_RELAXED);
}

/* There is no block for the calling thread, which asks again after some acquisitions. */
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

/* Have the next @nr blocks, and of those given last as many, threads that are alive? */
static bool none_has_ended(uint32_t nr)
{
	struct elide_thread *t = READ_ONCE(threads.look);
	uint32_t last = READ_ONCE(threads.last_given);
	pid_t pid = sys_getpid();

	for (uint32_t i = 0; i < nr; i++) {
		if (!t)
			t = elide_threads_all();
		WRITE_ONCE(threads.look, t);
		if (has_ended(t, pid))
			return false;
		t = t->next;
	}
	WRITE_ONCE(threads.look, t);
	for (uint32_t i = 1; i <= nr; i++) {
		t = READ_ONCE(threads.given[(last - i) % MAX_LOOKS]);
		if (t && has_ended(t, pid))
			return false;
	}
	return true;
}

bool elide_thread_refused(void)
{
	if (READ_ONCE(threads.nr) < elide_tunables.max_threads || READ_ONCE(threads.free) ||
	    !elide_gate_same_process() || !none_has_ended(READ_ONCE(nr_looks)))
		return false;
	refuse();
	return true;
}

struct elide_thread *elide_thread_get(void)
{
	struct elide_thread *t = elide_self;

	if (t && !t->ready) {
		thread_init(t); /* wiped by a fork */
		threads.nr++;
		return t;
	}
	if (!threads.free) {
		find_ended(nr_looks);
		if (threads.free || threads.nr <= FEW_BLOCKS)
			nr_looks = MAX_LOOKS;
		else
			nr_looks = (nr_looks + 1) / 2;
	}
	t = block_take();
	if (!t) {
		refuse();
		return NULL;
	}
	threads.given[threads.last_given++ % MAX_LOOKS] = t;
	thread_init(t);
	elide_refused = (struct elide_refused){0};
	elide_self = elide_self_quick = t;
	return t;
}

void elide_threads_reserve(uint32_t nr)
{
	struct elide_thread *t;

	for (t = threads.free; t && nr; t = t->next_free)
		nr--;
	if (nr <= threads.nr_fresh)
		return;
	/* What is left of the last batch stays address space. */
	t = elide_wiped_alloc(nr * sizeof(*t));
	if (t) {
		threads.fresh = t;
		threads.nr_fresh = nr;
	}
}

void elide_threads_forget(void)
{
	threads.free = threads.look = threads.ahead = NULL;
	memset(threads.given, 0, sizeof(threads.given));
	threads.nr = 0;
	nr_looks = MAX_LOOKS;
	elide_nr_active = 0;
	elide_threads_clear();
	elide_thread_records_forget();
	if (elide_evidence)
		elide_moments_start();
	elide_caches_forget();
	/* Wiped, but a lock call that a handler's fork has interrupted went on in it. */
	if (elide_self)
		sys_madvise(elide_self, sizeof(*elide_self), MADV_DONTNEED);
}

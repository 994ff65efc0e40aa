/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * thread.c - the slow paths of lock calls: blocks of threads, registration, rows.
 *
 * Everything here runs outside transactions, between elide_slow_enter() and
 * elide_slow_leave().
 */
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "cache.h"
#include "engine.h"
#include "evidence.h"
#include "order.h"
#include "pace.h"
#include "pmu.h"
#include "point.h"
#include "process.h"
#include "rules.h"
#include "tunables.h"

__thread struct elide_thread *elide_self;
struct elide_row elide_no_row;

static const uint8_t eliding = POLICY_ARM_keen;
static struct elide_pace nobody;
struct elide_mark elide_no_mark = {.arm = &eliding, .pace = &nobody, .row = &elide_no_row};

/* What this thread was called before each fork, the latest first. */
#define MAX_FORKS 4
static __thread uint32_t own_tids[MAX_FORKS];
static __thread bool forked_deeper;

static struct {
	struct elide_thread *free; /* blocks whose thread has ended */
	struct elide_thread *all;
	uint32_t nr;
	tss_t at_exit;
	bool has_at_exit;
} threads;

/* Rounds in which destructors of thread-specific data are called, at most (glibc). */
#define LAST_ROUND 4

/* A thread has ended: its block, with what it counted, goes to the next one. */
static void thread_end(void *block)
{
	struct elide_thread *t = block;
	struct elide_slow slow;
	bool held;

	/* Not under the engine's lock: it may take long, and many threads may end together. */
	held = elide_may_judge() && elide_self == t && elide_exit_held(t, false);
	if (!elide_slow_enter(&slow))
		return;
	/* Another destructor may yet release what is held: wait for the last round. */
	if (held && t->ready && elide_self == t && ++t->ends < LAST_ROUND) {
		tss_set(threads.at_exit, t);
	} else if (t->ready && elide_self == t) {
		if (held)
			elide_exit_held(t, true);
		elide_self = NULL;
		t->hold_lock = NULL;
		elide_pmu_close(t->pmu);
		elide_pmu_close(t->loads);
		t->pmu = t->loads = NULL;
		t->tid = 0;
		t->stack_top = 0;
		elide_cache_empty(t);
		t->next_free = threads.free;
		threads.free = t;
	}
	elide_slow_leave(&slow);
}

static void thread_init(struct elide_thread *t)
{
	t->tid = syscall(SYS_gettid);
	if (own_tids[0] != t->tid) {
		forked_deeper |= own_tids[MAX_FORKS - 1] != 0;
		for (int i = MAX_FORKS - 1; i; i--)
			own_tids[i] = own_tids[i - 1];
		own_tids[0] = t->tid;
	}
	t->ends = 0;
	t->short_tid = elide_short_way() ? t->tid : ELIDE_NO_TID;
	t->open = 0;
	/* Differs between threads, and is the same in the next run: ids of threads are not. */
	t->seed = ++elide_data->nr_threads * 2654435761u | 1;
	t->sample_seed = t->seed * 0x9e3779b97f4a7c15ull;
	t->first_seen = elide_evidence_first(elide_data->nr_threads);
	t->stack_top = elide_stack_top(t->tid);
	t->streak = 0;
	t->hold_lock = NULL;
	/* A thread whose end was not told has left its own. */
	elide_pmu_close(t->pmu);
	elide_pmu_close(t->loads);
	t->pmu = elide_pmu_open(ELIDE_PMU_ABORTS);
	t->loads = elide_pmu_open(ELIDE_PMU_LOADS);
	t->nr_spins = t->nr_rwlocks = 0;
	t->no_pace.countdown = ELIDE_NO_PACE;
	t->halted = elide_halted();
	t->queue = NULL;
	elide_pace_begin(t);
	t->pending[0].what = 0;
	if (elide_process.tell_section)
		rtmgrind_request(RTMGRIND_SECTION, (unsigned long)&t->pending[0], 0);
	if (!t->ready) {
		elide_cache_start(t);
		t->time_countdown = 1;
		t->next = threads.all;
		threads.all = t;
		t->ready = true;
	}
}

static struct elide_thread *thread_get(void)
{
	struct elide_thread *t = elide_self;

	if (t && !t->ready) {
		thread_init(t); /* wiped by a fork */
		threads.nr++;
		return t;
	}
	t = threads.free;
	if (t) {
		threads.free = t->next_free;
	} else {
		if (threads.nr >= elide_tunables.max_threads) {
			elide_data->dropped[ELIDE_DROPPED_THREADS]++;
			return NULL;
		}
		t = elide_wiped_alloc(sizeof(*t));
		if (!t) {
			elide_data->dropped[ELIDE_DROPPED_THREADS]++;
			return NULL;
		}
		threads.nr++;
	}
	thread_init(t);
	if (threads.has_at_exit)
		tss_set(threads.at_exit, t);
	elide_self = t;
	return t;
}

void elide_threads_start(void)
{
	threads.has_at_exit = tss_create(&threads.at_exit, thread_end) == thrd_success;
}

void elide_threads_forget(void)
{
	threads.free = threads.all = NULL;
	threads.nr = 0;
	elide_caches_forget();
	/* Wiped, but a slow path that a handler's fork has interrupted went on in it. */
	if (elide_self)
		madvise(elide_self, sizeof(*elide_self), MADV_DONTNEED);
}

struct elide_thread *elide_threads_all(void)
{
	return threads.all;
}

static bool kind_wanted(enum elide_kind kind)
{
	switch (kind) {
	case ELIDE_KIND_MUTEX:
		return elide_tunables.kinds & ELIDE_KINDS_MUTEX;
	case ELIDE_KIND_RWLOCK_READ:
	case ELIDE_KIND_RWLOCK_WRITE:
		return elide_tunables.kinds & ELIDE_KINDS_RWLOCK;
	case ELIDE_KIND_SPIN:
		return elide_tunables.kinds & ELIDE_KINDS_SPIN;
	default:
		return true;
	}
}

/* May locks of this class be elided from this site, and what does the report say? */
static enum elide_row_state row_state(uint32_t class_index, const void *site, enum elide_kind kind)
{
	enum elide_ruling ruling =
		elide_rules_match(elide_registry_class_info(class_index), site);

	if (elide_registry_class_shared(class_index) || ruling == ELIDE_RULING_OFF)
		return ELIDE_STATE_OFF;
	if (!elide_enabled || ruling == ELIDE_RULING_PROFILE)
		return ELIDE_STATE_PROFILED;
	if (!kind_wanted(kind) && ruling != ELIDE_RULING_ON)
		return ELIDE_STATE_PROFILED;
	return elide_process.config.name == POLICY_NEVER ? ELIDE_STATE_OFF : ELIDE_STATE_ELIDING;
}

enum elide_way elide_way(const struct elide_thread *t, const struct elide_row *row)
{
	bool elided = row->state == ELIDE_STATE_ELIDING || row->state == ELIDE_STATE_PAUSED;

	if (!elide_short_way() || (elided && t->halted))
		return ELIDE_WAY_LONG;
	/* glibc's policy and HPCA'14's have something to be asked for each lock. */
	if (!elided)
		return ELIDE_WAY_SHORT;
	return elide_process.config.name == POLICY_GLIBC ||
			       elide_process.config.name == POLICY_HPCA ?
		       ELIDE_WAY_LONG :
		       ELIDE_WAY_ELIDE;
}

/* The row's mark, as it is in the beginning. */
static struct elide_mark *mark_make(struct elide_thread *t, struct elide_row *row, uint32_t hot)
{
	struct elide_mark *mark = &t->marks[t->nr_rows];

	*mark = (struct elide_mark){
		.way = elide_way(t, row),
		.elided = row->state == ELIDE_STATE_ELIDING || row->state == ELIDE_STATE_PAUSED,
		.hot = hot,
		.arm = &eliding,
		.pace = &t->no_pace,
		.row = row,
	};
	if (elide_process.config.name == POLICY_ADAPTIVE)
		elide_pace_attach(t, mark);
	t->nr_rows++;
	return mark;
}

uint16_t *elide_row_slot(struct elide_thread *t, uint32_t class_index, const void *site,
			 enum elide_kind kind, uint32_t hot)
{
	uint64_t h = (class_index * 2654435761ull + hot) ^
		     ((uintptr_t)site * 0x9e3779b97f4a7c15ull >> 40);
	const struct elide_mark *mark;
	const struct elide_row *row;
	uint16_t *slot;

	for (uint32_t i = h;; i++) {
		slot = &t->rows[i % ELIDE_NR_ROWS];
		if (!*slot)
			return slot;
		mark = &t->marks[*slot - 1];
		row = READ_ONCE(mark->row);
		if (unlikely(!row))
			return slot; /* wiped */
		if (row->class_index == class_index && row->site == (uintptr_t)site &&
		    row->kind == kind && mark->hot == hot)
			return slot;
	}
}

static struct elide_mark *mark_get(struct elide_thread *t, uint32_t class_index, const void *site,
				   enum elide_kind kind)
{
	uint16_t *slot = elide_row_slot(t, class_index, site, kind, 0);
	struct elide_chunk *chunk = t->chunk; /* a copy that no fork wipes */
	struct elide_mark *mark;
	struct elide_row *row;

	if (*slot)
		return &t->marks[*slot - 1];
	if (t->nr_rows >= ELIDE_MAX_ROWS)
		goto full;
	row = elide_data_record(&chunk, ELIDE_CHUNK_ROWS, sizeof(*row));
	if (!row)
		goto full;
	elide_registry_module_of(site);
	row->class_index = class_index;
	row->kind = kind;
	row->site = (uintptr_t)site;
	row->state = row_state(class_index, site, kind);
	row->wait.min = row->hold.min = ~0ull;
	test_point(row);
	elide_data_publish(chunk);
	t->chunk = chunk;
	mark = mark_make(t, row, 0);
	*slot = mark - t->marks + 1;
	return mark;
full:
	elide_data->dropped[ELIDE_DROPPED_ROWS]++;
	return NULL;
}

/* Of a lock that has a state of its own: it counts in the row of its class. */
static struct elide_mark *mark_hot(struct elide_thread *t, struct elide_mark *mark, uint32_t hot)
{
	struct elide_row *row = mark->row;
	uint16_t *slot;

	if (!hot)
		return mark;
	slot = elide_row_slot(t, row->class_index, (const void *)row->site, row->kind, hot);
	if (!*slot) {
		if (t->nr_rows >= ELIDE_MAX_ROWS)
			return mark;
		mark = mark_make(t, row, hot);
		*slot = mark - t->marks + 1;
	}
	return &t->marks[*slot - 1];
}

static struct elide_cache *fill(const void *lock, const void *site, enum elide_kind kind)
{
	struct elide_thread *t;
	struct elide_cache *entry;
	struct elide_mark *mark;
	uint32_t index, generation;

	t = elide_self;
	if ((!t || !t->ready) && !(t = thread_get()))
		return NULL;
	generation = READ_ONCE(*elide_generation(lock));
	index = elide_registry_find(lock);
	if (index == ELIDE_NONE) {
		index = elide_registry_add(lock, kind, site, false, false);
		if (index == ELIDE_NONE)
			return NULL;
		generation = READ_ONCE(*elide_generation(lock));
	}
	mark = mark_get(t, elide_registry_class(index), site, kind);
	if (!mark)
		return NULL;
	mark = mark_hot(t, mark, elide_hot_of(index));
	entry = elide_cache_make(t, mark, lock, index, generation);
	if (unlikely(elide_slow_forked())) {
		entry->lock = NULL;
		return NULL;
	}
	return entry;
}

__noinline struct elide_cache *elide_cache_fill(const void *lock, const void *site,
						enum elide_kind kind)
{
	struct elide_cache *entry;
	struct elide_slow slow;

	if (unlikely(!elide_process.running))
		return NULL; /* where everything passes through, as quick as can be */
	entry = elide_self ? elide_cache_refill(elide_self, lock, site, kind) : NULL;
	if (likely(entry))
		return entry;
	if (!elide_slow_enter(&slow)) {
		elide_count_interrupted();
		return NULL;
	}
	entry = fill(lock, site, kind);
	elide_slow_leave(&slow);
	return entry;
}

/* No lock is there any more that the calling thread could hold. */
static void order_forget(const void *lock)
{
	struct elide_thread *t = elide_self;

	if (t && t->nr_taken)
		elide_order_released(t, lock);
}

void elide_lock_new(const void *lock, enum elide_kind kind, const void *site, bool shared)
{
	struct elide_slow slow;

	order_forget(lock);
	if (!elide_slow_enter(&slow))
		return;
	elide_registry_add(lock, kind, site, true, shared);
	elide_slow_leave(&slow);
}

void elide_lock_gone(const void *lock)
{
	struct elide_slow slow;

	order_forget(lock);
	if (!elide_slow_enter(&slow))
		return;
	elide_registry_remove(lock);
	elide_slow_leave(&slow);
}

bool elide_may_judge(void)
{
	return elide_process.running && !elide_busy && (!elide_self || elide_self->ready);
}

bool elide_tid_is_own(const struct elide_thread *t, uint32_t tid)
{
	bool own = forked_deeper || tid == (t ? t->tid : (uint32_t)syscall(SYS_gettid));

	for (int i = 0; i < MAX_FORKS; i++)
		own |= tid == own_tids[i];
	return own;
}

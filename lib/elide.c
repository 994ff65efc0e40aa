/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * elide.c - attempt, held list, commit, fallback.
 *
 * The only file that begins, ends or aborts a transaction on behalf of a
 * lock. Between begin and commit it must never store to anything but the
 * thread's held list and list of pending calls, and never call what
 * might: no counters, no logs, no allocation, no system call.
 */
#include <sched.h>

#include "emulator.h"
#include "engine.h"
#include "evidence.h"
#include "order.h"
#include "pace.h"
#include "pmu.h"
#include "point.h"
#include "process.h"
#include "tunables.h"

/* Cycles; a timer interrupt, which comes about as often, ends any transaction. */
#define LONGEST_SCALED 1000000

/* Waits for a turn in the queue last so many times as long as those for a held lock. */
#define QUEUE_LONGEST 16

/* Some transaction has committed since the watch last looked. Rarely written. */
static bool any_commit = true;

static __always_inline_fn uint64_t read_word(const void *word, uint32_t size)
{
	return size == 4 ? READ_ONCE(*(const uint32_t *)word) : READ_ONCE(*(const uint64_t *)word);
}

static __always_inline_fn bool is_free(const void *word, const struct elide_rule *rule,
				       uint64_t *value)
{
	*value = read_word(word, rule->size);
	return (*value & rule->mask) == rule->free;
}

static __always_inline_fn void push_pending(struct elide_thread *t, struct elide_cache *entry,
					    const void *lock, const void *site,
					    enum elide_kind kind, enum elide_deferred what)
{
	struct elide_pending *p = &t->pending[t->nr_pending++];

	p->lock = lock;
	p->site = site;
	p->entry = entry;
	p->kind = kind;
	p->what = what;
}

void elide_defer(struct elide_thread *t, struct elide_cache *entry, const void *lock,
		 const void *site, enum elide_kind kind, enum elide_deferred what)
{
	if (t->nr_pending == ELIDE_MAX_PENDING)
		rtm_abort(ELIDE_CODE_nesting);
	push_pending(t, entry, lock, site, kind, what);
}

static __always_inline_fn void push_held(struct elide_thread *t, const void *word, uint64_t value,
					 uint32_t size)
{
	struct elide_held *h = &t->held[t->nr_held++];

	h->word = word;
	h->value = value;
	h->size = size;
	h->depth = 0;
}

/* A call that is not known yet: only the registry can tell, and it may be read here. */
static bool is_shared(const void *lock)
{
	uint32_t index = elide_registry_find(lock);

	return index != ELIDE_NONE && elide_registry_class_shared(elide_registry_class(index));
}

static __always_inline_fn enum elide_deferred elided(bool wait)
{
	return wait ? ELIDE_DEFER_ELIDED : ELIDE_DEFER_ELIDED_TRY;
}

/* A lock inside an elided section: check its word and push it, no nested XBEGIN. */
static enum elide_outcome acquire_nested(struct elide_thread *t, struct elide_cache *entry,
					 const void *word, const struct elide_rule *rule,
					 const void *site, enum elide_kind kind, bool wait)
{
	uint64_t value;

	if (entry ? !entry->elide : is_shared(word))
		return ELIDE_INSIDE;
	if (t->nr_held == ELIDE_MAX_HELD)
		rtm_abort(ELIDE_CODE_nesting);
	if (!is_free(word, rule, &value))
		rtm_abort(ELIDE_CODE_inner_busy);
	test_point(nested);
	push_held(t, word, value, rule->size);
	elide_defer(t, entry, word, site, kind, elided(wait));
	return ELIDE_TAKEN;
}

/* xorshift32 (Marsaglia, "Xorshift RNGs", 2003). */
static uint32_t next_random(struct elide_thread *t)
{
	t->seed ^= t->seed << 13;
	t->seed ^= t->seed >> 17;
	t->seed ^= t->seed << 5;
	return t->seed;
}

/* A sampling period of that mean: a fixed one may keep step with the program. 0 stays 0: never. */
static uint32_t random_period(struct elide_thread *t, uint32_t mean)
{
	return mean ? 1 + next_random(t) % (2 * mean - 1) : 0;
}

static bool wait_until_free(const void *word, const struct elide_rule *rule, uint32_t spins)
{
	uint64_t value;

	for (; !is_free(word, rule, &value); spins--) {
		if (!spins)
			return false;
		cpu_relax();
	}
	return true;
}

/* Evidence that only the emulator has: why EAX was zero. */
static enum elide_cause emulated_cause(const struct rtmgrind_abort *detail)
{
	switch (detail->cause) {
	case RTMGRIND_CAUSE_SYSCALL:
		return ELIDE_CAUSE_syscall;
	case RTMGRIND_CAUSE_FAULT:
		return ELIDE_CAUSE_fault;
	case RTMGRIND_CAUSE_INSTRUCTION:
		return ELIDE_CAUSE_instruction;
	case RTMGRIND_CAUSE_INTERRUPT:
		return ELIDE_CAUSE_interrupt;
	case RTMGRIND_CAUSE_SPURIOUS:
		return ELIDE_CAUSE_spurious;
	default:
		return ELIDE_CAUSE_other;
	}
}

/*
 * RTM that never commits (virtual machine moved, microcode) must not be left
 * on. Only if no thread has committed during a whole streak of this one.
 */
static void watch(struct elide_thread *t)
{
	if (!elide_tunables.watch || ++t->streak < elide_tunables.watch)
		return;
	t->streak = 0;
	if (!__atomic_exchange_n(&any_commit, false, __ATOMIC_RELAXED))
		elide_disable("transactions have stopped committing");
}

static void count_abort(struct elide_thread *t, struct elide_row *row, const void *word,
			const struct elide_rule *rule, unsigned int status,
			unsigned long long start)
{
	struct elide_aborted a = {.lock = word, .cause = policy_cause(status)};
	struct rtmgrind_abort detail;
	struct elide_pmu_abort sampled;
	uint64_t value;

	if (unlikely(t->pmu) && elide_pmu_take(t->pmu, status, &sampled)) {
		a.cause = sampled.cause;
		a.sampled = &sampled;
	}
	if (elide_process.rtm == ELIDE_RTM_EMULATED &&
	    rtmgrind_request(RTMGRIND_LAST_ABORT, (unsigned long)&detail, sizeof(detail))) {
		if (a.cause == ELIDE_CAUSE_other)
			a.cause = emulated_cause(&detail);
		a.cycles = detail.cycles;
		a.detail = &detail;
	} else if (start) {
		unsigned long long cycles = cycles_now() - start;

		/* A long one has been off the processor: it stands for itself only. */
		a.cycles = cycles < LONGEST_SCALED ? cycles * ELIDE_TIME_PERIOD : cycles;
	}
	counter_add(row->wasted_cycles, a.cycles);
	counter_add(row->causes[a.cause], 1);
	if (elide_evidence) {
		a.held = !is_free(word, rule, &value);
		elide_evidence_abort(t, row, &a);
	}
	watch(t);
}

/* The policy has changed its mind. Finds the lock by itself: less to be kept at hand for it. */
static __cold void decided(struct elide_row *row, const struct policy_window *window)
{
	const struct elide_thread *t = elide_self;
	const struct elide_cache *entry = &t->cache[window - t->windows];
	const struct policy_lock *policy = &elide_registry_state(entry->lock_index)->policy;
	bool paused = policy->pause != 0;

	WRITE_ONCE(row->state, paused ? ELIDE_STATE_PAUSED : ELIDE_STATE_ELIDING);
	elide_evidence_event(paused ? ELIDE_EVENT_PAUSED : ELIDE_EVENT_RESUMED, row, entry->lock,
			     policy, window);
}

/*
 * Be the one that tries again. The word may have been left by a thread that is
 * no more, or not in this process: not waited for without end.
 */
static void queue_up(struct elide_thread *t, struct policy_lock *lock, uint32_t spins)
{
	if (t->queue)
		return;
	for (uint32_t n = QUEUE_LONGEST * spins; READ_ONCE(lock->queue); n--) {
		if (!n) {
			WRITE_ONCE(lock->queue, 0);
			break;
		}
		cpu_relax();
	}
	/* Only turns are taken here: it orders nothing, and who comes second goes on without. */
	if (!__atomic_exchange_n(&lock->queue, 1, __ATOMIC_RELAXED))
		t->queue = &lock->queue;
}

static __noinline void leave_queue(struct elide_thread *t)
{
	WRITE_ONCE(*t->queue, 0);
	t->queue = NULL;
}

/* What the policy said, in deed. False: take the lock really. */
static bool carry_out(struct elide_thread *t, struct policy_lock *lock, struct policy_verdict v,
		      const void *word, const struct elide_rule *rule, bool wait)
{
	uint32_t spins = elide_process.config.spin_busy;

	switch (v.action) {
	case POLICY_RETRY:
		return true;
	case POLICY_WAIT:
		spins = v.spins;
		break;
	case POLICY_BACKOFF:
		if (wait)
			for (uint32_t n = random_period(t, v.spins); n; n--)
				cpu_relax();
		break;
	case POLICY_QUEUE:
		spins = v.spins;
		if (wait)
			queue_up(t, lock, spins);
		break;
	case POLICY_FALLBACK:
		return false;
	}
	return wait_until_free(word, rule, wait ? spins : 0);
}

/* glibc and DaMoN'15 begin without a look at the lock; the others never while it is held. */
static bool looks_first(void)
{
	return elide_process.config.name != POLICY_GLIBC &&
	       elide_process.config.name != POLICY_DAMON;
}

static void gave_up(struct elide_thread *t, struct elide_cache *entry, struct policy_lock *lock,
		    const struct policy_try *try)
{
	if (t->queue)
		leave_queue(t);
	if (elide_process.config.name == POLICY_ADAPTIVE)
		elide_pace_failed(elide_mark(t, entry), elide_row(entry), try);
	else if (policy_done(&elide_process.config, lock, elide_window(t, entry), try, false))
		decided(elide_row(entry), elide_window(t, entry));
}

enum elide_outcome elide_acquire(struct elide_thread *t, struct elide_cache *entry,
				 const void *word, const struct elide_rule *rule, const void *site,
				 enum elide_kind kind, bool wait)
{
	const struct policy_config *config = &elide_process.config;
	struct policy_lock *lock;
	struct policy_try try = {.arm = t->arm};
	unsigned long long start = 0;
	unsigned int status;
	uint64_t value;

	if (t->nr_held)
		return acquire_nested(t, entry, word, rule, site, kind, wait);
	if (!READ_ONCE(elide_enabled) || unlikely(READ_ONCE(elide_data->control)))
		return ELIDE_SKIPPED;
	if (rtm_test())
		return ELIDE_INSIDE; /* somebody else's transaction; XEND is theirs */
	lock = &elide_registry_state(entry->lock_index)->policy;
	if (config->name != POLICY_ADAPTIVE && !policy_enter(config, lock))
		return ELIDE_SKIPPED;
	test_point(enter);
	if (looks_first() && !wait_until_free(word, rule, wait ? config->spin_busy : 0))
		return ELIDE_SKIPPED;
	if (unlikely(!--t->time_countdown)) {
		t->time_countdown = random_period(t, ELIDE_TIME_PERIOD);
		start = cycles_now();
	}
	for (;;) {
		status = rtm_begin();
		if (likely(status == RTM_STARTED)) {
			test_point(begun);
			if (!is_free(word, rule, &value))
				rtm_abort(ELIDE_CODE_busy);
			test_point(subscribed);
			push_held(t, word, value, rule->size);
			push_pending(t, entry, word, site, kind, elided(wait));
			test_point(held);
			return ELIDE_TAKEN;
		}
		test_point(aborted);
		count_abort(t, elide_row(entry), word, rule, status, start);
		if (config->name == POLICY_ADAPTIVE)
			elide_pace_again(t, elide_mark(t, entry), elide_row(entry), &try,
					 status);
		if (!carry_out(t, lock, policy_abort(config, lock, &try, status), word, rule, wait))
			break;
		start = start ? cycles_now() : 0;
	}
	gave_up(t, entry, lock, &try);
	test_point(fallback);
	return ELIDE_FELL_BACK;
}

struct elide_held *elide_find_held(struct elide_thread *t, const void *word)
{
	for (uint32_t i = t->nr_held; i--;)
		if (t->held[i].word == word)
			return &t->held[i];
	return NULL;
}

/**
 * struct deferred - a pending call as it is copied out before the commit.
 * @row: counters of the call, NULL if it was not known yet
 *
 * The rest as in struct elide_pending. Cache entries are not kept: a signal
 * handler may evict them as soon as the transaction is over.
 */
struct deferred {
	struct elide_row *row;
	const void *lock;
	const void *site;
	uint32_t kind;
	uint32_t what;
};

/* The row of a call that was not known yet, now that the transaction is over. */
static void find_row(struct deferred *d)
{
	struct elide_cache *entry;

	if (d->row || d->what > ELIDE_DEFER_REAL_TRY)
		return;
	entry = elide_cache_fill(d->lock, d->site, d->kind);
	d->row = entry ? elide_row(entry) : NULL;
}

/* What a nested call left to be done. */
static void catch_up(struct elide_thread *t, struct deferred *d)
{
	find_row(d);
	switch (d->what) {
	case ELIDE_DEFER_ELIDED:
	case ELIDE_DEFER_ELIDED_TRY:
		if (d->row)
			counter_add(d->row->nested, 1);
		break;
	case ELIDE_DEFER_REAL:
	case ELIDE_DEFER_REAL_TRY:
		if (d->row)
			elide_count(d->row, ELIDE_SKIPPED);
		break;
	case ELIDE_DEFER_NEW:
	case ELIDE_DEFER_SHARED:
		elide_lock_new(d->lock, d->kind, d->site, d->what == ELIDE_DEFER_SHARED);
		break;
	case ELIDE_DEFER_GONE:
		elide_lock_gone(d->lock);
		break;
	case ELIDE_DEFER_RELEASED:
		elide_released(t, d->lock, d->kind);
		break;
	case ELIDE_DEFER_UNELIDED:
		elide_order_released(t, d->lock);
		break;
	default:
		elide_misuse(d->what - ELIDE_DEFER_MISUSE, d->kind, d->site, d->lock);
		break;
	}
}

/* In which order the section took its locks. */
static void catch_up_order(struct elide_thread *t, struct deferred *d)
{
	bool wait = d->what == ELIDE_DEFER_ELIDED || d->what == ELIDE_DEFER_REAL;

	find_row(d);
	if (d->row)
		elide_order_taken(t, d->row, d->lock, wait);
}

/* No call is pending, and the emulator sees no section any more: one store, not two. */
static __always_inline_fn void no_pending(struct elide_thread *t)
{
	_Static_assert(offsetof(struct elide_thread, pending) ==
			       offsetof(struct elide_thread, nr_pending) + sizeof(t->nr_pending),
		       "side by side");
	__builtin_memset((char *)t + offsetof(struct elide_thread, nr_pending), 0,
			 sizeof(t->nr_pending) + sizeof(t->pending[0].what));
}

static __noinline void commit_judged(struct policy_lock *lock, struct policy_window *window,
				     struct elide_row *row)
{
	const struct policy_try none = {0};

	if (policy_done(&elide_process.config, lock, window, &none, true))
		decided(row, window);
}

/* Commit, and count the outermost section. The lock may be gone: only its address is used. */
static __always_inline_fn void commit(struct elide_thread *t)
{
	struct elide_cache *entry = t->pending[0].entry;
	struct elide_row *row = elide_row(entry);
	bool judged = elide_process.config.name == POLICY_HPCA;
	struct policy_lock *lock = NULL;
	struct policy_window *window = NULL;

	if (unlikely(judged)) {
		lock = &elide_registry_state(entry->lock_index)->policy;
		window = elide_window(t, entry);
	}
	no_pending(t);
	test_point(commit);
	rtm_end();
	test_point(committed);
	if (unlikely(!READ_ONCE(any_commit)))
		WRITE_ONCE(any_commit, true);
	t->streak = 0;
	counter_add(row->commits, 1);
	if (unlikely(t->queue))
		leave_queue(t);
	if (unlikely(judged))
		commit_judged(lock, window, row);
}

static __always_inline_fn void copy_pending(const struct elide_thread *t, struct deferred *list,
					    uint32_t first, uint32_t nr)
{
	for (uint32_t i = first; i < nr; i++) {
		const struct elide_pending *p = &t->pending[i];

		list[i] = (struct deferred){p->entry ? elide_row(p->entry) : NULL, p->lock, p->site,
					    p->kind, p->what};
	}
}

/* Back in the section under the real lock that it was inside of, if there is one. */
static void section_again(struct elide_thread *t)
{
	if (t->in_real)
		t->pending[0] = t->real;
}

static __noinline void commit_nested(struct elide_thread *t)
{
	struct deferred list[ELIDE_MAX_PENDING];
	uint32_t nr = t->nr_pending;

	copy_pending(t, list, 1, nr);
	commit(t);
	section_again(t);
	for (uint32_t i = 1; i < nr; i++)
		catch_up(t, &list[i]);
}

/* The same where the order of locks is watched. @last: the lock released last. */
static __cold void commit_ordered(struct elide_thread *t, const void *last)
{
	struct deferred list[ELIDE_MAX_PENDING];
	uint32_t nr = t->nr_pending;

	copy_pending(t, list, 0, nr);
	commit(t);
	section_again(t);
	catch_up_order(t, &list[0]);
	for (uint32_t i = 1; i < nr; i++) {
		catch_up_order(t, &list[i]);
		catch_up(t, &list[i]);
	}
	elide_order_released(t, last);
}

bool elide_release(struct elide_thread *t, const void *word)
{
	struct elide_held *h = elide_find_held(t, word);

	if (!h)
		return false;
	test_point(release);
	if (read_word(word, h->size) != h->value)
		rtm_abort(ELIDE_CODE_changed);
	test_point(compared);
	if (h->depth) {
		h->depth--;
		return true;
	}
	/*
	 * Usually the last one; otherwise keep the order of the others. The
	 * barrier keeps the compiler from calling memmove(): binding that lazily
	 * would abort every time, and so never be done with.
	 */
	for (struct elide_held *last = &t->held[t->nr_held - 1]; h < last; h++) {
		*h = h[1];
		barrier();
	}
	if (--t->nr_held) {
		if (elide_process.order)
			elide_defer(t, NULL, word, NULL, ELIDE_KIND_NONE, ELIDE_DEFER_UNELIDED);
		return true;
	}
	if (likely(t->nr_pending == 1 && !t->watched))
		commit(t);
	else if (likely(!elide_process.order))
		commit_nested(t);
	else
		commit_ordered(t, word);
	return true;
}

void elide_time_add(struct elide_times *times, unsigned long long cycles)
{
	counter_add(times->count, 1);
	counter_add(times->total, cycles);
	if (cycles < times->min)
		WRITE_ONCE(times->min, cycles);
	if (cycles > times->max)
		WRITE_ONCE(times->max, cycles);
}

__cold int elide_hold_begin(struct elide_thread *t, struct elide_row *row, const void *lock)
{
	if (row->parked)
		elide_pace_wake(t, row, lock, elide_hold_mask + 1);
	t->short_tid = ELIDE_NO_TID;
	t->hold_lock = lock;
	t->hold_row = row;
	t->hold_start = cycles_now();
	return 0;
}

void elide_hold_cancel(struct elide_thread *t)
{
	t->hold_lock = NULL;
	t->short_tid = elide_short_way() ? t->tid : ELIDE_NO_TID;
}

__cold void elide_hold_end(struct elide_thread *t)
{
	elide_time_add(&t->hold_row->hold, cycles_now() - t->hold_start);
	elide_hold_cancel(t);
}

__cold void elide_taken(struct elide_thread *t, const struct elide_row *row, const void *lock,
			bool wait)
{
	if (elide_process.order)
		elide_order_taken(t, row, lock, wait);
	if (!elide_evidence || elide_process.mode != ELIDE_RUN_ELIDE)
		return;
	elide_evidence_taken(row, lock);
	/* Of a custom lock it is not known when it is released. */
	if (!elide_process.tell_section || t->in_real || row->kind == ELIDE_KIND_CUSTOM)
		return;
	t->real = (struct elide_pending){
		.what = ELIDE_DEFER_REAL,
		.kind = row->kind,
		.lock = lock,
		.site = (const void *)row->site,
	};
	t->pending[0] = t->real;
	t->in_real = 1;
}

__cold void elide_untaken(struct elide_thread *t, const void *lock)
{
	if (t->nr_taken)
		elide_order_released(t, lock);
	if (t->in_real && t->real.lock == lock) {
		t->in_real = 0;
		t->pending[0].what = 0;
	}
}

void elide_released(struct elide_thread *t, const void *lock, enum elide_kind kind)
{
	if (unlikely(t->hold_lock == lock))
		elide_hold_end(t);
	if (unlikely(t->watched))
		elide_untaken(t, lock);
	if (kind == ELIDE_KIND_RWLOCK_WRITE && t->nr_rwlocks)
		t->nr_rwlocks--;
	if (kind == ELIDE_KIND_SPIN && t->nr_spins)
		t->nr_spins--;
}

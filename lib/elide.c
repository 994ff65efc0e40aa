/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * elide.c - attempt, held list, fallback; release.c has the other end of a section.
 *
 * These two are the only files that begin, end or abort a transaction on behalf of a
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
#include "section.h"
#include "tunables.h"
#include "turns.h"

/* Cycles; a timer interrupt, which comes about as often, ends any transaction. */
#define LONGEST_SCALED 1000000

/*
 * Waits for one thread in the queue last so many times as long as those for a held lock,
 * and so many others may come first.
 */
#define QUEUE_LONGEST 16
#define QUEUE_OTHERS  256

bool elide_any_commit = true;

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

/* In a transaction just begun: the lock is held, and its call is pending, alone. */
static __always_inline_fn void push_outermost(struct elide_thread *t, struct elide_cache *entry,
					      const void *word, uint64_t value,
					      const struct elide_rule *rule, const void *site,
					      enum elide_kind kind, bool wait)
{
	t->nr_held = t->nr_pending = 0;
	push_held(t, word, value, rule->size);
	push_pending(t, entry, word, site, kind, elided(wait));
}

/* The transaction has just begun: the lock is in it from its first act on. */
static __always_inline_fn void subscribe(struct elide_thread *t, struct elide_cache *entry,
					 const void *word, const struct elide_rule *rule,
					 const void *site, enum elide_kind kind, bool wait)
{
	uint64_t value;

	test_point(begun);
	if (!is_free(word, rule, &value))
		rtm_abort(ELIDE_CODE_busy);
	test_point(subscribed);
	push_outermost(t, entry, word, value, rule, site, kind, wait);
	test_point(held);
}

/* A lock inside an elided section: check its word and push it, no nested XBEGIN. */
static __noinline enum elide_outcome acquire_nested(struct elide_thread *t,
						    struct elide_cache *entry, const void *word,
						    const struct elide_rule *rule,
						    const void *site, enum elide_kind kind,
						    bool wait)
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

static __noinline bool wait_until_free(const void *word, const struct elide_rule *rule,
				       uint32_t spins)
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
	if (!__atomic_exchange_n(&elide_any_commit, false, __ATOMIC_RELAXED))
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
__cold void elide_decided(struct elide_row *row, const struct policy_window *window)
{
	const struct elide_thread *t = elide_self;
	const struct elide_cache *entry = &t->cache[window - t->windows];
	const struct policy_lock *policy = &elide_registry_state(entry->lock_index)->policy;
	bool paused = policy->pause != 0;

	WRITE_ONCE(row->state, paused ? ELIDE_STATE_PAUSED : ELIDE_STATE_ELIDING);
	elide_evidence_event(paused ? ELIDE_EVENT_PAUSED : ELIDE_EVENT_RESUMED, row, entry->lock,
			     policy, window);
}

/* Only turns are taken here: it orders nothing. */
static bool is_next(uint32_t *queue, uint32_t after, uint32_t tid)
{
	return __atomic_compare_exchange_n(queue, &after, tid, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

/*
 * Be the one whose turn it is. The word may have been left by a thread that is no more, or
 * not in this process: not waited for without end, and neither are others for ever.
 */
static void queue_up(struct elide_thread *t, struct policy_lock *lock, uint32_t spins)
{
	uint32_t nr = 0, n = 0, last = 0, now;

	if (t->queue)
		return;
	while ((now = READ_ONCE(lock->queue)) || !is_next(&lock->queue, 0, t->tid)) {
		if (now && now != last) {
			if (nr++ == QUEUE_OTHERS)
				return;
			last = now;
			n = QUEUE_LONGEST * spins;
		} else if (now && n) {
			n--;
		} else if (now && is_next(&lock->queue, now, t->tid)) {
			break;
		}
		cpu_relax();
	}
	t->queue = &lock->queue;
}

__noinline void elide_leave_queue(struct elide_thread *t)
{
	/* It may have gone to another who has waited too long. */
	if (READ_ONCE(*t->queue) == t->tid)
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
		elide_leave_queue(t);
	if (elide_process.config.name == POLICY_ADAPTIVE)
		elide_pace_failed(elide_mark(t, entry), elide_row(entry), try);
	else if (policy_done(&elide_process.config, lock, elide_window(t, entry), try, false))
		elide_decided(elide_row(entry), elide_window(t, entry));
}

/* The first attempt of an acquisition has aborted. */
static __noinline enum elide_outcome try_again(struct elide_thread *t, struct elide_cache *entry,
					       const void *word, const struct elide_rule *rule,
					       const void *site, enum elide_kind kind, bool wait,
					       unsigned int status, unsigned long long start)
{
	const struct policy_config *config = &elide_process.config;
	struct policy_lock *lock = &elide_registry_state(entry->lock_index)->policy;
	struct policy_try try = {.arm = t->arm};

	for (;;) {
		test_point(aborted);
		count_abort(t, elide_row(entry), word, rule, status, start);
		if (config->name == POLICY_ADAPTIVE)
			elide_pace_again(t, elide_mark(t, entry), elide_row(entry), &try,
					 status);
		if (!carry_out(t, lock, policy_abort(config, lock, &try, status), word, rule, wait))
			break;
		start = start ? cycles_now() : 0;
		status = rtm_begin();
		if (likely(status == RTM_STARTED)) {
			subscribe(t, entry, word, rule, site, kind, wait);
			return ELIDE_TAKEN;
		}
	}
	gave_up(t, entry, lock, &try);
	test_point(fallback);
	return ELIDE_FELL_BACK;
}

/* An arm whose acquisitions wait for their turn before the first attempt. */
static __noinline void acquire_queued(struct elide_thread *t,
					    const struct elide_cache *entry)
{
	if (elide_process.config.arms[t->arm].queue == POLICY_QUEUE_SOCKET)
		elide_turns_wait(t, elide_mark(t, entry));
	else
		queue_up(t, &elide_registry_state(entry->lock_index)->policy,
			 elide_process.config.spin_busy);
}

/* The lock was held for too long. */
static __noinline enum elide_outcome skip(struct elide_thread *t)
{
	if (t->queue)
		elide_leave_queue(t);
	return ELIDE_SKIPPED;
}

/* Time for a look at the clock. Return: cycles. */
static __noinline unsigned long long time_attempt(struct elide_thread *t)
{
	t->time_countdown = random_period(t, ELIDE_TIME_PERIOD);
	return cycles_now();
}

/* What is usual stands here, and calls nothing; the rest is apart. */
enum elide_outcome elide_acquire(struct elide_thread *t, struct elide_cache *entry,
				 const void *word, const struct elide_rule *rule, const void *site,
				 enum elide_kind kind, bool wait)
{
	const struct policy_config *config = &elide_process.config;
	unsigned long long start = 0;
	unsigned int status;
	uint64_t value;

	if (unlikely(t->nr_held))
		return acquire_nested(t, entry, word, rule, site, kind, wait);
	if (unlikely(!READ_ONCE(elide_enabled) || READ_ONCE(elide_data->control)))
		return ELIDE_SKIPPED;
	if (unlikely(rtm_test()))
		return ELIDE_INSIDE; /* somebody else's transaction; XEND is theirs */
	if (unlikely(config->name != POLICY_ADAPTIVE) &&
	    !policy_enter(config, &elide_registry_state(entry->lock_index)->policy))
		return ELIDE_SKIPPED;
	test_point(enter);
	if (unlikely(t->arm > POLICY_ARM_probe) && wait)
		acquire_queued(t, entry);
	if (unlikely(!is_free(word, rule, &value)) && looks_first() &&
	    !wait_until_free(word, rule, wait ? config->spin_busy : 0))
		return skip(t);
	if (unlikely(!--t->time_countdown))
		start = time_attempt(t);
	status = rtm_begin();
	if (unlikely(status != RTM_STARTED))
		return try_again(t, entry, word, rule, site, kind, wait, status, start);
	subscribe(t, entry, word, rule, site, kind, wait);
	return ELIDE_TAKEN;
}

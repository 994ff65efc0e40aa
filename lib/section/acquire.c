/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * acquire.c - attempt, held list, fallback; retry.c has the usual abort, release.c the other end.
 *
 * Only these three and fast-path.h begin and commit transactions for a lock (base/detect.c begins one to
 * see whether RTM works). A wrapper and api.c may abort one, where the program does something
 * that only a locked section can do. What a transaction may do: the rule in state/thread.h.
 */
#include <sched.h>

#include "../adapt/giveup.h"
#include "../adapt/measure.h"
#include "../base/testpoint.h"
#include "../base/vdso.h"
#include "../emulator.h"
#include "../evidence/decisions.h"
#include "../evidence/abort.h"
#include "../evidence/spans.h"
#include "../evidence/pmu.h"
#include "../evidence/evidence.h"
#include "../life/fill.h"
#include "../life/start.h"
#include "../policy/published.h"
#include "../state/holds.h"
#include "../state/random.h"
#include "../state/settings.h"
#include "../state/thread-list.h"
#include "engine.h"
#include "section.h"

/* Cycles. A timer interrupt, which comes about as often, ends any transaction. */
#define LONGEST_SCALED 1000000

/*
 * Nanoseconds. The longest wait for a held lock before an attempt is SPIN_BUSY iterations, 0.1 ms by
 * default, and POLICY_WAIT_MAX, 1 ms.
 */
#define ENOUGH_TIME 2000000

/* In a signal handler the list may hold the calls of the section that was interrupted. */
static __always_inline_fn struct elide_pending *pending_add(struct elide_thread *t)
{
	if (t->nr_pending == ELIDE_MAX_PENDING || t->catches_up)
		rtm_abort(ELIDE_CODE_nesting);
	return &t->pending[t->nr_pending++];
}

/*
 * Was the lock initialised or destroyed in this section? Then the registry describes an older lock at that
 * address until catch_up(), after the commit.
 */
static bool is_another_lock(const struct elide_thread *t, const void *lock)
{
	for (uint32_t i = 0; i < t->nr_pending; i++)
		if (t->pending[i].lock == lock && t->pending[i].what >= ELIDE_DEFER_NEW &&
		    t->pending[i].what <= ELIDE_DEFER_GONE)
			return true;
	return false;
}

void elide_defer(struct elide_thread *t, const struct elide_call *call, const void *lock,
		 const void *site, enum elide_kind kind, enum elide_deferred what)
{
	if (what <= ELIDE_DEFER_LOCKED_TRY && unlikely(is_another_lock(t, lock)))
		rtm_abort(ELIDE_CODE_destroy);
	*pending_add(t) =
		(struct elide_pending){what, kind, lock, site, call ? elide_call_row(call) : NULL};
}

const struct elide_until elide_until_locked, elide_until_now;

bool elide_may_wait(const struct elide_until *until)
{
	struct timespec now;

	if (likely(until == &elide_until_locked))
		return true;
	/* The time is invalid: the real function returns the error. */
	if (until == &elide_until_now || !until->time ||
	    (unsigned long)until->time->tv_nsec >= 1000000000ul ||
	    elide_clock(until->clock, &now))
		return false;
	return (until->time->tv_sec - now.tv_sec) * 1000000000ll + until->time->tv_nsec -
		       now.tv_nsec >= ENOUGH_TIME;
}

/* The call is not known yet, so the registry has to tell; a transaction may read it. */
static bool is_shared(const void *lock)
{
	uint32_t class_index = elide_registry_class(lock);

	return class_index != ELIDE_NONE && elide_class_shared(class_index);
}

/* A lock inside an elided section: check its word and push it, no nested XBEGIN. */
static __noinline enum elide_outcome acquire_nested(struct elide_thread *t,
						    struct elide_call *call, const void *word,
						    const struct elide_rule *rule,
						    const void *site, enum elide_kind kind,
						    const struct elide_until *until)
{
	bool note = call && !elide_process.order;
	uint64_t value;

	if (unlikely(is_another_lock(t, word)))
		rtm_abort(ELIDE_CODE_destroy);
	if (call ? !call->elided : is_shared(word))
		return ELIDE_NOTHING_DONE;
	if (t->nr_held == ELIDE_MAX_HELD)
		rtm_abort(ELIDE_CODE_nesting);
	if (!is_free(word, rule, &value))
		rtm_abort(ELIDE_CODE_inner_busy);
	test_point(nested);
	t->held[t->nr_held++] =
		(struct elide_held){.word = word, .value = value, .size = rule->size};
	if (note && note_repeated(t, t->nr_nested, call))
		return ELIDE_ELIDED;
	if (note && t->nr_nested < ELIDE_MAX_NESTED)
		t->nested[t->nr_nested++] = (uint64_t)call;
	else
		elide_defer(t, call, word, site, kind,
			    until == &elide_until_locked ? ELIDE_DEFER_ELIDED :
							   ELIDE_DEFER_ELIDED_TRY);
	return ELIDE_ELIDED;
}

/* The lock is held. @spins: iterations to wait at least; 0: the call does not wait */
static __noinline bool wait_longer(const struct elide_call *call, const void *word,
				   const struct elide_rule *rule, uint32_t spins)
{
	uint32_t class_index = elide_call_row(call)->class_index;
	unsigned long long start;
	uint64_t value;
	uint32_t cycles;

	if (!spins)
		return false;
	while (spins--) {
		cpu_relax();
		if (is_free(word, rule, &value))
			return true;
	}
	cycles = policy_wait_attempt(elide_hold_known(class_index), elide_oversubscribed());
	for (start = cycles_now(); cycles_now() - start < cycles;) {
		cpu_relax();
		if (is_free(word, rule, &value))
			return true;
	}
	return false;
}

static __always_inline_fn bool wait_until_free(const struct elide_call *call, const void *word,
					       const struct elide_rule *rule, uint32_t spins)
{
	uint64_t value;

	return likely(is_free(word, rule, &value)) || wait_longer(call, word, rule, spins);
}

/**
 * struct tries - an acquisition by elision: one attempt or more.
 * @call: its call
 * @word, @rule: the lock's
 * @arm: enum policy_arm_name
 * @until: how long the call waits for a held lock
 * @prepared: prepare() was called for the first attempt
 * @start: time-stamp counter at the start of the attempt if it is timed, else 0
 * @weight: attempts for which a timed one stands
 */
struct tries {
	struct elide_call *call;
	const void *word;
	const struct elide_rule *rule;
	const struct elide_until *until;
	unsigned int arm;
	bool prepared;
	unsigned long long start;
	uint32_t weight;
};

/* Evidence that only the emulator has: why EAX was zero. */
static enum elide_cause emulated_cause(const struct rtmgrind_brief *brief)
{
	switch (brief->cause) {
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

/* Sections that all threads have elided. A counter of these would cost each section. */
static uint64_t commits_of_all(void)
{
	uint64_t sum = 0;

	for (struct elide_thread *t = elide_threads_all(); t; t = t->next)
		for (uint32_t nr = 1; nr <= t->nr_calls; nr++)
			sum += READ_ONCE(elide_call_row(elide_call_at(t, nr))->commits);
	return sum;
}

/*
 * RTM that never commits (virtual machine moved, microcode) must not be left
 * on. Only if no thread has committed during a whole streak of this one's aborts.
 */
static __noinline void watch(struct elide_thread *t)
{
	uint64_t commits;

	t->streak = 0;
	/* A handler may have left elide_release() by longjmp(). */
	t->catches_up = false;
	commits = commits_of_all();
	if (commits == t->committed)
		elide_disable("transactions have stopped committing");
	t->committed = commits;
}

/* Read the beginning of the emulator's record. Not inlined, so that its request takes no stack afterwards. */
static __noinline bool ask_emulator(struct elide_aborted *a, struct rtmgrind_brief *brief)
{
	RTMGRIND_STILL;

	if (!rtmgrind_request(RTMGRIND_LAST_ABORT, (unsigned long)brief, sizeof(*brief)))
		return false;
	if (a->cause == ELIDE_CAUSE_other)
		a->cause = emulated_cause(brief);
	a->cycles = brief->cycles;
	a->brief = brief;
	return true;
}

/* An abort whose details are known, or are to be found out. */
static __noinline void look_into(struct elide_thread *t, struct elide_row *row,
				 const struct tries *tries, unsigned int status,
				 unsigned long long start)
{
	struct elide_aborted a = {.lock = tries->word, .cause = policy_cause(status)};
	struct rtmgrind_brief brief;
	struct elide_pmu_abort sampled;
	uint64_t value, length = 0;

	if (unlikely(t->pmu) && elide_pmu_take(t->pmu, status, &sampled)) {
		a.cause = sampled.cause;
		a.sampled = &sampled;
	}
	/* Without evidence the emulator is asked only if the status word has no cause. */
	if (elide_process.rtm == ELIDE_RTM_EMULATED &&
	    (elide_evidence || a.cause == ELIDE_CAUSE_other) && ask_emulator(&a, &brief)) {
		length = a.cycles;
	} else if (start) {
		unsigned long long cycles = cycles_now() - start;

		length = cycles;
		/* In a longer one the thread was off the processor: it is not scaled. */
		a.cycles = cycles < LONGEST_SCALED ? cycles * tries->weight : cycles;
	}
	counter_add(row->wasted_cycles, a.cycles);
	counter_add(row->causes[a.cause], 1);
	if (elide_evidence) {
		RTMGRIND_STILL;

		a.held = !is_free(tries->word, tries->rule, &value);
		elide_evidence_abort(t, row, &a);
		elide_span_abort(t, row, a.cause, length);
	}
}

void elide_conflict_seen(struct elide_thread *t, struct elide_row *row, const void *word,
			 const struct elide_rule *rule, unsigned int status)
{
	struct tries tries = {.word = word, .rule = rule};
	RTMGRIND_STILL;

	look_into(t, row, &tries, status, 0);
}

static __always_inline_fn void count_abort(struct elide_thread *t, struct elide_row *row,
					   const struct tries *tries, unsigned int status,
					   enum elide_cause cause, unsigned long long start)
{
	if (unlikely(start || elide_evidence || t->pmu || cause == ELIDE_CAUSE_other))
		look_into(t, row, tries, status, start);
	else
		counter_add(row->causes[cause], 1);
	if (unlikely(watch_is_due(t)))
		watch(t);
	else
		t->streak++;
}

__cold void elide_policy_changed(const struct elide_call *call, const void *lock)
{
	const struct policy_lock *policy = elide_policy_of(lock);
	struct elide_row *row = elide_call_row(call);
	bool paused = policy->pause != 0;

	WRITE_ONCE(row->state, paused ? ELIDE_STATE_PAUSED : ELIDE_STATE_ELIDING);
	elide_evidence_event(paused ? ELIDE_EVENT_PAUSED : ELIDE_EVENT_RESUMED, row, lock,
			     policy, elide_window(elide_self, lock, call));
}

/* Do what the policy said. False: fall back. */
static __always_inline_fn bool carry_out(struct elide_thread *t, const struct tries *tries,
					 struct policy_verdict v)
{
	uint32_t spins = elide_process.config.spin_busy;
	bool wait = elide_may_wait(tries->until);

	switch (v.action) {
	case POLICY_RETRY:
		return true;
	case POLICY_WAIT:
		spins = v.spins;
		break;
	case POLICY_BACKOFF:
		if (wait)
			for (uint32_t n = elide_random_period(t, v.spins); n; n--)
				cpu_relax();
		break;
	case POLICY_FALLBACK:
		return false;
	}
	return wait_until_free(tries->call, tries->word, tries->rule, wait ? spins : 0);
}

static __noinline void gave_up(struct elide_thread *t, const struct tries *tries,
			       const struct policy_attempts *try)
{
	/* No section has begun. */
	if (!t->in_locked)
		t->outer = NULL;
	if (elide_process.config.measures) {
		adapt_fell_back(tries->call, tries->word, try);
	} else if (elide_process.config.keeps_window) {
		if (policy_hpca_done(&elide_process.config, elide_policy_of(tries->word),
				     elide_window(t, tries->word, tries->call), try, false))
			elide_policy_changed(tries->call, tries->word);
	}
	tries->call->lock = tries->word;
	/* A page that only transactions touch is never allocated: each of them aborts at its fault. */
	WRITE_ONCE(t->pending[0].kind, READ_ONCE(t->pending[0].kind));
}

/* The section has begun, and what runs at its commit needs the lock that it began with. */
static __always_inline_fn void remember(struct elide_thread *t, const struct tries *tries,
					struct elide_row *row)
{
	if (likely(!elide_process.order && !elide_process.config.keeps_window))
		return;
	*pending_add(t) = (struct elide_pending){
		.what = tries->until == &elide_until_locked ? ELIDE_DEFER_ELIDED :
							      ELIDE_DEFER_ELIDED_TRY,
		.kind = row->kind,
		.lock = tries->word,
		.site = elide_at_run_time(row->site),
		.row = row,
	};
}

/*
 * An attempt has aborted with @status. Return: ELIDE_ELIDED or ELIDE_FELL_BACK.
 * @conflicts: earlier attempts, all aborted by conflicts
 */
static __always_inline_fn enum elide_outcome retry(struct elide_thread *t,
						       const struct tries *tries,
						       unsigned int status, unsigned int conflicts)
{
	const struct policy_config *config = &elide_process.config;
	struct elide_row *row = elide_call_row(tries->call);
	/* A locked section around it stays in held[0] until this one has begun. */
	bool prepared = !t->in_locked;
	struct policy_lock *lock = config->counts_skips ? elide_policy_of(tries->word) : NULL;
	struct policy_attempts try = {
		.arm = tries->arm,
		.attempts = conflicts,
		.conflict = conflicts,
	};
	unsigned long long start = tries->start;
	uint64_t value;

	/* The fast path has done so. */
	if (prepared && !tries->prepared)
		prepare(t, row, tries->word, tries->rule);
	for (;;) {
		enum elide_cause cause = policy_cause(status);

		test_point(aborted);
		count_abort(t, row, tries, status, cause, start);
		if (config->measures) {
			/* In an oversubscribed process the holder may have no processor: do not wait. */
			try.held = !(try.conflict && elide_oversubscribed()) &&
				   !is_free(tries->word, tries->rule, &value);
			adapt_aborted(tries->call, &try, cause);
		}
		if (!carry_out(t, tries, policy_abort(config, lock, &try, status, cause)))
			break;
		start = start ? cycles_now() : 0;
		status = rtm_begin();
		if (likely(status == RTM_STARTED)) {
			subscribe(t, row, tries->word, tries->rule, prepared);
			remember(t, tries, row);
			return ELIDE_ELIDED;
		}
	}
	gave_up(t, tries, &try);
	test_point(fallback);
	return ELIDE_FELL_BACK;
}

enum elide_outcome elide_retry(struct elide_thread *t, struct elide_call *call,
				   const void *word, const struct elide_rule *rule,
				   const struct elide_until *until, unsigned int status,
				   unsigned int conflicts)
{
	struct tries tries = {
		.call = call,
		.word = word,
		.rule = rule,
		.until = until,
		.arm = adapt_arm_now(call),
		.prepared = true,
	};

	return retry(t, &tries, status, conflicts);
}

/* elide ctl, or watch(), has switched elision off, or elide ctl has switched it on again. */
static __cold void change_ways(struct elide_thread *t, bool halted)
{
	t->halted = halted;
	for (uint32_t nr = 1; nr <= t->nr_calls; nr++) {
		struct elide_call *call = elide_call_at(t, nr);

		elide_call_set_way(call, elide_way(t, elide_call_row(call)), adapt_arm_of(call));
	}
}

__noinline bool elide_may_try(struct elide_thread *t, struct elide_call *call)
{
	if (!call->elided || call->way == ELIDE_WAY_DORMANT)
		return false;
	if (unlikely(t->halted != elide_halted()))
		change_ways(t, elide_halted());
	t->arm = POLICY_ARM_keen;
	if (likely(elide_process.config.measures))
		t->arm = adapt_arm(t, call);
	else if (!call->adapt->countdown || !--call->adapt->countdown)
		call->adapt->countdown = t->time_weight =
			elide_random_period(t, ELIDE_TIME_PERIOD);
	return t->arm != POLICY_ARM_real;
}

enum elide_outcome elide_acquire(struct elide_thread *t, struct elide_call *call,
				 const void *word, const struct elide_rule *rule, const void *site,
				 enum elide_kind kind, const struct elide_until *until)
{
	const struct policy_config *config = &elide_process.config;
	struct tries tries;
	unsigned int status;
	uint64_t value;

	if (unlikely(t->nr_held))
		return acquire_nested(t, call, word, rule, site, kind, until);
	if (unlikely(elide_halted()))
		return ELIDE_SKIPPED;
	if (unlikely(rtm_test()))
		return ELIDE_NOTHING_DONE; /* a transaction of the program, which executes its XEND */
	if (!config->measures &&
	    !policy_lock_enter(config, elide_policy_of(word)))
		return ELIDE_SKIPPED;
	test_point(enter);
	if (unlikely(!is_free(word, rule, &value)) && config->looks_first &&
	    !wait_longer(call, word, rule,
			 elide_may_wait(until) ? config->spin_busy : 0))
		return ELIDE_SKIPPED;
	tries = (struct tries){
		.call = call,
		.word = word,
		.rule = rule,
		.until = until,
		.arm = t->arm,
	};
	if (unlikely(t->time_weight)) {
		elide_registry_used(word, elide_call_row(call)->class_index, t);
		tries.weight = t->time_weight;
		tries.start = cycles_now();
		elide_thread_seen(t, tries.start);
		t->time_weight = 0;
	}
	status = rtm_begin();
	if (unlikely(status != RTM_STARTED))
		return retry(t, &tries, status, 0);
	subscribe(t, elide_call_row(call), word, rule, false);
	remember(t, &tries, elide_call_row(call));
	return ELIDE_ELIDED;
}

enum elide_outcome elide_try(struct elide_call *call, const void *word,
			     const struct elide_rule *rule, const void *site,
			     enum elide_kind kind, const struct elide_until *until,
			     struct elide_row **row)
{
	if (unlikely(!call)) {
		call = elide_call_get(word, site, kind);
		if (!call)
			return ELIDE_NOTHING_DONE;
	}
	*row = elide_call_row(call);
	if (!elide_may_try(elide_self, call) || !rule) {
		call->lock = word;
		return ELIDE_SKIPPED;
	}
	return elide_acquire(elide_self, call, word, rule, site, kind, until);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * api.c - the public interface, for locks that are not pthread's.
 *
 * Must hold no logic of its own: it translates between elide.h and engine.h.
 */
#include <sys/auxv.h>

#include "../base/syscalls.h"
#include "../emulator.h"
#include "../life/fill.h"
#include "../life/lock.h"
#include "../life/start.h"
#include "engine.h"
#include "locked.h"
#include "fast-path.h"
#include "section.h"

/* The caller is about to lock, or, without @wait, to try to; the result is not known here. */
static void count(struct elide_thread *t, struct elide_row *row, const void *word,
		  enum elide_outcome outcome, bool wait)
{
	elide_count(row, outcome);
	if (unlikely(elide_process.watch_locked))
		elide_watch_locked(t, row, word, wait);
}

/* Every case; begin_unknown() and begin_known() do the usual ones. */
static __noinline int begin(const void *word, const struct elide_rule *rule, const void *site)
{
	struct elide_thread *t = elide_self;
	struct elide_call *call = elide_call_find(t, word, site, ELIDE_KIND_CUSTOM);
	enum elide_outcome outcome;
	struct elide_row *row;

	if (elide_inside(t)) {
		if (elide_find_held(t, word))
			rtm_abort(ELIDE_CODE_relock);
		outcome = elide_acquire(t, call, word, rule, site, ELIDE_KIND_CUSTOM,
					&elide_until_locked);
		if (outcome == ELIDE_NOTHING_DONE)
			elide_defer(t, call, word, site, ELIDE_KIND_CUSTOM, ELIDE_DEFER_LOCKED);
		return outcome == ELIDE_ELIDED;
	}
	outcome = elide_try(call, word, rule, site, ELIDE_KIND_CUSTOM, &elide_until_locked, &row);
	if (outcome == ELIDE_SKIPPED || outcome == ELIDE_FELL_BACK)
		count(elide_self, row, word, outcome, true);
	return outcome == ELIDE_ELIDED;
}

/* The fast path has not elided. @outcome: what it says; @status: of its attempt, if it made one */
static __noinline int begin_otherwise(struct elide_call *call, const void *word,
				      const struct elide_rule *rule, const void *site,
				      enum elide_outcome outcome, unsigned int status)
{
	struct elide_thread *t = elide_self_fast;

	if (outcome == ELIDE_NOTHING_DONE)
		return begin(word, rule, site);
	if (outcome == ELIDE_FELL_BACK)
		outcome = elide_acquire_retry(t, call, word, rule, &elide_until_locked, status);
	if (outcome == ELIDE_ELIDED)
		return 1;
	count(t, elide_call_row(call), word, outcome, true);
	return 0;
}

/* elide_fast_acquire() with a constant size of the word, which makes its code shorter. */
static __always_inline_fn enum elide_outcome acquire_known(struct elide_thread *t,
							   struct elide_fast q, const void *word,
							   const struct elide_rule *rule,
							   unsigned int *status)
{
	struct elide_rule sized = {.mask = rule->mask, .free = rule->free, .size = 8};

	if (rule->size != 4)
		return elide_fast_acquire(t, q, word, sized, status);
	sized.size = 4;
	return elide_fast_acquire(t, q, word, sized, status);
}

static __always_inline_fn int begin_known(struct elide_thread *t, struct elide_fast q,
					  const void *word, const struct elide_rule *rule,
					  const void *site)
{
	unsigned int status = 0;
	enum elide_outcome outcome = acquire_known(t, q, word, rule, &status);

	if (likely(outcome == ELIDE_ELIDED))
		return 1;
	if (likely(outcome == ELIDE_SKIPPED)) {
		count(t, q.row, word, outcome, true);
		return 0;
	}
	return begin_otherwise(q.call, word, rule, site, outcome, status);
}

/* The thread does not know the lock or the call, or the section is not a usual one. */
static __noinline int begin_unknown(const void *word, const struct elide_rule *rule,
				    const void *site)
{
	struct elide_thread *t = elide_self_fast;
	struct elide_fast q = elide_fast_look(t, word, site, ELIDE_KIND_CUSTOM);

	return q.known ? begin_known(t, q, word, rule, site) : begin(word, rule, site);
}

/* In a section. Not inlined: so elide_begin() need not save registers. */
static __noinline int begin_nested(struct elide_thread *t, const void *word,
				   const struct elide_rule *rule, const void *site)
{
	return elide_fast_nested(t, word, *rule, site, ELIDE_KIND_CUSTOM) ||
	       begin_unknown(word, rule, site);
}

__export int elide_begin(const void *word, const struct elide_rule *rule)
{
	const void *site = __builtin_return_address(0);
	struct elide_thread *t = elide_self_fast;
	struct elide_fast q;

	if (unlikely(t->open))
		return begin_nested(t, word, rule, site);
	q = elide_fast(t, word, site, ELIDE_KIND_CUSTOM);
	if (unlikely(!q.known))
		return begin_unknown(word, rule, site);
	return begin_known(t, q, word, rule, site);
}

/* What elide_try_begin() returns where the lock is held. */
#define HELD (-1)

/* The lock was not elided. Counts the acquisition, unless the lock is held. */
static int try_lock(struct elide_thread *t, struct elide_row *row, const void *word,
		    const struct elide_rule *rule, enum elide_outcome outcome)
{
	uint64_t value;

	if (!is_free(word, rule, &value))
		return HELD;
	count(t, row, word, outcome, false);
	return 0;
}

/* A try in an elided section. A held lock does not abort the section: HELD is returned. */
static int try_inside(struct elide_thread *t, struct elide_call *call, const void *word,
		      const struct elide_rule *rule, const void *site)
{
	uint64_t value;

	if (elide_find_held(t, word) || !is_free(word, rule, &value))
		return HELD;
	if (elide_acquire(t, call, word, rule, site, ELIDE_KIND_CUSTOM, &elide_until_now) ==
	    ELIDE_ELIDED)
		return 1;
	elide_defer(t, call, word, site, ELIDE_KIND_CUSTOM, ELIDE_DEFER_LOCKED_TRY);
	return 0;
}

/* Every case; elide_try_begin() does the usual ones. */
static __noinline int try_begin(const void *word, const struct elide_rule *rule, const void *site)
{
	struct elide_thread *t = elide_self;
	struct elide_call *call = elide_call_find(t, word, site, ELIDE_KIND_CUSTOM);
	enum elide_outcome outcome;
	struct elide_row *row;
	uint64_t value;

	if (elide_inside(t))
		return try_inside(t, call, word, rule, site);
	outcome = elide_try(call, word, rule, site, ELIDE_KIND_CUSTOM, &elide_until_now, &row);
	if (outcome == ELIDE_ELIDED)
		return 1;
	if (outcome == ELIDE_NOTHING_DONE)
		return is_free(word, rule, &value) ? 0 : HELD;
	return try_lock(elide_self, row, word, rule, outcome);
}

static __noinline int try_nested(struct elide_thread *t, const void *word,
				 const struct elide_rule *rule, const void *site)
{
	if (elide_fast_nested(t, word, *rule, site, ELIDE_KIND_CUSTOM))
		return 1;
	return try_begin(word, rule, site);
}

/* The fast path has not elided. Parameters are those of begin_otherwise(). */
static __noinline int try_otherwise(struct elide_call *call, const void *word,
				    const struct elide_rule *rule, const void *site,
				    enum elide_outcome outcome, unsigned int status)
{
	struct elide_thread *t = elide_self_fast;

	if (outcome == ELIDE_NOTHING_DONE)
		return try_begin(word, rule, site);
	if (outcome == ELIDE_FELL_BACK)
		outcome = elide_acquire_retry(t, call, word, rule, &elide_until_now, status);
	return outcome == ELIDE_ELIDED ?
		       1 : try_lock(t, elide_call_row(call), word, rule, outcome);
}

static __always_inline_fn int try_known(struct elide_thread *t, struct elide_fast q,
					const void *word, const struct elide_rule *rule,
					const void *site)
{
	unsigned int status = 0;
	enum elide_outcome outcome = acquire_known(t, q, word, rule, &status);

	if (likely(outcome == ELIDE_ELIDED))
		return 1;
	return try_otherwise(q.call, word, rule, site, outcome, status);
}

/* The thread does not know the lock or the call, or the section is not a usual one. */
static __noinline int try_unknown(const void *word, const struct elide_rule *rule,
				  const void *site)
{
	struct elide_thread *t = elide_self_fast;
	struct elide_fast q = elide_fast_look(t, word, site, ELIDE_KIND_CUSTOM);

	return q.known ? try_known(t, q, word, rule, site) : try_begin(word, rule, site);
}

__export int elide_try_begin(const void *word, const struct elide_rule *rule)
{
	const void *site = __builtin_return_address(0);
	struct elide_thread *t = elide_self_fast;
	struct elide_fast q;

	if (unlikely(t->open))
		return try_nested(t, word, rule, site);
	q = elide_fast(t, word, site, ELIDE_KIND_CUSTOM);
	if (unlikely(!q.known))
		return try_unknown(word, rule, site);
	return try_known(t, q, word, rule, site);
}

static __noinline int end_nested(struct elide_thread *t, const void *word)
{
	return elide_fast_release_nested(t, word, 0) ||
	       (elide_inside(elide_self) && elide_release(t, word));
}

__export int elide_end(const void *word)
{
	struct elide_thread *t = elide_self_fast;

	if (likely(elide_fast_release(t, word, 0)))
		return 1;
	return t->open ? end_nested(t, word) : 0;
}

__export void elide_init(const void *word, const void *site)
{
	struct elide_thread *t = elide_self;

	if (!site)
		site = __builtin_return_address(0);
	if (!elide_inside(t)) {
		elide_lock_new(word, ELIDE_KIND_CUSTOM, site, false);
		return;
	}
	if (elide_find_held(t, word))
		rtm_abort(ELIDE_CODE_destroy);
	elide_defer(t, NULL, word, site, ELIDE_KIND_CUSTOM, ELIDE_DEFER_NEW);
}

__export void elide_forget(const void *word)
{
	struct elide_thread *t = elide_self;

	if (!elide_inside(t)) {
		elide_lock_gone(word);
		return;
	}
	if (elide_find_held(t, word))
		rtm_abort(ELIDE_CODE_destroy);
	elide_defer(t, NULL, word, NULL, ELIDE_KIND_CUSTOM, ELIDE_DEFER_GONE);
}

__export int elide_status(const char **why)
{
	if (why)
		*why = elide_process.why;
	return elide_enabled;
}

/* Defined where the library may be loaded into a running process, which tells it when to start. */
extern bool elide_waits(void) __attribute__((weak));

/* Runs before the constructor of preload/, which may have to switch elision off. */
__attribute__((constructor(65000))) static void start(void)
{
	if (elide_waits && elide_waits())
		return;
	/* It reads the whole environment. */
	rtmgrind_time_stops();
	elide_start(getauxval(AT_SECURE));
	rtmgrind_time_goes_on();
}

__attribute__((destructor)) static void stop(void)
{
	/* The program ends in a section: abort its transaction, as elide_stop() stores outside of it. */
	if (unlikely(elide_inside(elide_self)))
		sys_gettid();
	elide_stop();
}

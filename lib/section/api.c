/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * api.c - the public interface, for locks that are not pthread's.
 *
 * Must hold no logic of its own: it translates between elide.h and engine.h.
 */
#include <sys/auxv.h>

#include "../emulator.h"
#include "../life/fill.h"
#include "../life/lock.h"
#include "../life/start.h"
#include "engine.h"
#include "held.h"
#include "quick.h"
#include "section.h"

/* The caller is about to lock, or, without @wait, to try it; whether it has is not known here. */
static void count(struct elide_thread *t, struct elide_row *row, const void *word,
		  enum elide_outcome outcome, bool wait)
{
	elide_count(row, outcome);
	if (unlikely(elide_process.watch_locked))
		elide_watch_locked(t, row, word, wait);
}

/* Every case; elide_begin() does what is usual. */
static __noinline int begin(const void *word, const struct elide_rule *rule, const void *site)
{
	struct elide_thread *t = elide_self;
	struct elide_cache *entry = elide_cache_find(t, word, site, ELIDE_KIND_CUSTOM);
	enum elide_outcome outcome;
	struct elide_row *row;

	if (elide_inside(t)) {
		if (elide_find_held(t, word))
			rtm_abort(ELIDE_CODE_relock);
		outcome = elide_acquire(t, entry, word, rule, site, ELIDE_KIND_CUSTOM, true);
		if (outcome == ELIDE_NOTHING_DONE)
			elide_defer(t, entry, word, site, ELIDE_KIND_CUSTOM, ELIDE_DEFER_LOCKED);
		return outcome == ELIDE_ELIDED;
	}
	outcome = elide_try(entry, word, rule, site, ELIDE_KIND_CUSTOM, true, &row);
	if (outcome == ELIDE_SKIPPED || outcome == ELIDE_FELL_BACK)
		count(elide_self, row, word, outcome, true);
	return outcome == ELIDE_ELIDED;
}

__export int elide_begin(const void *word, const struct elide_rule *rule)
{
	const void *site = __builtin_return_address(0);
	struct elide_thread *t = elide_self_quick;
	enum elide_outcome outcome;
	struct elide_quick q;
	unsigned int status;

	if (t->open)
		return elide_quick_nested(t, word, *rule, site, ELIDE_KIND_CUSTOM) ||
		       begin(word, rule, site);
	q = elide_quick(t, word, site, ELIDE_KIND_CUSTOM);
	if (unlikely(!q.known))
		return begin(word, rule, site);
	outcome = elide_quick_acquire(t, q, word, *rule, &status);
	if (likely(outcome == ELIDE_ELIDED))
		return 1;
	if (outcome == ELIDE_NOTHING_DONE)
		return begin(word, rule, site);
	if (outcome == ELIDE_FELL_BACK)
		outcome = elide_acquire_again(t, q.call, word, rule, true, status);
	if (outcome == ELIDE_ELIDED)
		return 1;
	count(t, elide_call_row(q.call), word, outcome, true);
	return 0;
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

/* A try in an elided section. A held lock does not abort it: the answer says so. */
static int try_inside(struct elide_thread *t, struct elide_cache *entry, const void *word,
		      const struct elide_rule *rule, const void *site)
{
	uint64_t value;

	if (elide_find_held(t, word) || !is_free(word, rule, &value))
		return HELD;
	if (elide_acquire(t, entry, word, rule, site, ELIDE_KIND_CUSTOM, false) == ELIDE_ELIDED)
		return 1;
	elide_defer(t, entry, word, site, ELIDE_KIND_CUSTOM, ELIDE_DEFER_LOCKED_TRY);
	return 0;
}

/* Every case; elide_try_begin() does what is usual. */
static __noinline int try_begin(const void *word, const struct elide_rule *rule, const void *site)
{
	struct elide_thread *t = elide_self;
	struct elide_cache *entry = elide_cache_find(t, word, site, ELIDE_KIND_CUSTOM);
	enum elide_outcome outcome;
	struct elide_row *row;
	uint64_t value;

	if (elide_inside(t))
		return try_inside(t, entry, word, rule, site);
	outcome = elide_try(entry, word, rule, site, ELIDE_KIND_CUSTOM, false, &row);
	if (outcome == ELIDE_ELIDED)
		return 1;
	if (outcome == ELIDE_NOTHING_DONE)
		return is_free(word, rule, &value) ? 0 : HELD;
	return try_lock(elide_self, row, word, rule, outcome);
}

__export int elide_try_begin(const void *word, const struct elide_rule *rule)
{
	const void *site = __builtin_return_address(0);
	struct elide_thread *t = elide_self_quick;
	enum elide_outcome outcome;
	struct elide_quick q;
	unsigned int status;

	if (t->open && elide_quick_nested(t, word, *rule, site, ELIDE_KIND_CUSTOM))
		return 1;
	q = elide_quick(t, word, site, ELIDE_KIND_CUSTOM);
	if (unlikely(!q.known))
		return try_begin(word, rule, site);
	outcome = elide_quick_acquire(t, q, word, *rule, &status);
	if (likely(outcome == ELIDE_ELIDED))
		return 1;
	if (outcome == ELIDE_NOTHING_DONE)
		return try_begin(word, rule, site);
	if (outcome == ELIDE_FELL_BACK)
		outcome = elide_acquire_again(t, q.call, word, rule, false, status);
	return outcome == ELIDE_ELIDED ?
		       1 : try_lock(t, elide_call_row(q.call), word, rule, outcome);
}

__export int elide_end(const void *word)
{
	struct elide_thread *t = elide_self_quick;

	if (likely(t->open == ELIDE_OPEN_ONE) && elide_quick_release(t, word, t->held[0].size))
		return 1;
	return elide_inside(elide_self) && elide_release(t, word);
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

/* Before the constructor of preload/, which may have to switch elision off. */
__attribute__((constructor(65000))) static void start(void)
{
	/* It reads the whole environment. */
	rtmgrind_time_stops();
	elide_start(getauxval(AT_SECURE));
	rtmgrind_time_goes_on();
}

__attribute__((destructor)) static void stop(void)
{
	elide_stop();
}

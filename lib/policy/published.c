/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * published.c - see published.h.
 *
 * Must never look at a clock, a lock word or anything but its arguments.
 */
#include "../compiler.h"
#include "../rtm.h"
#include "published.h"

/* glibc's defaults: glibc.elision.tries 3, skip_lock_busy 3, skip_lock_internal_abort 3. */
#define GLIBC_TRIES 3
#define GLIBC_SKIP  3

/* "Our experiments show that 2 attempts are optimal" (Cervini et al., DaMoN'15, 3.2). */
#define DAMON_TRIES 2

/*
 * Failures of the window that an acquisition counts as whose last abort would come again. Chosen
 * here: one in eight acquisitions with a system call is as bad as a failure in each.
 */
#define UNELIDABLE_WEIGHT 8

bool policy_lock_enter(const struct policy_config *config, struct policy_lock *lock)
{
	if (config->name == POLICY_NEVER)
		return false;
	if (lock->skip) {
		lock->skip--;
		return false;
	}
	return true;
}

struct policy_verdict policy_glibc_abort(struct policy_lock *lock, struct policy_attempts *try,
					 unsigned int status)
{
	if (status & RTM_RETRY) {
		if (try->attempts < GLIBC_TRIES)
			return policy_verdict(POLICY_RETRY, 0);
		return policy_fallback(try, false);
	}
	lock->skip = GLIBC_SKIP;
	return policy_fallback(try, false);
}

struct policy_verdict policy_damon_abort(const struct policy_config *config, struct policy_attempts *try,
					 enum elide_cause cause, unsigned int status)
{
	if (try->attempts >= DAMON_TRIES)
		return policy_fallback(try, false);
	if (cause == ELIDE_CAUSE_busy || cause == ELIDE_CAUSE_inner_busy)
		return policy_verdict(POLICY_WAIT, config->spin_busy);
	if (status & RTM_CONFLICT)
		return policy_verdict(POLICY_BACKOFF, config->backoff);
	if (status & RTM_RETRY)
		return policy_verdict(POLICY_BACKOFF, 1);
	return policy_fallback(try, false);
}

/* Keep the numbers by which the lock was changed, for the timeline of the data file. */
static __cold bool changed(struct policy_window *window, struct policy_window on)
{
	window->last_tries = on.tries;
	window->last_fails = on.fails;
	return true;
}

bool policy_hpca_done(const struct policy_config *config, struct policy_lock *lock,
		      struct policy_window *window, const struct policy_attempts *try, bool elided)
{
	struct policy_window on;

	if (config->name != POLICY_HPCA)
		return false;
	window->tries++;
	if (!elided)
		window->fails += try->persistent ? UNELIDABLE_WEIGHT : 1;
	if (window->fails < HPCA_FAILURES && window->tries < HPCA_WINDOW)
		return false;
	on = *window;
	window->tries = window->fails = 0;
	if (on.fails >= HPCA_FAILURES) {
		if (lock->skip)
			return false; /* another thread has paused it meanwhile */
		lock->pause = lock->skip = HPCA_PAUSE;
		return changed(window, on);
	}
	if (!lock->pause)
		return false;
	lock->pause = 0;
	return changed(window, on);
}

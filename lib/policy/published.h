/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * published.h - policies of others, to compare with: glibc's, DaMoN'15's and HPCA'14's.
 *
 * Pure functions, as in policy.h. glibc's and HPCA'14's keep a state of each lock, DaMoN'15's none;
 * policy_hpca_done() does something under HPCA'14's alone:
 *
 *   policy_lock_enter() --skip--> lock
 *        | try
 *        v
 *   attempt --commit--> policy_hpca_done(elided)
 *        | abort
 *        v
 *   policy_abort() --RETRY | WAIT | BACKOFF--> attempt
 *        | FALLBACK
 *        v
 *   lock, policy_hpca_done(not elided)
 *
 * HPCA'14's policy disables a lock for a period when fallbacks reach a threshold. Its numbers are
 * chosen here:
 *
 *   state     event                                            next      skips, acquisitions
 *   -------   ----------------------------------------------   -------   -------------------
 *   eliding   HPCA_WINDOW passed, fewer failures than half     eliding   0
 *   eliding   failures reached half of HPCA_WINDOW             paused    HPCA_PAUSE
 *   paused    HPCA_PAUSE went by                               eliding   0
 */
#ifndef ELIDE_PUBLISHED_H
#define ELIDE_PUBLISHED_H

#include "policy.h"

/* Acquisitions over which a thread judges whether eliding a lock works. */
#define HPCA_WINDOW 64
/* Acquisitions of a window that fell back from which on the lock is paused: half of it. */
#define HPCA_FAILURES (HPCA_WINDOW / 2)
/* Acquisitions of a lock that are not tried then. */
#define HPCA_PAUSE 256

/**
 * struct policy_window - a thread's window of a lock, under HPCA'14's policy.
 * @tries: acquisitions that were tried in this window
 * @fails: of these, those that fell back; one that cannot be elided counts 8
 * @last_tries: @tries of the last window that changed the lock
 * @last_fails: @fails of that window
 */
struct policy_window {
	uint16_t tries;
	uint16_t fails;
	uint16_t last_tries;
	uint16_t last_fails;
};

/**
 * policy_lock_enter() - is this acquisition tried, by the state of its single lock?
 * @config: settings
 * @lock: state of the lock; its @skip is counted down
 *
 * Of all policies but the adaptive one, which has adapt_arm() instead.
 *
 * Return: true to try, false to lock.
 */
bool policy_lock_enter(const struct policy_config *config, struct policy_lock *lock);

/**
 * policy_glibc_abort() - what to do after an abort under glibc's policy.
 * @lock: state of the lock; its @skip is set if the acquisition falls back for good
 * @try: the acquisition
 * @status: abort status word (rtm.h)
 *
 * As __lll_lock_elision(): further attempts while the retry bit is set, at once, even if the lock is
 * held; else the next acquisitions are not tried.
 *
 * Return: the verdict.
 */
struct policy_verdict policy_glibc_abort(struct policy_lock *lock, struct policy_attempts *try,
					 unsigned int status);

/**
 * policy_damon_abort() - what to do after an abort under DaMoN'15's policy.
 * @config: settings
 * @try: the acquisition
 * @cause: policy_cause() of @status
 * @status: abort status word (rtm.h)
 *
 * Cervini et al., DaMoN'15, figure in section 3.2: two attempts, the reaction depends on the cause.
 *
 * Return: the verdict.
 */
struct policy_verdict policy_damon_abort(const struct policy_config *config, struct policy_attempts *try,
					 enum elide_cause cause, unsigned int status);

/**
 * policy_hpca_done() - learn from an acquisition that was tried, under HPCA'14's policy.
 * @config: settings
 * @lock: state of the lock, may be paused by this
 * @window: the calling thread's window of the lock
 * @try: the acquisition
 * @elided: it was elided in the end
 *
 * HPCA'14 3.3.3: when aborts reach a threshold, disable elision for a period
 * and re-evaluate. Does nothing under the other policies.
 *
 * Return: true if @lock changed.
 */
bool policy_hpca_done(const struct policy_config *config, struct policy_lock *lock,
		      struct policy_window *window, const struct policy_attempts *try, bool elided);

#endif

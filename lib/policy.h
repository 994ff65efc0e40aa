/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * policy.h - when to try to elide, what to do after an abort, when to stop.
 *
 * Pure functions of (configuration, state, status): no clock, no atomics, no
 * I/O, no randomness of their own. The engine keeps the state and acts.
 *
 * One acquisition:
 *
 *   policy_enter() --SKIP--> take the lock really
 *        | TRY
 *        v
 *   attempt --commit--> policy_done(elided)
 *        | abort
 *        v
 *   policy_abort() --RETRY | WAIT | BACKOFF--> attempt
 *        | FALLBACK
 *        v
 *   take the lock really, policy_done(not elided)
 *
 * One lock under the adaptive policy (p: its pause, in acquisitions):
 *
 *   state     event                                          next      p
 *   -------   --------------------------------------------   -------   --------------------
 *   eliding   window passed, fewer failures than the limit   eliding   0
 *   eliding   failures reached the limit                     paused    pause_min
 *   paused    p acquisitions went by                         probing   p
 *   probing   short window passed                            eliding   0
 *   probing   failures reached the limit                     paused    min(2 p, pause_max)
 */
#ifndef ELIDE_POLICY_H
#define ELIDE_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "datafile.h"

/* In the order of the values of the tunable POLICY. */
enum policy_name {
	POLICY_ADAPTIVE,
	POLICY_FIXED,
	POLICY_GLIBC,
	POLICY_DAMON,
	POLICY_HPCA,
	POLICY_NEVER,
	POLICY_NR
};

/**
 * struct policy_config - the tunables a policy reads.
 * @name:           enum policy_name
 * @retry_conflict, @retry_busy, @retry_capacity, @retry_other: further
 *                  attempts after aborts of that group, per acquisition
 * @spin_busy:      longest wait for a held lock, iterations
 * @backoff:        mean pause after the first conflict, iterations
 * @window:         acquisitions a lock is judged over
 * @fail_percent:   share of fallbacks in a window that pauses the lock
 * @pause_min, @pause_max: bounds of the pause, acquisitions
 */
struct policy_config {
	uint32_t name;
	uint32_t retry_conflict;
	uint32_t retry_busy;
	uint32_t retry_capacity;
	uint32_t retry_other;
	uint32_t spin_busy;
	uint32_t backoff;
	uint32_t window;
	uint32_t fail_percent;
	uint32_t pause_min;
	uint32_t pause_max;
};

/**
 * struct policy_lock - what is remembered of a lock between acquisitions.
 * @skip:  acquisitions to forgo before the next attempt
 * @pause: length of the last pause; 0 while the lock has a clean record
 *
 * Shared by threads and updated without synchronisation: a lost update
 * makes a pause a little longer or shorter, nothing else.
 */
struct policy_lock {
	uint32_t skip;
	uint32_t pause;
};

/**
 * struct policy_window - a thread's running judgement of a lock.
 * @tries: acquisitions that were tried in this window
 * @fails: of these, those that fell back, weighted
 * @last_tries, @last_fails: the same of the last window that changed the lock
 */
struct policy_window {
	uint16_t tries;
	uint16_t fails;
	uint16_t last_tries;
	uint16_t last_fails;
};

/**
 * struct policy_try - attempts made for the present acquisition.
 */
struct policy_try {
	uint16_t attempts;
	uint16_t conflict;
	uint16_t busy;
	uint16_t capacity;
	uint16_t other;
	uint16_t hopeless; /* the last abort cannot go away by trying again */
};

enum policy_action {
	POLICY_RETRY,    /* at once */
	POLICY_WAIT,     /* until the lock is free, at most @spins iterations */
	POLICY_BACKOFF,  /* for a random time with mean @spins, then until it is free */
	POLICY_FALLBACK, /* take the lock really */
};

struct policy_verdict {
	enum policy_action action;
	uint32_t spins;
};

/**
 * policy_enter() - shall this acquisition be tried?
 * @config: settings
 * @lock: state of the lock; its @skip is counted down
 *
 * Return: true to try, false to take the lock really.
 */
bool policy_enter(const struct policy_config *config, struct policy_lock *lock);

/**
 * policy_abort() - what to do after an abort.
 * @config: settings
 * @lock: state of the lock
 * @try: this acquisition, updated
 * @status: abort status word (rtm.h)
 *
 * No cause ends the attempts merely because the processor's retry bit is
 * clear, but for the policies that are defined so: capacity aborts near the
 * edge are transient (Karnagel et al., HPCA'14, 4.3). The next attempt never
 * begins while the lock is held, so no lemming effect (HPCA'14, 3.3.2).
 *
 * Return: the verdict.
 */
struct policy_verdict policy_abort(const struct policy_config *config, struct policy_lock *lock,
				   struct policy_try *try, unsigned int status);

/**
 * policy_done() - learn from an acquisition that was tried.
 * @config: settings
 * @lock: state of the lock, may be paused by this
 * @window: the calling thread's window of the lock
 * @try: the acquisition
 * @elided: whether it was elided in the end
 *
 * HPCA'14 3.3.3: when aborts reach a threshold, disable elision for a period
 * and re-evaluate; the doubling follows the OpenMP runtime's adaptive lock.
 *
 * Return: true if @lock changed.
 */
bool policy_done(const struct policy_config *config, struct policy_lock *lock,
		 struct policy_window *window, const struct policy_try *try, bool elided);

/**
 * policy_cause() - cause of an abort as far as the status word tells.
 * @status: abort status word
 *
 * With several bits set the first of: explicit code, capacity, conflict,
 * debug, nested, other.
 *
 * Return: the cause.
 */
enum elide_cause policy_cause(unsigned int status);

#endif

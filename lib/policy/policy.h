/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * policy.h - when to try to elide, what to do after an abort, when to stop.
 *
 * Pure functions of (configuration, state, status): no clock, no atomics, no
 * I/O, no randomness of their own. The engine keeps the state and acts.
 *
 * One acquisition under the adaptive policy, which is the default. It enters by the arm of its
 * call site: an arm (the word of the multi-armed bandit) is a way to treat acquisitions, arms.def.
 *
 *   arm of the site now (adapt_arm())
 *     | real -------------------------------------------------------------> lock
 *     v
 *   lock held? wait, see wait.h -----------------------------still held----> lock
 *     v
 *   attempt --commit--> elided
 *     ^   | abort: policy_abort(), by the budget that the arm has for the cause
 *     |   |   conflict with a thread that has locked it    WAIT; the first 64 use no budget, 2 after
 *     |   |                                                another conflict
 *     |   |   conflict with another attempt                WAIT once, then BACKOFF, doubling; the arm
 *     |   |                                                patient: BACKOFF at once
 *     |   |   lock or inner lock held, capacity            WAIT
 *     |   |   no cause (an interrupt?), debug, nested      WAIT; one attempt more where these are
 *     |   |                                                rare, unless that did not help before
 *     |   |   a code of ours: only a locked section can    FALLBACK
 *     +---+ while there is budget
 *         v
 *       fall back: lock, and adapt_fell_back() learns
 *         of the lock   80 of 128 acquisitions of the class that fell back: a state of its own
 *         of the site   3 in a row, and most before, cannot be elided: unelidable, locked but for
 *                       probes
 *
 *   At the end of the thread's countdown adapt_arm() flushes, and at the end of a trial
 *   learn_trial() compares incumbent and challenger and sets the arms of the sites: learn.h.
 *
 * The policies fixed, never and restrict are simpler; those of others are in published.h.
 */
#ifndef ELIDE_POLICY_H
#define ELIDE_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "../datafile.h"
#include "learn.h"

/* In the order of the values of the tunable POLICY. */
enum policy_name {
	POLICY_ADAPTIVE,
	POLICY_FIXED,
	POLICY_GLIBC,
	POLICY_DAMON,
	POLICY_HPCA,
	POLICY_NEVER,
	POLICY_RESTRICT,
	POLICY_NR
};

/**
 * struct policy_budget - further attempts of an acquisition, after aborts of each group.
 * @conflict: after conflicts
 * @busy: after aborts because the lock, or one inside the section, was held
 * @capacity: after capacity aborts
 * @other: after other aborts that are not by a code of ours
 * @patience: factor of the pauses after conflicts, see struct policy_config's @backoff
 */
struct policy_budget {
	uint16_t conflict;
	uint16_t busy;
	uint16_t capacity;
	uint16_t other;
	uint16_t patience;
};

/**
 * struct policy_config - the tunables that a policy reads.
 * @name:           enum policy_name
 * @elides:         acquisitions are elided at all; not under "never" and "restrict"
 * @measures:       calls are measured, and the arms of their sites learnt; adaptive alone
 * @looks_first:    no attempt begins while the lock is held; all but glibc and damon
 * @counts_skips:   policy_abort() makes the lock skip the next acquisitions; glibc alone
 * @keeps_window:   policy_hpca_done() judges each lock over a window of acquisitions; hpca alone
 * @budget:         budget of fixed and hpca, and of the TUNED arms: numbers of the policy, policy.def
 * @arms:           arms of the adaptive policy, see policy_arms()
 * @spin_busy:      wait for a held lock, iterations; may be longer by its hold times, see wait.h
 * @backoff:        mean pause after the second conflict, iterations
 * @crowd:          threads that may wait for a held lock where threads are restricted
 */
struct policy_config {
	uint32_t name;
	bool elides;
	bool measures;
	bool looks_first;
	bool counts_skips;
	bool keeps_window;
	struct policy_budget budget;
	struct policy_budget arms[POLICY_NR_ARMS];
	uint32_t spin_busy;
	uint32_t backoff;
	uint32_t crowd;
};

/**
 * struct policy_lock - what is remembered of a lock between acquisitions.
 * @skip:  acquisitions to forgo before the next attempt
 * @pause: hpca: length of the last pause, acquisitions; 0 after a window without too many failures
 * @hot:   adaptive: number of the lock's own state, from 1; 0 if it has that of its class
 * @fails: adaptive: acquisitions of the lock that fell back in window @window of its class
 * @window: adaptive: number of that window, modulo 256
 *
 * Shared by threads and updated without synchronisation: a lost update makes a pause a little
 * longer or shorter, nothing else.
 */
struct policy_lock {
	uint32_t skip;
	union {
		uint32_t pause;
		struct {
			uint16_t hot;
			uint8_t fails;
			uint8_t window;
		};
	};
};

/**
 * struct policy_attempts - attempts made for the present acquisition, by group of aborts.
 *
 * Under the adaptive policy the engine sets @held and @again after each abort.
 */
struct policy_attempts {
	uint16_t attempts;
	uint16_t conflict;
	uint16_t held_conflicts; /* conflicts after which the lock was locked */
	uint16_t busy;
	uint16_t capacity;
	uint16_t other;
	uint8_t arm;       /* enum policy_arm_name: how it is treated, under the adaptive policy */
	bool persistent;   /* the last abort cannot go away by trying again */
	bool held;         /* the lock is held after the last abort */
	bool again;        /* one attempt more after an abort that may have been an interrupt */
};

enum policy_action {
	POLICY_RETRY,    /* at once */
	POLICY_WAIT,     /* until the lock is free, at most @spins iterations */
	POLICY_BACKOFF,  /* for a random time with mean @spins, then until it is free */
	POLICY_FALLBACK, /* lock */
};

/* What to do after an abort; @spins: iterations, by the action. */
struct policy_verdict {
	enum policy_action action;
	uint32_t spins;
};

/** policy_verdict() - the two as one. */
static inline struct policy_verdict policy_verdict(enum policy_action action, uint32_t spins)
{
	return (struct policy_verdict){.action = action, .spins = spins};
}

/** policy_fallback() - lock; @persistent: a further attempt would abort, too. */
static inline struct policy_verdict policy_fallback(struct policy_attempts *try, bool persistent)
{
	try->persistent = persistent;
	return policy_verdict(POLICY_FALLBACK, 0);
}

/**
 * policy_flags() - set what the engine has to do for a policy.
 * @config: @elides, @measures, @looks_first, @counts_skips and @keeps_window are set, by @name
 */
void policy_flags(struct policy_config *config);

/**
 * policy_arms() - set the arms that the adaptive policy chooses from.
 * @config: @arms is set, by @budget and arms.def
 */
void policy_arms(struct policy_config *config);

/**
 * policy_abort() - what to do after an abort.
 * @config: settings
 * @lock: state of the lock; used by glibc's policy only
 * @try: this acquisition, updated
 * @status: abort status word (rtm.h)
 * @cause: policy_cause() of it
 *
 * No cause ends the attempts merely because the processor's retry bit is
 * clear, but for the policies that are defined so: capacity aborts near the
 * edge are transient (Karnagel et al., HPCA'14, 4.3). The next attempt never
 * begins while the lock is held, so no lemming effect (HPCA'14, 3.3.2).
 *
 * Return: the verdict.
 */
struct policy_verdict policy_abort(const struct policy_config *config, struct policy_lock *lock,
				   struct policy_attempts *try, unsigned int status,
				   enum elide_cause cause);

/**
 * policy_pause() - mean pause after a conflict, iterations.
 * @config: settings
 * @budget: of the arm
 * @conflicts: conflicts of the acquisition that had a pause, this one included, from 1
 *
 * Return: the pause doubles with each of them, up to 1024 times, and to POLICY_PAUSE_MAX.
 */
static inline uint32_t policy_pause(const struct policy_config *config,
				    const struct policy_budget *budget, unsigned int conflicts)
{
	unsigned int shift = conflicts > 10 ? 10 : conflicts - 1;
	uint64_t mean = ((uint64_t)config->backoff * budget->patience) << shift;

	return mean < POLICY_PAUSE_MAX ? mean : POLICY_PAUSE_MAX;
}

/**
 * policy_at_once() - arms whose next attempt begins at once after the first conflict.
 * @config: settings
 *
 * Return: bits by enum policy_arm_name. With these arms policy_abort() says POLICY_WAIT after the
 * first abort of an acquisition, and POLICY_BACKOFF with policy_pause() of one conflict less after
 * each further one up to the budget, if all of them were conflicts and the lock is free. Under the
 * policy fixed all acquisitions count as those of "keen"; none do so under the others.
 */
uint32_t policy_at_once(const struct policy_config *config);

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

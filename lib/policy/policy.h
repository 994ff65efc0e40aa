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
 *     | turns: wait for the socket's part of the time, policy_socket_wait()
 *     v
 *   lock held? wait, at most spin_busy iterations --still held-------------> lock
 *     v
 *   attempt --commit--> elided
 *     ^   | abort: policy_abort(), by the budget that the arm has for the cause
 *     |   |   conflict with a thread that has locked it    WAIT; the first 64 use no budget
 *     |   |   conflict, arm queue                          QUEUE: one aborted thread at a time
 *     |   |   conflict, other arms                         WAIT, then BACKOFF, doubling
 *     |   |   lock or inner lock held, capacity            WAIT
 *     |   |   no cause (an interrupt?), debug, nested      WAIT; one attempt more unless such an
 *     |   |                                                attempt has aborted before
 *     |   |   a code of ours: only a locked section can    FALLBACK
 *     +---+ while there is budget
 *         v
 *       fall back: lock, and adapt_fell_back() learns
 *         of the lock   80 of 128 acquisitions of the class that fell back: a state of its own
 *         of the site   3 in a row that cannot be elided: unelidable, locked but for probes
 *
 *   At the end of the thread's countdown adapt_arm() reports, and at the end of an epoch
 *   learn_epoch() compares incumbent and challenger and sets the arms of the sites: learn.h.
 *
 * One acquisition under the other policies. HPCA'14's and glibc's keep a state of each lock, the
 * others none; policy_hpca_done() does something under HPCA'14's alone:
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
 * HPCA'14's policy disables a lock for a period when fallbacks reach a threshold; p: its pause,
 * in acquisitions.
 *
 *   state     event                                          next      p
 *   -------   --------------------------------------------   -------   ---------
 *   eliding   window passed, fewer failures than the limit   eliding   0
 *   eliding   failures reached the limit                     paused    pause_min
 *   paused    p acquisitions went by                         eliding   p
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
	POLICY_NR
};

/**
 * enum policy_queue - who waits for his turn at a lock, while the others go on.
 *
 * ABORTED is Afek, Levy and Morrison's (PODC'14): those who lose make room for the others,
 * and for each other. SOCKET is NATLE's (Brown, Kogan, Lev, Luchangco, SPAA'16): lines that
 * cross between sockets make transactions long, and long ones abort.
 */
enum policy_queue {
	POLICY_QUEUE_NOBODY,
	POLICY_QUEUE_ABORTED, /* one at a time of those who try again after a conflict */
	POLICY_QUEUE_SOCKET,  /* the threads of one socket at a time */
};

/**
 * struct policy_budget - further attempts of an acquisition, after aborts of each group.
 * @patience: pauses after conflicts, in times of the back-off
 * @queue: enum policy_queue
 */
struct policy_budget {
	uint16_t conflict;
	uint16_t busy;
	uint16_t capacity;
	uint16_t other;
	uint16_t patience;
	uint16_t queue;
};

/**
 * struct policy_config - the tunables a policy reads.
 * @name:           enum policy_name
 * @elides:         any acquisition at all: not "never"
 * @measures:       calls are measured, and the arms of their sites learnt: adaptive
 * @looks_first:    no attempt begins while the lock is held: all but glibc and damon
 * @counts_skips:   policy_abort() has the lock skip the next acquisitions: glibc
 * @keeps_window:   policy_hpca_done() judges each lock over a window of acquisitions: hpca
 * @budget:         of the policies that have one for all: RETRY_CONFLICT and its like
 * @arms:           what the adaptive policy chooses from, see policy_arms()
 * @spin_busy:      longest wait for a held lock, iterations
 * @backoff:        mean pause after the first conflict, iterations
 * @window:         acquisitions a lock is judged over
 * @fail_percent:   share of fallbacks in a window that pauses the lock
 * @pause_min:      the pause, acquisitions
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
	uint32_t window;
	uint32_t fail_percent;
	uint32_t pause_min;
};

/**
 * struct policy_lock - what is remembered of a lock between acquisitions.
 * @skip:  acquisitions to forgo before the next attempt
 * @pause: length of the last pause; 0 while the lock has a clean record
 * @queue: under the adaptive policy: id of the thread whose turn it is, the others wait
 * @hot:   under the adaptive policy: number of the lock's own state, 0: it has its class's
 * @fails, @window: acquisitions that fell back in a window of the class, and which one
 *
 * Shared by threads and, but for @queue, updated without synchronisation: a lost
 * update makes a pause a little longer or shorter, nothing else.
 */
struct policy_lock {
	union {
		uint32_t skip;
		uint32_t queue;
	};
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
 *
 * @held and @again are told by the engine under the adaptive policy, after each abort.
 */
struct policy_try {
	uint16_t attempts;
	uint16_t conflict;
	uint16_t held_conflicts; /* conflicts with a thread that has locked it: @held */
	uint16_t busy;
	uint16_t capacity;
	uint16_t other;
	uint8_t arm;       /* enum policy_arm_name: how it is treated, under the adaptive policy */
	bool unelidable;   /* the last abort cannot go away by trying again */
	bool held;         /* the lock is held after the last abort */
	bool again;        /* an abort without a reason may have been chance: once more */
};

enum policy_action {
	POLICY_RETRY,    /* at once */
	POLICY_WAIT,     /* until the lock is free, at most @spins iterations */
	POLICY_BACKOFF,  /* for a random time with mean @spins, then until it is free */
	POLICY_QUEUE,    /* be the one that tries again, then as POLICY_WAIT */
	POLICY_FALLBACK, /* lock */
};

struct policy_verdict {
	enum policy_action action;
	uint32_t spins;
};

/* Sockets that are told apart; further ones share the turns of these. */
#define POLICY_SOCKETS 4

/**
 * struct policy_sockets - which socket's threads go on, by the clock.
 * @ends: end of each socket's part of LEARN_SOCKETS_PERIOD, in 1/1024 of it; a part begins where
 *        the one of the socket before ends. Threads of a socket without a part do not wait
 */
struct policy_sockets {
	uint16_t ends[POLICY_SOCKETS];
};

/**
 * policy_sockets_share() - share the time out.
 * @nr: threads on each socket
 *
 * Return: to each a part by the number of its threads; nobody waits if all are on one.
 */
struct policy_sockets policy_sockets_share(const uint32_t nr[POLICY_SOCKETS]);

/**
 * policy_socket_wait() - how long until it is a socket's turn.
 * @sockets: see there
 * @socket: a number below POLICY_SOCKETS
 * @now: of a clock that all read
 *
 * Return: nanoseconds, less than LEARN_SOCKETS_PERIOD; 0: now.
 */
uint32_t policy_socket_wait(const struct policy_sockets *sockets, unsigned int socket,
			    uint64_t now);

/**
 * policy_flags() - what the engine has to do for a policy.
 * @config: the flags are filled, by @name
 */
void policy_flags(struct policy_config *config);

/**
 * policy_arms() - what the adaptive policy chooses from.
 * @config: @arms is filled, by @budget and arms.def
 */
void policy_arms(struct policy_config *config);

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
				   struct policy_try *try, unsigned int status,
				   enum elide_cause cause);

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

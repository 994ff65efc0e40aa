/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * crowd.h - which threads wait for a contended lock, and which are parked meanwhile.
 *
 * Pure functions, like those of policy.h. The arm "restrict" is concurrency restriction (Dice,
 * "Malthusian Locks", EuroSys'17; Dice and Kogan, "Avoiding scalability collapse by restricting
 * concurrency", arXiv 1905.10818: GCR and GCR-NUMA). A lock whose sections follow each other closely
 * needs its holder and few that wait for it; each further thread that comes and goes makes the lock's
 * line and the data travel, and where there are more threads than processors, sleep and wake up.
 *
 * A thread that finds the lock held, at a call whose arm is "restrict":
 *
 *   fewer than crowd (policy.def) wait for the lock (readers: processors) --> waits for it
 *   it is of a real-time policy, or there is no place to be parked in -----> waits for it
 *   else it is parked, in the order of arrival:
 *
 *   state    event                                            next
 *   -------  -----------------------------------------------  ---------------------------
 *   behind   the one before it has left and made it the first  first
 *   behind   it is the next of another processor than the      first
 *            first, whose own may be busy
 *   behind   a reader before it was admitted, and it reads      waits for the lock
 *   first    CROWD_POLL_MIN later, then ever later up to        waits for the lock if that was
 *            CROWD_POLL_MAX, it looks CROWD_LOOKS times          free each time, or free once and
 *                                                                nobody waited; else first
 *   either   CROWD_PARKED has passed, or the call's deadline     waits for the lock
 *   either   the arm of the call is another one                 waits for the lock
 *
 * Acquire and release pay nothing: whoever finds the lock free takes it, parked threads or not. So a
 * lock that nobody wants any more is found by a parked thread that is the first, CROWD_POLL_MAX
 * later at most.
 */
#ifndef ELIDE_CROWD_POLICY_H
#define ELIDE_CROWD_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "numbers.h"

/* With test points shorter, so that many leave because of it; a test may have another one, too. */
#ifdef ELIDE_TEST_POINTS
#define CROWD_PARKED (CROWD_PARKED_MAX / 500)
#elif !defined(CROWD_PARKED)
#define CROWD_PARKED CROWD_PARKED_MAX
#endif

/**
 * struct policy_parked - a parked thread that has just woken up, or is about to sleep.
 * @restricts: the arm of its call still is "restrict"
 * @admitted: another thread has let it go
 * @first:    it has to look at the lock
 * @looked:   it has looked just now, @poll after it was made the first or looked last
 * @nr_free:  looks in which the lock was free
 * @nr_waited: looks in which threads waited for it
 * @parked:   time that it has been parked, ns
 * @bound:    the longest that it may be, ns
 * @left:     time until the deadline of its call, ns; UINT64_MAX without
 * @poll:     time until the next look, ns; with @first
 */
struct policy_parked {
	bool restricts;
	bool admitted;
	bool first;
	bool looked;
	uint8_t nr_free;
	uint8_t nr_waited;
	uint64_t parked;
	uint64_t bound;
	uint64_t left;
	uint64_t poll;
};

/* What a parked thread does. */
enum policy_crowd {
	POLICY_CROWD_SLEEP,    /* for policy_crowd_sleep() */
	POLICY_CROWD_OPEN,     /* leaves: the arm is another one */
	POLICY_CROWD_ADMITTED, /* leaves: another one has let it go */
	POLICY_CROWD_IDLE,     /* leaves: the lock is idle */
	POLICY_CROWD_JOIN,     /* leaves: too few threads want the lock to keep it held */
	POLICY_CROWD_LATE,     /* leaves: it has been parked as long as it may be */
};

/**
 * struct policy_place - a thread in the queue of those that are parked at a lock.
 * @ticket: number of its arrival, modulo 2^30
 * @socket: socket that it runs on
 */
struct policy_place {
	uint32_t ticket;
	uint32_t socket;
};

/**
 * policy_crowd_limit() - how many threads may wait for a lock at a time.
 * @crowd: number of the policy
 * @reads: the thread that wants to wait will read: readers have the lock together
 * @processors: that the process may use
 */
uint32_t policy_crowd_limit(uint32_t crowd, bool reads, uint32_t processors);

/** policy_crowd_parked() - does a parked thread leave, and why? */
enum policy_crowd policy_crowd_parked(const struct policy_parked *p);

/** policy_crowd_sleep() - ns until it looks again, if it stays. At least 1. */
uint64_t policy_crowd_sleep(const struct policy_parked *p);

/**
 * policy_crowd_poll() - time until the first parked thread of a lock looks at it next.
 * @last: the same before the last looks, ns; 0: there were none
 * @what: what came of them
 *
 * Return: ns, CROWD_POLL_MIN to CROWD_POLL_MAX.
 */
uint64_t policy_crowd_poll(uint64_t last, enum policy_crowd what);

/** policy_crowd_lost() - is a place lost whose thread was parked @parked ns ago? */
bool policy_crowd_lost(uint64_t parked, uint64_t bound);

/**
 * policy_crowd_before() - does @a leave before @b?
 * @socket: socket whose threads go first
 */
bool policy_crowd_before(const struct policy_place *a, const struct policy_place *b,
			 uint32_t socket);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * evidence.h - samples of aborts and waits: ELIDE_STACKS.
 *
 * The first aborts of a row by one cause are sampled (elide_evidence_first()), and later ones with a
 * probability of 1 / ELIDE_STACKS. The first samples count for one abort, later ones for ELIDE_STACKS, so
 * that the expected sums are right. Waits of a row, and releases of locks for which others wait, are sampled
 * in the same way. A sample goes into the records of stacks, details and blame in the data file, where
 * equal ones are merged.
 *
 * If another thread is in a global-lock path, a sample is postponed: the next one of its kind counts for
 * both. Only events that are certainly sampled wait, among at most EVIDENCE_CROWD threads, and not in simulated
 * time.
 *
 * This header draws the samples. abort.h and waits.h use them, holder.h finds who is to blame, records.h
 * and detail.h write. All of it is outside transactions, and does nothing if nothing is sampled. It takes no
 * virtual time: a simulated machine executes one instruction after the other, so it overstates what a sample
 * costs, which is measured on a processor.
 * The policy's decisions are never sampled: decisions.h has all of them.
 */
#ifndef ELIDE_EVIDENCE_H
#define ELIDE_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "../state/random.h"
#include "../state/thread.h"
#include "../state/tunables.h"
#include "table.h"

#pragma GCC visibility push(hidden)

/*
 * The first EVIDENCE_THREADS threads sample the first EVIDENCE_FIRST events of each kind, later threads
 * their first one, and after EVIDENCE_MANY threads chance alone decides. Global-lock paths exclude each
 * other: many threads that begin at once and sample 8 events each would wait for each other, and for
 * thousands of threads even one sample of each kind takes longer than all else at their beginning. The
 * numbers were chosen here.
 */
#define EVIDENCE_FIRST   8
#define EVIDENCE_THREADS 4
#define EVIDENCE_MANY    256

/* Threads above which no sample waits for another thread's global-lock path. Chosen here. */
#define EVIDENCE_CROWD   64

/** elide_evidence_first() - number of first events of each kind that thread @nr, from 1, always samples. */
static inline uint32_t elide_evidence_first(uint32_t nr)
{
	return nr <= EVIDENCE_THREADS ? EVIDENCE_FIRST : nr <= EVIDENCE_MANY;
}

/**
 * elide_evidence_start() - make the tables.
 * @look: called in a global-lock path with the id of a thread that holds a lock for which another one
 *        waits; if that thread has ended, @look does what its end requires
 *
 * Return: 0 or -ENOMEM.
 */
int elide_evidence_start(void (*look)(uint32_t tid));

/** elide_evidence_restart() - a further data file begins: empty the tables. In a global-lock path. */
void elide_evidence_restart(void);

/* @look of elide_evidence_start(). */
extern void (*evidence_look)(uint32_t tid);

/**
 * elide_evidence_weight() - draw whether this event is sampled.
 * @t: the calling thread
 * @nth: events of its kind so far, this one included
 *
 * Return: events for which it counts, 0 if it is not sampled.
 */
static inline uint64_t elide_evidence_weight(struct elide_thread *t, uint64_t nth)
{
	if (nth <= t->first_seen)
		return 1;
	return elide_random_sample(t) % elide_tunables.stacks ? 0 : elide_tunables.stacks;
}

/**
 * evidence_add_postponed() - the weight of an event, plus that of the postponed one of its kind.
 * @t: the calling thread
 * @counter: the counter of the kind, whose address tells kinds apart
 * @weight: of the event, from elide_evidence_weight()
 */
static inline uint64_t evidence_add_postponed(struct elide_thread *t, const uint64_t *counter,
					      uint64_t weight)
{
	if (likely(t->postponed_of != counter))
		return weight;
	t->postponed_of = NULL;
	return weight + t->postponed;
}

/**
 * evidence_sample_now() - run the global-lock path of a sample.
 * @weight: events for which it counts
 * @body, @arg: the global-lock path
 *
 * Return: false, with nothing done: another thread is in a global-lock path, and the sample must not wait.
 */
bool evidence_sample_now(uint64_t weight, void (*body)(void *arg), void *arg);

/**
 * evidence_sample() - evidence_sample_now(); if that returns false, postpone the sample.
 * @t: the calling thread
 * @counter: the counter of the kind of event
 */
bool evidence_sample(struct elide_thread *t, const uint64_t *counter, uint64_t weight,
		     void (*body)(void *arg), void *arg);

#pragma GCC visibility pop

#endif

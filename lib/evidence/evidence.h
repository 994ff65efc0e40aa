/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * evidence.h - why it aborted and who is to blame, sampled: ELIDE_STACKS.
 *
 * Of the aborts of a row by one cause the first ones are sampled (elide_evidence_first()), and then
 * each with a probability of 1 / ELIDE_STACKS. A sample counts as one abort, later as ELIDE_STACKS
 * aborts, so that the expected sums are right. Waits of a row, and releases of locks that others
 * waited for, are sampled in the same way. A sample goes into the records of stacks, details and
 * blame in the data file, where equal ones are merged.
 *
 * An event that was drawn while another thread is in a global-lock path is postponed: the next of its kind
 * counts for both. Only those that are sampled for certain wait, among at most EVIDENCE_CROWD threads.
 *
 * This header draws the samples. abort.h and waits.h have what becomes of an abort and of a wait,
 * holder.h who is to blame, records.h and detail.h what is written. All of it is outside transactions,
 * and does nothing where nothing is sampled.
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
 * In the first EVIDENCE_THREADS threads the first EVIDENCE_FIRST events of each kind are sampled,
 * in later threads the very first, and after EVIDENCE_MANY threads chance alone decides. Global-lock paths
 * exclude each other: if many threads that begin at once sampled 8 events each, they would wait for each
 * other, and of some thousand threads a sample of each kind takes longer than all else that they need
 * at their beginning. The numbers were chosen here.
 */
#define EVIDENCE_FIRST   8
#define EVIDENCE_THREADS 4
#define EVIDENCE_MANY    256

/* Threads above which no sample waits for another thread's global-lock path. Chosen here. */
#define EVIDENCE_CROWD   64

/** elide_evidence_first() - events of each kind that are always sampled, in thread @nr from 1. */
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

/* @look of elide_evidence_start(). */
extern void (*evidence_look)(uint32_t tid);

/**
 * elide_evidence_weight() - draw whether this event is sampled.
 * @t: the calling thread
 * @nth: events of its kind so far, this one included
 *
 * Return: events that it counts as, 0 if it is not sampled.
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
 * evidence_sample_now() - run the global-lock path of a sample, which may have to wait for that of another
 * thread.
 * @weight: events that it counts as
 * @body, @arg: the global-lock path
 *
 * Return: false: it must not wait, and another thread is in a global-lock path; nothing has been done.
 */
bool evidence_sample_now(uint64_t weight, void (*body)(void *arg), void *arg);

/**
 * evidence_sample() - the same; if not now, the sample is postponed.
 * @t: the calling thread
 * @counter: the counter of the kind of event
 */
bool evidence_sample(struct elide_thread *t, const uint64_t *counter, uint64_t weight,
		     void (*body)(void *arg), void *arg);

#pragma GCC visibility pop

#endif

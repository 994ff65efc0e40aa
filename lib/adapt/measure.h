/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * measure.h - a thread's measurement of the sections of a class, and the arm of its next acquisition.
 *
 * Each thread counts its sections of a class down in memory of its own, without a clock. When the
 * countdown is 0 an attempt is timed, or the thread flushes: it reads the clock, and adapt_flushed()
 * finds out whether the trial is over. policy/pace.h says after how many sections that is.
 *
 * Outside transactions only. Nothing here waits for another thread.
 */
#ifndef ELIDE_MEASURE_H
#define ELIDE_MEASURE_H

#include "../compiler.h"
#include "../state/thread.h"
#include "../state/way.h"
#include "trial.h"

#pragma GCC visibility push(hidden)

/** adapt_completed() - sections that the thread has completed. */
static inline uint64_t adapt_completed(const struct adapt_thread *adapt)
{
	return READ_ONCE(adapt->goal) - READ_ONCE(adapt->countdown);
}

/**
 * adapt_place() - where a thread has a measurement, or has room for it. None is ever taken away.
 * @adapt_nr: index in adapt_classes
 *
 * Return: NULL if it has no room.
 */
struct adapt_thread *adapt_place(struct elide_thread *t, uint32_t adapt_nr);

/**
 * adapt_attach() - measure the sections of a call.
 * @t: the calling thread, in a global-lock path, or where adapt_knows() the call
 * @call: the call; its row is set, the fields of the measurement are filled in
 */
void adapt_attach(struct elide_thread *t, struct elide_call *call);

/** adapt_thread_begin() - the block @t belongs to a new thread: its measurements begin anew. */
void adapt_thread_begin(struct elide_thread *t);

/** adapt_arm_of() - where the code of the arm of the call's site is; it may be not measured. */
static inline const uint8_t *adapt_arm_of(const struct elide_call *call)
{
	return call->adapt_nr ? &adapt_classes[call->adapt_nr].arms[call->site] :
				&elide_way_arms[ELIDE_WAY_ELIDE];
}

/** adapt_arm_now() - that arm. */
static inline enum policy_arm_name adapt_arm_now(const struct elide_call *call)
{
	uint8_t code = READ_ONCE(*adapt_arm_of(call));

	return ELIDE_ARM_OF(code);
}

/**
 * adapt_arm() - the arm of this acquisition, under the adaptive policy.
 * @t: the calling thread, outside transactions of ours
 * @call: the call; its countdown is 0, or does not contain this acquisition yet
 *
 * If the countdown ends with this acquisition, the thread flushes if that is due, and the attempt
 * is timed.
 */
enum policy_arm_name adapt_arm(struct elide_thread *t, struct elide_call *call);

/**
 * adapt_wake() - count the acquisitions of a dormant call, and flush if it is time.
 * @t: the calling thread, which has locked the lock
 * @call: the call, whose way is ELIDE_WAY_DORMANT
 * @nr: acquisitions of the call since the last adapt_wake() of it
 *
 * Where sections are short and locking is the best arm, reading the arm and counting at each
 * acquisition would cost more than the acquisition. The thread makes such a call dormant: it locks without
 * either, and comes here when an acquisition is sampled for its hold time, at least once in 2 * HOLD_PERIOD
 * acquisitions.
 */
void adapt_wake(struct elide_thread *t, struct elide_call *call, uint32_t nr);

#pragma GCC visibility pop

#endif

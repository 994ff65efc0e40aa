/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * moments.h - waits and holds with their times, sampled: struct elide_moment.
 *
 * A thread sums up the cycles of its waits, and of the holds that are measured anyway; each time that
 * a sum has come to the period, the wait or hold that brought it there gets a record. Nothing is
 * done for an acquisition that neither waits nor is measured.
 */
#ifndef ELIDE_MOMENTS_H
#define ELIDE_MOMENTS_H

#include "../compiler.h"
#include "../state/thread.h"

#pragma GCC visibility push(hidden)

/* Cycles for which a record stands, by enum elide_moment_type; ~0 where nothing is sampled. */
extern uint64_t elide_moment_periods[ELIDE_MOMENT_END];

/**
 * elide_moments_start() - sample from now on.
 *
 * After elide_evidence is there; also in a forked child, whose records are its own.
 */
void elide_moments_start(void);

/** elide_moments_begin() - a thread begins: @t is its block. Its first record comes by chance. */
void elide_moments_begin(struct elide_thread *t);

/** elide_moment_aborted() - write a record of an attempt: use elide_moment_abort(). */
void elide_moment_aborted(struct elide_thread *t, const struct elide_row *row,
			  enum elide_cause cause, uint64_t cycles);

/** elide_moment_record() - write a record: use elide_moment(). */
void elide_moment_record(struct elide_thread *t, const struct elide_row *row,
			 enum elide_moment_type type, unsigned long long end, uint64_t cycles);

/**
 * elide_moment() - a wait or a measured hold has ended.
 * @t: the calling thread
 * @row: counters of the call
 * @end: time-stamp counter
 * @cycles: its length
 */
static inline void elide_moment(struct elide_thread *t, const struct elide_row *row,
				enum elide_moment_type type, unsigned long long end,
				uint64_t cycles)
{
	t->moment_sums[type] += cycles;
	if (unlikely(t->moment_sums[type] >= READ_ONCE(elide_moment_periods[type])))
		elide_moment_record(t, row, type, end, cycles);
}

/**
 * elide_moment_abort() - an attempt whose length is known has aborted just now.
 * @t: the calling thread
 * @row: counters of the call
 * @cause: why
 * @cycles: its length
 */
static inline void elide_moment_abort(struct elide_thread *t, const struct elide_row *row,
				      enum elide_cause cause, uint64_t cycles)
{
	t->moment_sums[ELIDE_MOMENT_ABORT] += cycles;
	if (unlikely(t->moment_sums[ELIDE_MOMENT_ABORT] >=
		     READ_ONCE(elide_moment_periods[ELIDE_MOMENT_ABORT])))
		elide_moment_aborted(t, row, cause, cycles);
}

#pragma GCC visibility pop

#endif

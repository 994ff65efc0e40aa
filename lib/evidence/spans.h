/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spans.h - waits and holds with their times, sampled: struct elide_span.
 *
 * A thread sums up the cycles of its waits, and of the holds that are measured anyway. Each time that a sum
 * reaches the period, the last wait or hold gets a record. An acquisition that neither waits nor is
 * measured costs nothing.
 */
#ifndef ELIDE_SPANS_H
#define ELIDE_SPANS_H

#include "../compiler.h"
#include "../state/thread.h"

#pragma GCC visibility push(hidden)

/* Cycles for which a record stands, by enum elide_span_type; ~0: nothing is sampled. */
extern uint64_t elide_span_periods[ELIDE_SPAN_END];

/**
 * elide_spans_start() - sample from now on.
 *
 * Once elide_evidence is there; also in a forked child, whose records are its own.
 */
void elide_spans_start(void);

/** elide_spans_begin() - a thread begins, with block @t and random sums. */
void elide_spans_begin(struct elide_thread *t);

/** elide_span_aborted() - the part of elide_span_abort() that is not inlined. */
void elide_span_aborted(struct elide_thread *t, const struct elide_row *row,
			  enum elide_cause cause, uint64_t cycles);

/** elide_span_record() - the part of elide_span() that is not inlined. */
void elide_span_record(struct elide_thread *t, const struct elide_row *row,
			 enum elide_span_type type, unsigned long long end, uint64_t cycles);

/**
 * elide_span() - a wait or a measured hold has ended.
 * @t: the calling thread
 * @row: counters of the call
 * @end: time-stamp counter
 * @cycles: its length
 */
static inline void elide_span(struct elide_thread *t, const struct elide_row *row,
				enum elide_span_type type, unsigned long long end,
				uint64_t cycles)
{
	t->span_sums[type] += cycles;
	if (unlikely(t->span_sums[type] >= READ_ONCE(elide_span_periods[type])))
		elide_span_record(t, row, type, end, cycles);
}

/**
 * elide_span_abort() - an attempt whose length is known has aborted just now.
 * @t: the calling thread
 * @row: counters of the call
 * @cause: why
 * @cycles: its length
 */
static inline void elide_span_abort(struct elide_thread *t, const struct elide_row *row,
				      enum elide_cause cause, uint64_t cycles)
{
	t->span_sums[ELIDE_SPAN_ABORT] += cycles;
	if (unlikely(t->span_sums[ELIDE_SPAN_ABORT] >=
		     READ_ONCE(elide_span_periods[ELIDE_SPAN_ABORT])))
		elide_span_aborted(t, row, cause, cycles);
}

#pragma GCC visibility pop

#endif

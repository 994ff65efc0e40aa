/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * call-types.h - a call that a thread knows, and its measurement. call.h finds calls.
 */
#ifndef ELIDE_CALL_TYPES_H
#define ELIDE_CALL_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "../compiler.h"
#include "../datafile.h"

#pragma GCC visibility push(hidden)

/* Greatest elide_call.credit. */
#define ELIDE_CREDIT_MAX 31

/**
 * struct elide_call - what a thread knows of a call: locks of one class, acquired at one site.
 * @key:      elide_call_key() of its site and kind; 0: it is not found
 * @mark:     elide_word() of no lock with the tag of its locks: elide_call_tag()
 * @row:      counters of the call, in the data file; NULL for one that is not used
 * @arm:      address of the code, ELIDE_ARM_CODE(), of the site's arm if @way is ELIDE_WAY_ELIDE; else of
 *            the code of @way
 * @adapt:    the thread's measurement of the class, or of the lock with a state of its own
 * @lock:     the lock that the call has locked last, or is about to lock
 * @way:      enum elide_way
 * @site:     number of the site in the class, below LEARN_SITES
 * @elided:   the policy decides about the call; 0: it is never elided
 * @credit:   grows by one with each commit, to ELIDE_CREDIT_MAX, and shrinks by one with each
 *            acquisition that fell back because the section cannot be elided
 * @streak:   such acquisitions in a row
 * @probing:  the next acquisition that ends is a probe
 * @retry_skip: number of next aborts without a cause after which no further attempt is made
 * @retry_failures: grows by two with each further attempt that aborts, shrinks by one with each that is
 *            made; adapt/giveup.c
 * @waits:    locked sections since @seen that have waited for a condition variable
 * @adapt_nr: index in adapt_classes; 0: the call is not measured
 * @commits:  low 32 bits of the commits of @row at the last acquisition of @streak, or when
 *            @probing began if that was later
 * @others:   low 32 bits of its commits and its acquisitions that were not attempted, at the last
 *            acquisition of @streak
 * @contended: low 32 bits of the acquisitions of @row that found the lock held, at the last flush
 * @failed:   low 32 bits of the address, in units of 4 bytes, of the lock of @streak; 0 if there
 *            were several
 * @seen:     low 32 bits of the locked acquisitions of @row when a probe was last due
 *
 * An acquisition needs only the first cache line.
 */
struct elide_call {
	uint64_t key;
	uint64_t mark;
	struct elide_row *row;
	const uint8_t *arm;
	struct adapt_thread *adapt;
	const void *lock;
	uint8_t way;
	uint8_t site : 3, credit : 5;
	uint8_t streak : 7, probing : 1;
	uint8_t elided : 1, retry_skip : 4, retry_failures : 3;
	uint16_t waits;
	uint32_t adapt_nr;

	uint32_t commits __cacheline_aligned;
	uint32_t others;
	uint32_t contended;
	uint32_t failed;
	uint32_t seen;
} __attribute__((aligned(2 * CACHE_LINE)));

_Static_assert(offsetof(struct elide_call, commits) == CACHE_LINE, "one line for an acquisition");

/**
 * struct adapt_thread - a thread's measurement of the locks that share a struct adapt_class.
 * @start:     time of the last flush, ns; 0 before the first
 * @goal:      sections that the thread will have completed when @countdown is 0; one more with each
 *             lock that is elided inside a section
 * @due:       sections that it will have completed at its next flush
 * @countdown: sections until the next event: an attempt is timed, or the thread flushes
 * @nr:        sections between the last flush and the next
 * @adapt_nr:  index in adapt_classes; 0 for an unused entry
 * @trial:     number of the trial of the last flush
 * @aborts:    attempts that other threads have aborted: conflicts, and locks found held
 */
struct adapt_thread {
	uint64_t start;
	uint64_t goal;
	uint64_t due;
	uint32_t countdown;
	uint32_t nr;
	uint32_t adapt_nr;
	uint32_t trial;
	uint64_t aborts;
};

/* Stands for a call that a fork has wiped from the thread's block in the middle of it. */
extern struct elide_call elide_no_call;

/* Counts of calls whose row a fork has wiped. */
extern struct elide_row elide_no_row;

/**
 * elide_call_row() - the counters of a call.
 *
 * A signal handler may fork in the middle of a lock call: in the child the row is wiped, and the call still
 * has to end.
 */
static inline struct elide_row *elide_call_row(const struct elide_call *call)
{
	struct elide_row *row = READ_ONCE(call->row);

	return likely(row) ? row : &elide_no_row;
}

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pace.h - how fast sections of a class of locks go by, and what follows from it.
 *
 * The half of the adaptive policy that measures and keeps: learn.h decides.
 * Each thread counts its sections of a class down, without a clock and in
 * memory of its own. Every few microseconds it reports: it reads the clock, and
 * if it finds that the epoch has lasted long enough it reads how far all threads
 * are, and ends it. The sections that all of them have completed in that time,
 * those that starve among them, are what counts.
 *
 * Outside transactions only. Nothing here waits for another thread.
 */
#ifndef ELIDE_PACE_H
#define ELIDE_PACE_H

#include "compiler.h"
#include "process.h"
#include "thread.h"

#pragma GCC visibility push(hidden)

/**
 * struct elide_pacer - the adaptive policy's state of a class, or of a single hot lock.
 * @arms:     by site, how an acquisition is treated now
 * @settled:  by site, what was found best: what the report calls its state
 * @parks:    bits by site: for now the lock is taken really, and nobody needs to ask
 * @epoch:    number of the epoch
 * @start:    when it began
 * @from:     from when on it is measured; 0 while threads still do what they began before it
 * @interval: time between reports of a thread
 * @turns:    of the sockets that its threads are on
 * @class_index: the class
 * @before, @aborts: sections that all threads had completed when the measurement began, and
 *            aborts that they had met
 * @reporters: threads that have reported in the epoch
 * @threads:  that do so usually
 * @reporters_on, @threads_on: the same by socket
 * @joined:   threads that have begun to use the class in the epoch
 * @lock:     1 while a thread changes what follows, or @arms; never waited for
 * @nr_keys, @keys: the sites and their kinds; changed in slow paths
 * @learn:    what is known
 *
 * The first line is read at every acquisition and changes with the epoch; the
 * next ones are written by reports.
 */
struct elide_pacer {
	uint8_t arms[LEARN_SITES];
	uint8_t settled[LEARN_SITES];
	uint64_t start;
	uint64_t from;
	uint32_t epoch;
	uint32_t interval;
	uint32_t class_index;
	uint8_t parks;
	struct policy_turns turns;

	uint64_t before __cacheline_aligned;
	uint64_t aborts;
	uint32_t reporters;
	uint32_t threads;
	uint32_t joined;
	uint32_t lock;
	uint32_t reporters_on[POLICY_SOCKETS];
	uint32_t threads_on[POLICY_SOCKETS];

	uint32_t nr_keys __cacheline_aligned;
	uint64_t keys[LEARN_SITES];
	struct learn_class learn;
};

/* By number; 0 is nobody's and takes every lock really. */
extern struct elide_pacer *elide_pacers;

/** elide_pace_start() - make room for that many classes. Return: 0 or -ENOMEM. */
int elide_pace_start(uint32_t max_classes);

/* How fast the time-stamp counter runs is known. */
extern bool elide_pace_clocked;

/* Nanoseconds of a cycle, in 1/1024. */
#define ELIDE_PACE_BITS 10
extern uint32_t elide_pace_scale;

/* What the clock says, in nanoseconds. It may go round: only differences count. */
static inline uint64_t elide_pace_now(void)
{
	return cycles_now() * READ_ONCE(elide_pace_scale) >> ELIDE_PACE_BITS;
}

/** elide_pace_clock() - it makes @cycles in @ns. In a slow path. */
void elide_pace_clock(uint64_t cycles, uint64_t ns);

/** elide_pace_forget() - in a forked child: nobody is changing anything. */
void elide_pace_forget(void);

/**
 * elide_pace_mark() - where a thread keeps what it knows of a call.
 * @t: the calling thread, in a slow path
 * @class_index: of the lock
 * @site, @kind: of the call
 *
 * Return: the number of the mark. 0 if there is no room: the lock is taken really.
 */
uint32_t elide_pace_mark(struct elide_thread *t, uint32_t class_index, const void *site,
			 enum elide_kind kind);

/** elide_pace_begin() - the block @t has a new thread. */
void elide_pace_begin(struct elide_thread *t);

/**
 * elide_pace_report() - the countdown is over: report.
 * @t: the calling thread
 * @mark: of the call
 * @row: its counters
 *
 * Return: how this acquisition is treated.
 */
enum policy_arm_name elide_pace_report(struct elide_thread *t, struct elide_mark *mark,
				       struct elide_row *row);

/**
 * elide_pace_wake() - one in so many real acquisitions of a parked row: go on with it?
 * @t: the calling thread, which holds the lock
 * @row: counters of the call
 * @lock: the lock; only its address is used
 * @nr: acquisitions of the row since the last time
 *
 * Where sections are short and taking the lock really is best, a thread that asked at
 * each acquisition would pay for that: it parks its row. Then it only asks when the
 * hold time is measured.
 */
void elide_pace_wake(struct elide_thread *t, struct elide_row *row, const void *lock, uint32_t nr);

/**
 * elide_pace_arm() - how is this acquisition treated? The adaptive policy's policy_enter().
 * @t: the calling thread
 * @entry: its entry for the call
 */
static __always_inline_fn enum policy_arm_name elide_pace_arm(struct elide_thread *t,
							       const struct elide_cache *entry)
{
	struct elide_mark *mark = elide_mark(t, entry);

	if (unlikely(!--t->paces[mark->pace].countdown))
		return elide_pace_report(t, mark, elide_row(entry));
	return READ_ONCE(elide_pacers[mark->pacer].arms[mark->site]);
}

/**
 * elide_tried() - is there anything to ask elide_acquire() for?
 * @t: the calling thread, outside transactions of ours
 * @entry: its entry for the call
 * @row: counters of the call
 *
 * To be asked once for each acquisition.
 */
static __always_inline_fn bool elide_tried(struct elide_thread *t, const struct elide_cache *entry,
					   const struct elide_row *row)
{
	if (READ_ONCE(row->parked) || !entry->elide)
		return false;
	if (unlikely(elide_process.config.name != POLICY_ADAPTIVE))
		return true;
	t->arm = elide_pace_arm(t, entry);
	return t->arm != POLICY_ARM_real;
}

/**
 * elide_pace_again() - an attempt has aborted: is there hope at all?
 * @t: the calling thread
 * @mark: of the call
 * @row: its counters
 * @try: the acquisition; it has less patience if there was none the last time
 * @status: abort status word
 */
void elide_pace_again(struct elide_thread *t, const struct elide_mark *mark,
		      const struct elide_row *row, struct policy_try *try, unsigned int status);

/**
 * elide_pace_failed() - attempts have aborted and the lock is taken really.
 * @mark: of the call
 * @row: its counters
 * @try: the acquisition
 */
void elide_pace_failed(struct elide_mark *mark, const struct elide_row *row,
		       const struct policy_try *try);

#pragma GCC visibility pop

#endif

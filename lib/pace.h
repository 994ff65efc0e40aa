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
 * @class_index, @lock_address: the class, and the lock if it is the state of a single one
 * @turns:    of the sockets that its threads are on
 * @before, @aborts: sections that all threads had completed when the measurement began, and
 *            aborts that they had met
 * @reporters: threads that have reported in the epoch
 * @threads:  that do so usually
 * @reporters_on, @threads_on: the same by socket
 * @joined:   threads that have begun to use the class in the epoch
 * @strays:   reports in a row whose clock is not the epoch's
 * @lock:     1 while a thread changes what follows, or @arms; never waited for
 * @latest, @leader: the latest time that a thread has reported at, and its pace
 * @waits:    real acquisitions in the epoch that found the lock held
 * @fails, @window: acquisitions that gave up in the present window, and its number: hot.c
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
	uint64_t lock_address;
	struct policy_turns turns;

	uint64_t before __cacheline_aligned;
	uint64_t aborts;
	uint32_t reporters;
	uint32_t threads;
	uint32_t joined;
	uint32_t strays;
	uint32_t lock;
	uint64_t latest;
	const struct elide_pace *leader;
	uint32_t waits;
	uint8_t fails;
	uint8_t window;
	uint32_t reporters_on[POLICY_SOCKETS];
	uint32_t threads_on[POLICY_SOCKETS];

	uint32_t nr_keys __cacheline_aligned;
	uint64_t keys[LEARN_SITES];
	struct learn_class learn;
};

/* By number; 0 is nobody's and takes every lock really. */
extern struct elide_pacer *elide_pacers;

/* Single locks that can have a state of their own. */
#define ELIDE_NR_HOT 64

/** elide_pacer_hot() - the state of the single lock with that number, from 1. */
struct elide_pacer *elide_pacer_hot(uint32_t nr);

/** elide_pacer_try_lock() - may this thread change what is known? Never waits. */
bool elide_pacer_try_lock(struct elide_pacer *p);

/** elide_pacer_unlock() - it has. */
void elide_pacer_unlock(struct elide_pacer *p);

/** elide_pacer_publish() - what acquisitions read follows what is known; with the lock. */
void elide_pacer_publish(struct elide_pacer *p);

/** elide_pacer_tell() - write down what was decided. */
void elide_pacer_tell(const struct elide_pacer *p, const struct learn_decision *d);

/**
 * elide_hot_blame() - an acquisition has given up: is it the lock that its class fails by?
 * @p: state of the class
 * @lock: what is remembered of the lock
 * @word: its address
 * @now: time
 */
void elide_hot_blame(struct elide_pacer *p, struct policy_lock *lock, const void *word,
		     uint64_t now);

/**
 * elide_hot_split() - it is: give it a state of its own.
 *
 * Parameters as before. Return: false if it has one, is the class's only one, or there are no more.
 */
bool elide_hot_split(struct elide_pacer *p, struct policy_lock *lock, const void *word,
		     uint64_t now);

/** elide_pace_start() - make room for that many classes. Return: 0 or -ENOMEM. */
int elide_pace_start(uint32_t max_classes);

/* How fast the time-stamp counter runs is known. */
extern bool elide_pace_clocked;

/** elide_pace_now() - what the clock says, in nanoseconds. It may go round: only differences count. */
uint64_t elide_pace_now(void);

/** elide_pace_clock() - it makes @cycles in @ns. In a slow path. */
void elide_pace_clock(uint64_t cycles, uint64_t ns);

/** elide_pace_forget() - in a forked child: nobody is changing anything. */
void elide_pace_forget(void);

/**
 * elide_pace_attach() - measure the sections of a call.
 * @t: the calling thread, in a slow path
 * @mark: of the call: its row is known, the rest is filled in
 */
void elide_pace_attach(struct elide_thread *t, struct elide_mark *mark);

/** elide_pace_begin() - the block @t has a new thread. */
void elide_pace_begin(struct elide_thread *t);

/**
 * elide_pace_arm() - how is this acquisition treated? The adaptive policy's policy_enter().
 * @t: the calling thread, outside transactions of ours
 * @mark: of the call; its countdown is over, or this acquisition is not in it yet
 */
enum policy_arm_name elide_pace_arm(struct elide_thread *t, struct elide_mark *mark);

/**
 * elide_pace_wake() - one in so many real acquisitions of a parked call: go on with it?
 * @t: the calling thread, which holds the lock
 * @mark: of the call
 * @nr: acquisitions since the last time
 *
 * Where sections are short and taking the lock really is best, a thread that asked at
 * each acquisition would pay for that: it parks the call, whose way is the short one then. It
 * only asks when the hold time is measured.
 */
void elide_pace_wake(struct elide_thread *t, struct elide_mark *mark, uint32_t nr);

/**
 * elide_pace_waits() - a section under the real lock waits for a condition.
 * @t: the calling thread, outside transactions of ours
 * @lock: the mutex; only its address is used
 *
 * Elided it would have aborted, so where most sections do that no probe is needed to know.
 */
void elide_pace_waits(struct elide_thread *t, const void *lock);

/** elide_pace_hopes() - do most sections of the call not wait, or is it not known? Asked before a probe. */
bool elide_pace_hopes(struct elide_mark *mark, const struct elide_row *row);

/**
 * elide_pace_chance() - may an abort without a reason have been chance?
 * @mark: of the call
 * @try: the acquisition
 *
 * An interrupt hardly comes twice, but a system call of the section does. The more often one more
 * attempt was in vain, the longer none is made.
 */
bool elide_pace_chance(struct elide_mark *mark, const struct policy_try *try);

/* Acquisitions that have not failed, also where the real lock is tried in between. */
static inline uint64_t elide_pace_others(const struct elide_row *row)
{
	return row->commits + row->not_attempted;
}

/**
 * elide_pace_again() - an attempt has aborted: is there hope at all?
 * @mark: of the call
 * @try: the acquisition; it has less patience if there was none the last time, and more after
 *       an abort that may have been chance
 * @cause: of the abort
 */
static __always_inline_fn void elide_pace_again(struct elide_mark *mark, struct policy_try *try,
						enum elide_cause cause)
{
	const struct elide_row *row = READ_ONCE(mark->row);
	struct elide_pace *pace = READ_ONCE(mark->pace);

	if (unlikely(!row || !pace))
		return; /* a handler has forked, and this is the child */
	if (cause == ELIDE_CAUSE_conflict || cause == ELIDE_CAUSE_busy)
		counter_add(pace->aborts, 1);
	if (unlikely(mark->streak) && mark->commits == elide_pace_others(row))
		try->arm = POLICY_ARM_probe;
	else if (unlikely(cause == ELIDE_CAUSE_other))
		try->again = elide_pace_chance(mark, try);
}

/**
 * elide_pace_failed() - attempts have aborted and the lock is taken really.
 * @mark: of the call
 * @lock, @word: the lock
 * @try: the acquisition
 */
void elide_pace_failed(struct elide_mark *mark, struct policy_lock *lock, const void *word,
		       const struct policy_try *try);

#pragma GCC visibility pop

#endif

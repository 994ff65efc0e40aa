/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * learn.h - what the adaptive policy learns of a class of locks, and from what.
 *
 * Pure functions of (state, what an epoch measured): no clock, no atomics, no
 * I/O, no randomness. lib/adapt/epoch.c measures, keeps the state and acts.
 *
 * Each call site of a class has an arm, a way to treat its acquisitions
 * (arms.def). The class is measured as a whole, for what one site does costs
 * the others: sections completed per cycle of a thread, in short epochs. Only
 * one thing at a time is tried: a challenge gives another arm to one site, or
 * to all, in every other epoch, and compares.
 *
 *   phase       event                                       next        then
 *   ---------   -----------------------------------------   ---------   --------------------
 *   hold        epoch, and the time has come to ask         incumbent   the next candidate
 *   hold        epoch like those before                     hold
 *   hold        a few epochs unlike those before            incumbent   all are asked again
 *   hold        threads have begun to use the class         incumbent   all are asked again
 *   incumbent   epoch                                       challenger
 *   challenger  epoch, and it is not clear yet              incumbent   (or the reverse order)
 *   challenger  clearly better, by much or elided or not    hold        kept, all are asked again
 *   challenger  clearly better, by little                   hold        kept, and no more
 *   challenger  clearly worse, or not clear after all       hold        wait longer
 *
 * How long at most: where nothing is elided and threads wait for each other, only a question
 * tells whether eliding would pay by now; else a change shows in the rate or in the waits. So
 * where sections are elided, wait longer goes by what the challenge has lost, too: if they are
 * long, each thread stands in line for one when the real lock is asked about.
 *
 * Beside that, a site at which nothing can be elided (a system call in the section):
 *
 *   site        event                                       next        then
 *   ---------   -----------------------------------------   ---------   --------------------
 *   usual       3 acquisitions in a row unelidable          unelidable  locked, not elided
 *   unelidable  its time has come, one acquisition fails    unelidable  twice the time
 *   unelidable  ... and two in a row commit                 usual       as the class
 *   unelidable  ... or it cannot be told four times         usual       as the class
 */
#ifndef ELIDE_LEARN_H
#define ELIDE_LEARN_H

#include <stdbool.h>
#include <stdint.h>

enum policy_arm_name {
#define ELIDE_ARM(id, conflict, busy, capacity, other, patience, queue, help) POLICY_ARM_##id,
#include "../arms.def"
#undef ELIDE_ARM
	POLICY_NR_ARMS
};

/* Sites of a class that are told apart; further ones share the last. */
#define LEARN_SITES 8

/* No site: all of them. */
#define LEARN_ALL LEARN_SITES

/* Times are about nanoseconds. */
#define LEARN_US 1000ull

/* Longest time between two things that have to do with each other; more is a clock that jumped. */
#define LEARN_ABSURD (100000 * LEARN_US)

/* Time in which each socket has its part once, under the arm "turns": 131 us. */
#define LEARN_SOCKETS_PERIOD (1u << 17)

enum learn_phase {
	LEARN_HOLD,
	LEARN_INCUMBENT,
	LEARN_CHALLENGER,
};

/**
 * struct learn_site - a call site of a class.
 * @arm:      what was found best, or not yet been beaten
 * @unelidable: nothing can be elided here, as far as is known
 * @passed:   commits in a row of probes since
 * @unsure:   probes that told nothing: others held the lock
 * @probe_at: when it may be probed next
 * @wait:     time between probes, doubling
 */
struct learn_site {
	uint8_t arm;
	bool unelidable;
	uint8_t passed;
	uint8_t unsure;
	uint64_t probe_at;
	uint64_t wait;
};

/**
 * struct learn_class - all that is known of a class of locks.
 * @phase:      enum learn_phase
 * @arm:        of the class as a whole: of sites that are new
 * @target:     site that is challenged, LEARN_ALL
 * @challenger: arm it has in that
 * @nr_sites:   sites in use
 * @nr_sockets: that threads which use the class are on
 * @turned:     the order of the present pair of epochs is challenger, incumbent
 * @half:       the first epoch of the pair is over
 * @pairs:      pairs that are over
 * @asked:      challenges since something changed, in the rotation; see question.h
 * @departed:   epochs in a row at which they were unlike those before
 * @rested:     the first epoch after a challenge is over: what follows is as usual
 * @sum, @squares: of the pairs' logarithms of rate of challenger by rate of incumbent
 * @first:      rate of the pair's first epoch
 * @reached:    sum of the challenger's rates
 * @rate, @noise, @nr_rates: mean rate while holding, its mean relative departure, epochs seen
 * @recent:     mean rate of the last few of these
 * @aborts:     by others, by section, when elided last; running mean
 * @waits:      acquisitions that found the lock held, by section, when nothing was elided last;
 *              running mean
 * @stretch:    how much longer epochs are that compare eliding with not eliding: it was not clear
 * @length:     of the incumbent's last epoch: the challenger gets as many
 * @cost:       time that the present challenge has lost, by its pairs so far
 * @next_at:    when to ask next
 * @period:     time between questions, doubling
 * @sites:      see there
 */
struct learn_class {
	uint8_t phase;
	uint8_t arm;
	uint8_t target;
	uint8_t challenger;
	uint8_t nr_sites;
	uint8_t nr_sockets;
	bool turned;
	bool half;
	uint8_t pairs;
	uint8_t departed;
	bool rested;
	uint32_t asked;
	double sum;
	double squares;
	double first;
	double reached;
	double rate;
	double recent;
	double noise;
	uint32_t nr_rates;
	double aborts;
	double waits;
	uint32_t stretch;
	uint64_t length;
	double cost;
	uint64_t next_at;
	uint64_t period;
	struct learn_site sites[LEARN_SITES];
};

/**
 * struct learn_epoch - what an epoch has measured.
 * @sections: completed, of all threads
 * @aborts:   of attempts in it, for which others were to blame
 * @waits:    real acquisitions that found the lock held
 * @length:   of what was measured of the epoch
 * @whole:    of all of it
 * @now:      its end
 * @joined:   threads have begun to use locks of the class in it
 * @nr_sockets: that threads which used them were on
 */
struct learn_epoch {
	double sections;
	double aborts;
	double waits;
	uint64_t length;
	uint64_t whole;
	uint64_t now;
	bool joined;
	uint8_t nr_sockets;
};

/**
 * struct learn_decision - a challenge that is over.
 * @made:       there is one
 * @won:        the challenger is the incumbent now
 * @target, @arm, @before: what was challenged by which arm, and what it had (of the first site)
 * @pairs:      pairs of epochs that were compared
 * @ratio:      the challenger was faster by so much, in 1/1000
 * @confidence: that the sign of it is right, in 1/1000
 */
struct learn_decision {
	bool made;
	bool won;
	uint8_t target;
	uint8_t arm;
	uint8_t before;
	uint8_t pairs;
	int32_t ratio;
	uint32_t confidence;
};

/** learn_start() - nothing is known of a class. */
void learn_start(struct learn_class *c);

/**
 * learn_inherit() - a state begins with what another one knows.
 * @c: the new one, of a single lock
 * @from: of its class
 *
 * The ways of the sites are taken over, and asked about anew.
 */
void learn_inherit(struct learn_class *c, const struct learn_class *from);

/**
 * learn_site() - one more call site of the class.
 *
 * Return: its number; that of the last one if there is no room.
 */
unsigned int learn_site(struct learn_class *c);

/** learn_arm() - how an acquisition at that site is treated in the present epoch. */
enum policy_arm_name learn_arm(const struct learn_class *c, unsigned int site);

/** learn_may_end() - has the present epoch lasted long enough, if @length is not too short? */
bool learn_may_end(const struct learn_class *c, uint64_t length);

/**
 * learn_over() - has the present epoch seen enough?
 * @c: the class
 * @length: time since it began
 * @sections: completed in it
 */
bool learn_over(const struct learn_class *c, uint64_t length, double sections);

/**
 * learn_epoch() - an epoch is over: what does the next one do?
 * @c: the class; learn_arm() tells of each site afterwards
 * @epoch: what was measured
 *
 * Return: what was decided.
 */
struct learn_decision learn_epoch(struct learn_class *c, const struct learn_epoch *epoch);

/** learn_anew() - something has changed: all questions are new. */
void learn_anew(struct learn_class *c, uint64_t now);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * learn.h - what the adaptive policy learns of a class of locks, and from what.
 *
 * Pure functions of (state, what a trial measured): no clock, no atomics, no I/O, no randomness.
 * lib/adapt/trial.c measures, keeps the state and acts. The numbers are in numbers.h.
 *
 * A class has an arm, a way to treat acquisitions (arms.def), for all its call sites but those whose
 * sections cannot be elided, which lock. It is measured as a whole, because what one site does costs
 * the others: the rate is the number of sections that all threads have completed, per nanosecond of
 * the trial. A challenge compares two treatments: in every other trial the class has the challenger
 * in place of the incumbent. Only one challenge is made at a time. It asks one of three questions:
 *
 *   WHETHER  to elide at all: an arm that elides beside "real"
 *   HOW      to elide: one arm that elides beside another
 *   CROWD    where nothing is elided: few threads that wait for a held lock beside all ("restrict")
 *
 *   phase       event                                         next        then
 *   ----------  --------------------------------------------  ----------  -------------------------
 *   hold        trial, and no question is due                 hold
 *   hold        trial, a question is due, and no other        incumbent   a challenge
 *               class is in a challenge about eliding
 *   hold        the mean rate has changed, learn.c departs()  incumbent   all questions are due
 *   hold        threads have begun to use the class           incumbent   all questions are due
 *   incumbent   trial, the first of a pair                    challenger
 *   challenger  trial, the first of a pair                    incumbent
 *   either      trial, the second of a pair, unclear          the same    a pair in reverse order
 *   either      the challenger wins                           hold        it is the incumbent; if by over
 *                                                                         10 %, the round begins anew
 *   either      it loses, or remains unclear                  hold        the question is due later
 *
 * Classes take turns, as sections nest: what one changes is in the rates of the others, and those that began
 * their challenges together would change their arms together. Turns of unrelated classes are lost time, but
 * a challenge takes a millisecond.
 *
 * A challenge has at most PAIRS_MAX pairs, or CROWD_PAIRS; the last one decides by one standard error.
 *
 * In a round each other arm challenges once. In the first one each challenge follows the one before
 * at once; later ones come after a period, which doubles, and every other one asks WHETHER. While nothing is
 * elided only a challenge can show that eliding pays by now, so the period is bounded to 8 ms where threads
 * wait for the locks. While sections are elided a change shows in the rate, and a challenge by locking makes
 * the threads stand in line, so there the period also grows with what the last challenge has cost. The
 * question CROWD has a period of its own.
 *
 * A class of which an earlier process knew begins with that, learn_begin_with(): the first round
 * goes on where it was, or is not repeated, until the rate departs, a challenge changes much, or
 * threads join later than KNOWN_LATER after the start.
 *
 * Beside that, probe.c keeps a state of each site, for sections that cannot be elided (a system
 * call in them, for example):
 *
 *   site        event                                       next        then
 *   ---------   -----------------------------------------   ---------   --------------------
 *   usual       3 acquisitions in a row, and most of those  unelidable  it is locked, not elided
 *               before, unelidable; and by all threads
 *               learn_elided() does not hold
 *   usual       learn_hand_over_hand()                      unelidable  as above
 *   unelidable  a probe fails                               unelidable  @wait doubles, to 4 ms
 *   unelidable  the second probe commits, and none failed   usual       as the class
 *   unelidable  other threads end the fourth probe          usual       as the class
 */
#ifndef ELIDE_LEARN_H
#define ELIDE_LEARN_H

#include <stdbool.h>
#include <stdint.h>

#include "numbers.h"

enum policy_arm_name {
#define ELIDE_ARM(id, conflict, busy, capacity, other, patience, help) POLICY_ARM_##id,
#include "../arms.def"
#undef ELIDE_ARM
	POLICY_NR_ARMS
};

/** policy_arm_locks() - does the arm make no attempt? */
static inline bool policy_arm_locks(enum policy_arm_name arm)
{
	return arm == POLICY_ARM_real || arm == POLICY_ARM_restrict;
}

/*
 * Sites of a class with a state of their own; further ones share the last. The arms of 8 sites are
 * 8 bytes in the line that each acquisition reads.
 */
#define LEARN_SITES 8

/* In place of the number of a site: all sites of the class. */
#define LEARN_ALL LEARN_SITES

enum learn_phase {
	LEARN_HOLD,
	LEARN_INCUMBENT,
	LEARN_CHALLENGER,
};

/* What a challenge asks, see above. */
enum learn_question {
	LEARN_WHETHER,
	LEARN_HOW,
	LEARN_CROWD,
	LEARN_NR_QUESTIONS
};

/**
 * struct learn_site - a call site of a class.
 * @unelidable: the sections here cannot be elided, by the last acquisitions or probes
 * @passed:   probes that committed since the last one that failed
 * @unsure:   probes since then that other threads ended: they held the lock or aborted the probe
 * @failed:   probes that failed since the site became unelidable, at most 255
 * @probe_at: time of the next probe, ns
 * @wait:     time between probes, ns; it doubles with each that fails
 */
struct learn_site {
	bool unelidable;
	uint8_t passed;
	uint8_t unsure;
	uint8_t failed;
	uint64_t probe_at;
	uint64_t wait;
};

/**
 * struct learn_timer - the time of the next challenge.
 * @at: time, ns
 * @period: time between two challenges, ns; it doubles
 */
struct learn_timer {
	uint64_t at;
	uint64_t period;
};

/**
 * struct learn_class - all that is known of a class of locks.
 * @phase:      enum learn_phase
 * @question:   of the present challenge
 * @arm:        incumbent: real, or an arm that elides
 * @few:        incumbent where threads lock: few of them wait for a held lock
 * @challenger: arm of the class in trials of the phase LEARN_CHALLENGER; in the question CROWD @few is the
 *              other way round there
 * @nr_sites:   sites in use
 * @only_locks: the processor has no RTM: all challenges have the question CROWD
 * @crowds:     its threads can be restricted
 * @oversubscribed:    more threads run than there are processors
 * @half:       the first trial of the present pair is over
 * @pairs:      pairs of the present challenge that are over
 * @departed:   trials in a row in which @recent was far from @rate, see departs()
 * @rested:     a trial has ended since the last challenge: later ones are as usual
 * @asked:      number of the next challenge in the round, see question.h
 * @elide:      time of the next challenge with the question WHETHER or HOW
 * @crowd:      time of the next challenge with the question CROWD
 * @sum, @squares: sum, and sum of the squares, of ln(challenger's rate / incumbent's rate) of the pairs
 * @first:      rate of the first trial of the present pair, sections per ns
 * @held_sections, @held_time: mean sections, and mean length in ns, of the last @nr_rates trials of
 *              the phase LEARN_HOLD
 * @rate:       their quotient: a trial ends while threads run, not while they sleep, so the mean of
 *              the rates of trials would be too high
 * @recent:     mean rate of about the last four of them
 * @noise:      mean absolute departure of a trial from @rate, as a logarithm
 * @nr_rates:   trials in these means, at most 16
 * @aborts:     aborts by other threads for each section, in trials in which something was elided;
 *              mean of about the last four
 * @waits:      acquisitions that found the lock held for each section, in trials in which nothing
 *              was elided; mean of about the last four
 * @length:     length of the incumbent's last trial, ns: the challenger's is as long
 * @cost:       time that the present challenge has lost so far, ns
 * @known:      it began with what an earlier process knew, which nothing has contradicted yet
 * @decided:    a challenge is over, or a site is confirmed to be unelidable, or usual again, in this process
 * @confidence: of the last comparison of eliding with locking, see struct learn_decision; 0: none
 * @due:        if @known, time from the beginning to the first challenge, ns
 * @starts_from: beginning of its first trial, or of that in which threads came to it later, ns; 0: none has
 *              ended
 * @sites:      states of the sites
 */
struct learn_class {
	uint8_t phase;
	uint8_t question;
	uint8_t arm;
	uint8_t challenger;
	uint8_t nr_sites;
	uint8_t pairs;
	uint8_t departed;
	bool few;
	bool only_locks;
	bool crowds;
	bool oversubscribed;
	bool half;
	bool rested;
	bool known;
	bool decided;
	uint32_t asked;
	struct learn_timer elide;
	struct learn_timer crowd;
	double sum;
	double squares;
	double first;
	double held_sections;
	double held_time;
	double rate;
	double recent;
	double noise;
	uint32_t nr_rates;
	double aborts;
	double waits;
	uint64_t length;
	double cost;
	uint16_t confidence;
	uint64_t due;
	uint64_t starts_from;
	struct learn_site sites[LEARN_SITES];
};

/**
 * struct learn_trial - what a trial has measured.
 * @sections: sections that all threads completed in the measured part
 * @aborts:   attempts in the measured part that other threads aborted
 * @waits:    acquisitions in the whole trial that locked and found the lock held
 * @length:   length of the measured part, ns
 * @whole:    length of the whole trial, ns
 * @now:      time of its end, ns
 * @joined:   threads have begun to use locks of the class in it
 * @oversubscribed:  more threads run than there are processors
 * @others:   another class is in a challenge of a question about eliding
 */
struct learn_trial {
	double sections;
	double aborts;
	double waits;
	uint64_t length;
	uint64_t whole;
	uint64_t now;
	bool joined;
	bool oversubscribed;
	bool others;
};

/**
 * struct learn_decision - a challenge that is over, or a site that is unelidable.
 * @made:       there is one; if not, the other fields mean nothing
 * @won:        the challenger is the incumbent now
 * @target:     the unelidable site, or LEARN_ALL
 * @arm:        the challenger
 * @before:     the incumbent
 * @pairs:      pairs of trials that were compared
 * @ratio:      mean of ln(challenger's rate / incumbent's rate), in 1/1000
 * @confidence: probability that the sign of @ratio is right, in 1/1000
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

/**
 * struct learn_known - what is kept of a class from one process to the next.
 * @arm:        incumbent of the class; "restrict": it locks, and few threads wait
 * @asked:      challenges of the first round that are over; LEARN_ASKED_ALL: all
 * @confidence: as in struct learn_class
 * @period:     time between challenges, ns
 * @due:        time of use until the next challenge, ns
 * @aborts, @waits: as in struct learn_class, for each 1000 sections
 */
struct learn_known {
	uint8_t arm;
	uint8_t asked;
	uint16_t confidence;
	uint64_t period;
	uint64_t due;
	uint32_t aborts;
	uint32_t waits;
};

#define LEARN_ASKED_ALL 255

/**
 * learn_start() - begin with a class of which nothing is known.
 * @c: the class; its arm is "keen"
 * @only_locks: there is no RTM; its arm is "real"
 * @crowds: its threads can be restricted
 */
void learn_start(struct learn_class *c, bool only_locks, bool crowds);

/**
 * learn_inherit() - begin with what is known of another class.
 * @c: the new state, of a single lock
 * @from: state of the class of that lock
 *
 * The arm and the sites with their probes are copied; the round begins anew.
 */
void learn_inherit(struct learn_class *c, const struct learn_class *from);

/**
 * learn_begin_with() - begin with what an earlier process has learnt of the class.
 * @c: the new state, of learn_start()
 * @known: what is known; numbers out of range are put right, but @arm is below POLICY_NR_ARMS
 *
 * Its first round goes on at @known->asked. If that is over, the next challenge comes after
 * @known->due, at most 8 ms.
 */
void learn_begin_with(struct learn_class *c, const struct learn_known *known);

/**
 * learn_keep() - what a later process may begin with: the reverse of learn_begin_with().
 * @c: the class, about which something was decided
 * @known: filled
 *
 * The first challenge is due after 4 to 8 ms, so that a program of a few ms is not judged anew in each
 * run; but after 0.5 ms, as after a first round, if the last comparison of eliding with locking was
 * less than 90 % sure.
 */
void learn_keep(const struct learn_class *c, struct learn_known *known);

/**
 * learn_waited() - how much of the time to the first challenge has passed?
 * @c: a class, about which nothing was decided
 * @now: time, ns
 *
 * Return: ns, which a later process need not wait any more; 0 of a class of which nothing was known.
 */
uint64_t learn_waited(const struct learn_class *c, uint64_t now);

/**
 * learn_site() - add a call site to the class.
 * @c: the class
 *
 * Return: its number; that of the last one if LEARN_SITES are in use.
 */
unsigned int learn_site(struct learn_class *c);

/**
 * learn_site_with() - an earlier process has found that the sections of a site cannot be elided.
 * @c: the class
 * @site: number of the site, which learn_site() has added just now
 *
 * The first probe comes 2 ms after threads have begun to use the class, or 4 ms after the first flush
 * of a site that is met later.
 */
void learn_site_with(struct learn_class *c, unsigned int site);

/**
 * learn_site_keep() - may a later process begin with learn_site_with()? At least 2 probes have
 * confirmed it.
 */
bool learn_site_keep(const struct learn_class *c, unsigned int site);

/** learn_arm() - the arm of @site in the present trial. */
enum policy_arm_name learn_arm(const struct learn_class *c, unsigned int site);

/** learn_settled() - the arm of @site between challenges: the best one so far. */
enum policy_arm_name learn_settled(const struct learn_class *c, unsigned int site);

/** learn_elides() - does any site have an arm that elides, in the present trial? */
bool learn_elides(const struct learn_class *c);

/** learn_settles() - the least time between a change of arms and the measured part of a trial, ns. */
uint64_t learn_settles(const struct learn_class *c);

/** learn_may_end() - may the present trial end after @length ns, if it has enough sections? */
bool learn_may_end(const struct learn_class *c, uint64_t length);

/**
 * learn_over() - is the present trial over?
 * @c: the class
 * @length: length of its measured part, ns
 * @sections: sections completed in that
 */
bool learn_over(const struct learn_class *c, uint64_t length, double sections);

/**
 * learn_trial() - learn from a trial that is over, and decide about the next one.
 * @c: the class; learn_arm() is the arm of each site in the next trial
 * @trial: what was measured
 *
 * Return: the decision, if a challenge is over with this trial.
 */
struct learn_decision learn_trial(struct learn_class *c, const struct learn_trial *trial);

/**
 * learn_anew() - something has changed: all questions, and the probes, are due.
 * @c: the class
 * @now: time of the first challenge, ns
 */
void learn_anew(struct learn_class *c, uint64_t now);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * learn.h - what the adaptive policy learns of a class of locks, and from what.
 *
 * Pure functions of (state, what an epoch measured): no clock, no atomics, no
 * I/O, no randomness. lib/adapt/epoch.c measures, keeps the state and acts.
 *
 * Each call site of a class has an arm, a way to treat its acquisitions (arms.def). The class is
 * measured as a whole, because what one site does costs the others: the rate is the number of
 * sections that all threads have completed, per nanosecond of the epoch. A challenge compares two
 * arms: in every other epoch one site, or all of them, have the challenger in place of the
 * incumbent. Only one challenge is made at a time.
 *
 *   phase       event                                         next        then
 *   ----------  --------------------------------------------  ----------  -------------------------
 *   hold        epoch, and @next_at has not come              hold
 *   hold        epoch, and @next_at has come                  incumbent   the next challenge
 *   hold        the mean rate has changed, learn.c departs()  incumbent   rotation from the start
 *   hold        threads have begun to use the class           incumbent   rotation from the start
 *   incumbent   epoch, the first of a pair                    challenger
 *   challenger  epoch, the first of a pair                    incumbent
 *   either      epoch, the second of a pair, unclear          the same    a pair in reverse order
 *   either      the challenger wins: by over 10 %, or in the  hold        it is the incumbent,
 *               question whether to elide at all                          rotation from the start
 *   either      the challenger wins otherwise                 hold        it is the incumbent
 *   either      it loses, or remains unclear                  hold        @next_at is set
 *
 * A challenge remains unclear after 10 pairs; in the question whether to elide at all after 25, if
 * eliding looks better. There the epochs also become longer while it is unclear: a contended mutex
 * is in a convoy or out of it for longer than a short epoch lasts.
 *
 * A rotation is one challenge of each candidate (question.h). In the first one each challenge
 * follows the one before at once, or after COST_FIRST times what that one has cost; later ones
 * come after @period, which doubles. Its bounds are in learn.c. While nothing is elided only a
 * challenge can show that eliding pays by now, so the bound is small where threads wait for the
 * locks. While sections are elided a change shows in the rate, and a challenge by locking makes
 * the threads stand in line, so there the time also grows with what the last challenge has cost.
 *
 * A class of which an earlier process knew begins with that, learn_begin_with(): the first rotation
 * goes on where it was, or is not repeated, until the rate departs, a challenge changes much, or
 * threads join later than learn.c's LATER after the start.
 *
 * Beside that, probe.c keeps a state of each site, for sections that cannot be elided (a system
 * call in them, for example):
 *
 *   site        event                                       next        then
 *   ---------   -----------------------------------------   ---------   --------------------
 *   usual       3 acquisitions in a row, and most of those  unelidable  it is locked, not elided
 *               before, unelidable; and by all threads
 *               learn_elided() does not hold
 *   unelidable  a probe fails                               unelidable  @wait doubles, to 4 ms
 *   unelidable  the second probe commits, and none failed   usual       as the class
 *   unelidable  other threads end the fourth probe          usual       as the class
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

/*
 * Acquisitions per section that find the lock held: where fewer than 1 in 100 do, threads wait
 * seldom, and eliding or restricting them can gain little.
 */
#define LEARN_WAITS_MATTER 0.01

/* A microsecond. Times are in ns, as exactly as the rate of the time-stamp counter is known. */
#define LEARN_US 1000ull

/*
 * 100 ms. If more time lies between two reports of an epoch, the class was unused in between, or
 * the clock has jumped: the longest epoch that learn_over() makes is 16 ms.
 */
#define LEARN_ABSURD (100000 * LEARN_US)

/*
 * Time in which each socket has its part once, under the arm "turns": 131 us. Of turns of 16, 33
 * and 65 us for each of two sockets the longest was the best (tests/policy/notes.md).
 */
#define LEARN_SOCKETS_PERIOD (1u << 17)

enum learn_phase {
	LEARN_HOLD,
	LEARN_INCUMBENT,
	LEARN_CHALLENGER,
};

/**
 * struct learn_site - a call site of a class.
 * @arm:      the incumbent: enum policy_arm_name
 * @unelidable: the sections here cannot be elided, by the last acquisitions or probes
 * @passed:   probes that committed since the last one that failed
 * @unsure:   probes since then that other threads ended: they held the lock or aborted the probe
 * @failed:   probes that failed since the site became unelidable, at most 255
 * @probe_at: time of the next probe, ns
 * @wait:     time between probes, ns; it doubles with each that fails
 */
struct learn_site {
	uint8_t arm;
	bool unelidable;
	uint8_t passed;
	uint8_t unsure;
	uint8_t failed;
	uint64_t probe_at;
	uint64_t wait;
};

/**
 * struct learn_class - all that is known of a class of locks.
 * @phase:      enum learn_phase
 * @arm:        incumbent of the class as a whole; new sites begin with it
 * @target:     site that is challenged, or LEARN_ALL
 * @challenger: arm that @target has in epochs of the phase LEARN_CHALLENGER
 * @nr_sites:   sites in use
 * @nr_sockets: sockets with threads that use the class
 * @only_locks: there is no RTM: only the arms that make no attempt are candidates
 * @crowds:     its threads can be restricted: "restrict" is a candidate
 * @crowded:    there are more threads than processors
 * @far_behind: bits by arm: in this rotation it was far behind the arm of the class
 * @half:       the first epoch of the present pair is over
 * @pairs:      pairs of the present challenge that are over
 * @likely:     while nothing is elided, the arm that has come closest to locking: question 0
 * @departed:   epochs in a row in which @recent was far from @rate, see departs()
 * @rested:     an epoch has ended since the last challenge: later ones are as usual
 * @asked:      number of the next challenge in the rotation, see question.h
 * @weights:    sum of the weights of the pairs: the length of a pair, in the least length
 * @sum, @squares: weighted sum, and sum of the squares, of ln(challenger's rate / incumbent's rate)
 *              of the pairs
 * @first:      rate of the first epoch of the present pair, sections per ns
 * @reached:    weighted sum of the challenger's rates in the present challenge
 * @likely_mean: mean logarithm of the last challenge by @likely
 * @held_sections, @held_time: mean sections, and mean length in ns, of the last @nr_rates epochs of
 *              the phase LEARN_HOLD
 * @rate:       their quotient: an epoch ends while threads run, not while they sleep, so the mean of
 *              the rates of epochs would be too high
 * @recent:     mean rate of about the last four of them
 * @noise:      mean absolute departure of an epoch from @rate, as a logarithm
 * @pair_noise: standard deviation of a pair of epochs of the least length, as a logarithm; mean of
 *              about the last four challenges
 * @nr_rates:   epochs in these means, at most 16
 * @aborts:     aborts by other threads for each section, in epochs in which something was elided;
 *              mean of about the last four
 * @waits:      acquisitions that found the lock held for each section, in epochs in which nothing
 *              was elided; mean of about the last four
 * @stretch:    factor of the length of epochs in the present challenge; in the question whether to
 *              elide at all it doubles while that is unclear, to 8
 * @length:     length of the incumbent's last epoch, ns: the challenger's is as long
 * @cost:       time that the present challenge has lost so far, ns
 * @known:      it began with what an earlier process knew, which nothing has contradicted yet
 * @decided:    a challenge is over, or a site is confirmed to be unelidable, or usual again, in this process
 * @confidence: of the last comparison of eliding with locking, see struct learn_decision; 0: none
 * @due:        if @known, time from the beginning to the first challenge, ns
 * @starts_from: beginning of its first epoch, or of that in which threads came to it later, ns; 0: none has ended
 * @next_at:    time of the next challenge, ns
 * @period:     time between challenges, ns, after the first rotation; it doubles
 * @sites:      states of the sites
 */
struct learn_class {
	uint8_t phase;
	uint8_t arm;
	uint8_t target;
	uint8_t challenger;
	uint8_t nr_sites;
	uint8_t nr_sockets;
	bool only_locks;
	bool crowds;
	bool crowded;
	bool half;
	uint8_t pairs;
	uint8_t likely;
	uint8_t departed;
	bool rested;
	uint32_t asked;
	uint32_t far_behind;
	double weights;
	double sum;
	double squares;
	double first;
	double reached;
	double likely_mean;
	double held_sections;
	double held_time;
	double rate;
	double recent;
	double noise;
	double pair_noise;
	uint32_t nr_rates;
	double aborts;
	double waits;
	uint32_t stretch;
	uint64_t length;
	double cost;
	bool known;
	bool decided;
	uint16_t confidence;
	uint64_t due;
	uint64_t starts_from;
	uint64_t next_at;
	uint64_t period;
	struct learn_site sites[LEARN_SITES];
};

/**
 * struct learn_epoch - what an epoch has measured.
 * @sections: sections that all threads completed in the measured part
 * @aborts:   attempts in the measured part that other threads aborted
 * @waits:    acquisitions in the whole epoch that locked and found the lock held
 * @length:   length of the measured part, ns
 * @whole:    length of the whole epoch, ns
 * @now:      time of its end, ns
 * @joined:   threads have begun to use locks of the class in it
 * @nr_sockets: sockets with threads that used them
 * @crowded: there are more threads than processors
 */
struct learn_epoch {
	double sections;
	double aborts;
	double waits;
	uint64_t length;
	uint64_t whole;
	uint64_t now;
	bool joined;
	bool crowded;
	uint8_t nr_sockets;
};

/**
 * struct learn_decision - a challenge that is over.
 * @made:       a challenge is over; if not, the other fields mean nothing
 * @won:        the challenger is the incumbent now
 * @target:     the site that was challenged, or LEARN_ALL
 * @arm:        the challenger
 * @before:     the incumbent; with LEARN_ALL, of the class
 * @pairs:      pairs of epochs that were compared
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
 * @arm:        incumbent of the class
 * @asked:      challenges of the first rotation that are over; LEARN_ASKED_ALL: all
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
 * struct learn_known_site - what is kept of a call site.
 * @arm: as in struct learn_site
 * @unelidable: the sections cannot be elided, and at least 2 probes have confirmed that
 */
struct learn_known_site {
	uint8_t arm;
	bool unelidable;
};

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
 * The sites with their arms and their probes are copied; the rotation begins anew.
 */
void learn_inherit(struct learn_class *c, const struct learn_class *from);

/**
 * learn_begin_with() - begin with what an earlier process has learnt of the class.
 * @c: the new state, of learn_start()
 * @known: what is known; numbers out of range are put right, but @arm is below POLICY_NR_ARMS
 *
 * Its first rotation goes on at @known->asked. If that is over, the next challenge comes after
 * @known->due, at most 8 ms.
 */
void learn_begin_with(struct learn_class *c, const struct learn_known *known);

/**
 * learn_site_with() - begin with what an earlier process has learnt of a site.
 * @c: the class
 * @site: number of the site, which learn_site() has added just now
 * @known: what is known, as in learn_begin_with()
 *
 * The first probe of an unelidable site comes 0.5 ms after threads have begun to use the class, or 4 ms
 * after the first report of a site that is met later.
 */
void learn_site_with(struct learn_class *c, unsigned int site,
		     const struct learn_known_site *known);

/** learn_site_keep() - what a later process may begin with: the reverse of learn_site_with(). */
void learn_site_keep(const struct learn_class *c, unsigned int site,
		     struct learn_known_site *known);

/**
 * learn_keep() - what a later process may begin with: the reverse of learn_begin_with().
 * @c: the class, about which something was decided
 * @known: filled
 *
 * The first challenge is due after 4 to 8 ms, so that a program of a few ms is not judged anew in each
 * run; but after 0.5 ms, as after a first rotation, if the last comparison of eliding with locking was
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

/** learn_may_have() - @arm if the class may have it here, else the arm "real". */
enum policy_arm_name learn_may_have(const struct learn_class *c, enum policy_arm_name arm);

/** learn_arm() - the arm of @site in the present epoch. */
enum policy_arm_name learn_arm(const struct learn_class *c, unsigned int site);

/** learn_settles() - the least time between a change of arms and the measured part of an epoch, ns. */
uint64_t learn_settles(const struct learn_class *c);

/** learn_may_end() - may the present epoch end after @length ns, if it has enough sections? */
bool learn_may_end(const struct learn_class *c, uint64_t length);

/**
 * learn_over() - is the present epoch over?
 * @c: the class
 * @length: length of its measured part, ns
 * @sections: sections completed in that
 */
bool learn_over(const struct learn_class *c, uint64_t length, double sections);

/**
 * learn_epoch() - learn from an epoch that is over, and decide about the next one.
 * @c: the class; learn_arm() is the arm of each site in the next epoch
 * @epoch: what was measured
 *
 * Return: the decision, if a challenge is over with this epoch.
 */
struct learn_decision learn_epoch(struct learn_class *c, const struct learn_epoch *epoch);

/**
 * learn_anew() - something has changed: begin the rotation of challenges and the probes anew.
 * @c: the class
 * @now: time of the first challenge, ns
 */
void learn_anew(struct learn_class *c, uint64_t now);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * learn.c - the adaptive policy's decisions.
 *
 * question.c chooses the challenges, span.c how long their epochs are, judge.c says who is better, and
 * probe.c has what becomes of sites that cannot be elided. Must never look at a clock, a lock word or
 * anything but its arguments.
 */
#include "../compiler.h"
#include "judge.h"
#include "learn.h"
#include "probe.h"
#include "question.h"
#include "span.h"

/*
 * The numbers here were chosen by runs of the tuned workloads of tests/policy/suite on 1, 4 and 16
 * emulated cores, at 1 GHz; tests/policy/notes.md has what was compared. Where a comment derives a
 * number, that is its source. None was measured on a processor with RTM.
 */

/*
 * Time between two challenges, ns. It doubles from PERIOD_MIN. Where nothing is elided only a
 * challenge shows whether eliding pays by now: it grows to PERIOD_REAL if threads wait for the
 * locks, else to PERIOD_MAX. Where sections are elided a change shows in the rate, and a challenge
 * costs time: by what it has cost the time grows to PERIOD_DEAR.
 */
#define PERIOD_MIN  (500 * LEARN_US)
#define PERIOD_REAL (8000 * LEARN_US)
#define PERIOD_MAX  (32000 * LEARN_US)
#define PERIOD_DEAR (256000 * LEARN_US)

/*
 * The bound where nothing can be elided. A challenge with the arm "restrict" lasts 75 ms where there are
 * many more threads than processors, and what it asks changes seldom but by a change of the rate.
 */
#define PERIOD_CROWDS (4000000 * LEARN_US)

/*
 * A lost challenge has cost time. The next one comes after COST_SHARE times that time, so that
 * challenges cost about 1/200 of all time; in the first rotation after COST_FIRST times that time,
 * twice as much if the challenger was below LEARN_FIRST_LOSES; but not later than PERIOD_DEAR.
 */
#define COST_SHARE 200
#define COST_FIRST 10

/*
 * Logarithm of the ratio of rates; -1 is a factor of 0.37. After a challenger that is worse, if no
 * candidate is left, COST_SHARE holds in the first rotation, too.
 */
#define FAR_BEHIND (-1.0)

/*
 * A win whose mean logarithm is above this (10 %), by its standard error, begins the rotation of
 * challenges anew.
 */
#define CHANGES 0.1

/*
 * The class has changed when the mean of about four epochs is further from the mean rate than
 * DEPARTS (a logarithm: 22 % more or 18 % less), and than DEPARTS_NOISES times the noise of one
 * epoch, in DEPARTS_TIMES epochs in a row. The noise of a mean of four epochs is about half of that
 * of one, so 1.6 of the latter are about three of the former.
 */
#define DEPARTS        0.2
#define DEPARTS_NOISES 1.6
#define DEPARTS_TIMES  3

/*
 * Threads that begin to use a class later than this after it was first used come to another load than an
 * earlier process may have known.
 */
#define LATER (64000 * LEARN_US)

/*
 * What an earlier process knew: from KNOWN_SURE on, in 1/1000, its comparison of eliding with
 * locking is trusted, and the next challenge comes after KNOWN_PERIOD to PERIOD_REAL ns. Chosen so that
 * a phase change is found within 10 ms. ASKED_ALL is behind the end of the longest rotation; more
 * aborts or waits than EVENTS_MAX for 1000 sections make no difference.
 */
#define KNOWN_SURE   900
#define KNOWN_PERIOD (4000 * LEARN_US)
#define EVENTS_MAX   100000
#define ASKED_ALL    (POLICY_NR_ARMS * (1 + LEARN_SITES))

void learn_start(struct learn_class *c, bool only_locks, bool crowds)
{
	*c = (struct learn_class){
		.arm = only_locks ? POLICY_ARM_real : POLICY_ARM_keen,
		.only_locks = only_locks,
		.crowds = crowds,
		.target = LEARN_ALL,
		.likely = POLICY_ARM_keen,
		.period = PERIOD_MIN,
		.stretch = 1,
	};
}

void learn_begin_with(struct learn_class *c, const struct learn_known *known)
{
	c->known = true;
	c->arm = learn_may_have(c, known->arm);
	c->asked = known->asked == LEARN_ASKED_ALL ? ASKED_ALL : known->asked;
	c->confidence = known->confidence < 1000 ? known->confidence : 0;
	c->aborts = (known->aborts < EVENTS_MAX ? known->aborts : EVENTS_MAX) / 1000.0;
	c->waits = (known->waits < EVENTS_MAX ? known->waits : EVENTS_MAX) / 1000.0;
	if (known->period > PERIOD_MIN)
		c->period = known->period < PERIOD_REAL ? known->period : PERIOD_REAL;
	c->due = known->due < PERIOD_REAL ? known->due : PERIOD_REAL;
}

void learn_keep(const struct learn_class *c, struct learn_known *known)
{
	/* A challenge that is not over is made again. */
	uint32_t asked = c->phase == LEARN_HOLD || !c->asked ? c->asked : c->asked - 1;

	*known = (struct learn_known){
		.arm = c->arm,
		.asked = asked >= learn_rotation(c) ? LEARN_ASKED_ALL : asked,
		.confidence = c->confidence,
		.period = PERIOD_MIN,
		.aborts = c->aborts < EVENTS_MAX / 1000 ? c->aborts * 1000 : EVENTS_MAX,
		.waits = c->waits < EVENTS_MAX / 1000 ? c->waits * 1000 : EVENTS_MAX,
	};
	if (c->confidence >= KNOWN_SURE)
		known->period = c->period < KNOWN_PERIOD ? KNOWN_PERIOD :
				c->period < PERIOD_REAL ? c->period : PERIOD_REAL;
	known->due = known->asked == LEARN_ASKED_ALL ? known->period : 0;
}

uint64_t learn_waited(const struct learn_class *c, uint64_t now)
{
	if (!c->known || !c->starts_from)
		return 0;
	if (c->phase != LEARN_HOLD || c->next_at <= now)
		return c->due;
	return c->next_at - now < c->due ? c->due - (c->next_at - now) : 0;
}

unsigned int learn_site(struct learn_class *c)
{
	if (c->nr_sites == LEARN_SITES)
		return LEARN_SITES - 1;
	c->sites[c->nr_sites].arm = c->arm;
	return c->nr_sites++;
}

enum policy_arm_name learn_may_have(const struct learn_class *c, enum policy_arm_name arm)
{
	if ((c->only_locks && !policy_arm_locks(arm)) || (!c->crowds && arm == POLICY_ARM_restrict))
		return POLICY_ARM_real;
	return arm;
}

enum policy_arm_name learn_arm(const struct learn_class *c, unsigned int site)
{
	bool challenged = c->phase == LEARN_CHALLENGER &&
			  (c->target == LEARN_ALL || c->target == site);
	enum policy_arm_name arm = challenged ? c->challenger : c->sites[site].arm;

	return c->sites[site].unelidable && !policy_arm_locks(arm) ? POLICY_ARM_real : arm;
}

static void hold(struct learn_class *c)
{
	c->phase = LEARN_HOLD;
	c->departed = 0;
	c->rested = false;
}

void learn_anew(struct learn_class *c, uint64_t now)
{
	for (unsigned int i = 0; i < c->nr_sites; i++)
		if (c->sites[i].unelidable) {
			c->sites[i].wait = LEARN_PROBE_MIN;
			c->sites[i].probe_at = now;
		}
	c->known = false;
	c->asked = 0;
	c->far_behind = 0;
	c->period = PERIOD_MIN;
	c->next_at = now;
	c->nr_rates = 0;
	c->noise = 0;
}

/*
 * Threads begin to use the class, at @now. What an earlier process has learnt of it, with all of
 * its threads, stays; the rate is that of this process.
 */
static void begin(struct learn_class *c, uint64_t now)
{
	if (!c->known) {
		learn_anew(c, now);
		return;
	}
	for (unsigned int i = 0; i < c->nr_sites; i++)
		if (c->sites[i].unelidable && c->sites[i].probe_at == LEARN_PROBE_UNSET)
			c->sites[i].probe_at = now + c->sites[i].wait;
	c->next_at = now + c->due;
	c->nr_rates = 0;
	c->noise = 0;
}

void learn_inherit(struct learn_class *c, const struct learn_class *from)
{
	learn_start(c, from->only_locks, from->crowds);
	c->arm = from->arm;
	c->nr_sites = from->nr_sites;
	for (unsigned int i = 0; i < from->nr_sites; i++)
		c->sites[i] = from->sites[i];
}

static void challenge(struct learn_class *c)
{
	if (!learn_ask(c))
		return;
	c->phase = LEARN_INCUMBENT;
	c->half = false;
	c->pairs = 0;
	learn_span_start(c);
	c->weights = c->sum = c->squares = c->cost = c->reached = 0;
}

/* Bound of the time between challenges, ns, without regard to what they cost. */
static uint64_t longest(const struct learn_class *c)
{
	return policy_arm_locks(c->arm) && c->waits >= LEARN_WAITS_MATTER && !c->only_locks ?
		       PERIOD_REAL : PERIOD_MAX;
}

/* Bound of the time to the next challenge, ns, in any case. */
static uint64_t furthest(const struct learn_class *c)
{
	if (c->only_locks)
		return PERIOD_CROWDS;
	return policy_arm_locks(c->arm) ? longest(c) : PERIOD_DEAR;
}

static void take_over(struct learn_class *c, double mean, double error, const struct learn_epoch *e)
{
	uint64_t now = e->now, wait;
	bool principal = learn_is_principal(c);

	for (unsigned int i = 0; i < c->nr_sites; i++)
		if (c->target == LEARN_ALL || c->target == i)
			c->sites[i].arm = c->challenger;
	if (principal && c->challenger == POLICY_ARM_real) {
		c->likely = c->arm;
		c->likely_mean = -mean;
	}
	if (c->target == LEARN_ALL)
		c->arm = c->challenger;
	if (principal || mean - error > CHANGES)
		learn_anew(c, now);
	/* Candidate 0 is the arm that has just lost: go on with the next one. */
	if (principal)
		c->asked = 1;
	wait = c->period;
	/* No other is left where nothing can be elided, and the same pairs would not say more. */
	if (c->only_locks) {
		c->asked = ASKED_ALL;
		if (wait < COST_FIRST * 2 * c->pairs * e->whole)
			wait = COST_FIRST * 2 * c->pairs * e->whole;
	}
	c->next_at = now + (wait < PERIOD_DEAR ? wait : PERIOD_DEAR);
}

/*
 * Sections are elided, the challenger was far worse, and no candidate is left in the rotation. In
 * such a challenge threads stand in line for the lock, and still do when it is over; and a change
 * that would make locking better mostly shows in the rate.
 */
static bool is_hardly_worth_asking(const struct learn_class *c, double mean)
{
	return !policy_arm_locks(c->arm) && mean < FAR_BEHIND && learn_asked_all(c);
}

/* Locking has won against another arm: which one is the likeliest to win the next time? */
static void rank(struct learn_class *c, double mean)
{
	if (!learn_is_principal(c) || c->arm != POLICY_ARM_real)
		return;
	if (c->challenger != c->likely && mean <= c->likely_mean)
		return;
	c->likely = c->challenger;
	c->likely_mean = mean;
}

/* Is the first rotation over? Without RTM it has one candidate. */
static bool is_over(const struct learn_class *c)
{
	return c->asked >= learn_rotation(c) || (c->only_locks && learn_asked_all(c));
}

/* A challenge is lost: when is the next one? Candidates that are left in a rotation come sooner. */
static void lost(struct learn_class *c, double mean, uint64_t now)
{
	double pays = COST_FIRST * c->cost;
	uint64_t wait = 0;

	rank(c, mean);
	if (mean < LEARN_FIRST_LOSES) {
		pays *= 2;
		if (c->target == LEARN_ALL)
			c->far_behind |= 1u << c->challenger;
	}
	if (is_over(c) || is_hardly_worth_asking(c, mean)) {
		pays = COST_SHARE * c->cost;
		wait = c->period;
		if (c->period < longest(c))
			c->period *= 2;
	}
	if (wait < pays)
		wait = pays < furthest(c) ? pays : furthest(c);
	c->next_at = now + (wait < furthest(c) ? wait : furthest(c));
}

/*
 * Locking is the incumbent, and its epochs in the challenge are slower than those between
 * challenges, because the threads that the challenger has let run at the same time stand in a
 * convoy then. A challenger that does not reach the rate between challenges is no gain.
 */
static bool is_disturbed(const struct learn_class *c)
{
	return learn_is_principal(c) && policy_arm_locks(c->arm) && c->nr_rates >= LEARN_NOISE_KNOWN &&
	       c->reached < c->weights * c->rate * (1 + LEARN_MARGIN);
}

/* For later processes: how sure is it on which side of eliding and locking the class is? */
static void note(struct learn_class *c, const struct learn_decision *d)
{
	c->decided = true;
	if (d->target == LEARN_ALL && policy_arm_locks(d->arm) != policy_arm_locks(d->before))
		c->confidence = d->confidence;
}

/* A pair of epochs is over. */
static struct learn_decision compare(struct learn_class *c, double challenger, double incumbent,
				     const struct learn_epoch *e)
{
	struct learn_decision d = {0};
	double log = learn_log_ratio(challenger, incumbent), weight = learn_weight(c, e->length), mean, error;
	enum learn_verdict outcome;

	c->pairs++;
	c->weights += weight;
	c->reached += weight * challenger;
	c->sum += weight * log;
	c->squares += weight * log * log;
	c->cost -= log * e->whole;
	mean = c->sum / c->weights;
	error = learn_error(c);
	outcome = learn_judge(c, mean, error);
	if (outcome == LEARN_WINS && is_disturbed(c))
		outcome = LEARN_LOSES;
	if (outcome == LEARN_UNCLEAR) {
		learn_span_next(c);
		return d;
	}
	d = (struct learn_decision){
		.made = true,
		.won = outcome == LEARN_WINS,
		.target = c->target,
		.arm = c->challenger,
		.before = c->target == LEARN_ALL ? c->arm : c->sites[c->target].arm,
		.pairs = c->pairs,
		.ratio = mean * 1000,
		.confidence = learn_confidence((mean < 0 ? -mean : mean) / error),
	};
	learn_keep_noise(c);
	if (outcome == LEARN_WINS)
		take_over(c, mean, error, e);
	else
		lost(c, mean, e->now);
	hold(c);
	note(c, &d);
	return d;
}

/*
 * An epoch of a challenge is over. The next pair begins with the arm that this one ends with, so
 * the order of the two is reversed from pair to pair, and threads change arms half as often.
 */
static struct learn_decision step(struct learn_class *c, const struct learn_epoch *e, double rate)
{
	struct learn_decision d = {0};
	bool challenger = c->phase == LEARN_CHALLENGER;

	if (!challenger)
		c->length = e->length;
	if (!c->half) {
		c->half = true;
		c->first = rate;
		c->phase = challenger ? LEARN_INCUMBENT : LEARN_CHALLENGER;
		return d;
	}
	d = challenger ? compare(c, rate, c->first, e) : compare(c, c->first, rate, e);
	c->half = false;
	return d;
}

/* An epoch between challenges is over: has the incumbent's rate changed for good? */
static bool departs(struct learn_class *c, const struct learn_epoch *e, double rate)
{
	double off = learn_log_ratio(rate, c->rate), log;

	if (!c->rested) {
		c->rested = true;
		c->recent = c->rate;
		return false;
	}
	if (c->nr_rates) {
		c->recent += (rate - c->recent) / 4;
		log = learn_log_ratio(c->recent, c->rate);
		off = off < 0 ? -off : off;
		/* A rate that is far off may be a change, which must not raise the noise. */
		if (c->nr_rates >= LEARN_NOISE_KNOWN && off > 2 * c->noise + LEARN_NOISE_MIN)
			off = 2 * c->noise + LEARN_NOISE_MIN;
		if (c->nr_rates >= DEPARTS_TIMES && (log > DEPARTS || log < -DEPARTS) &&
		    (log > DEPARTS_NOISES * c->noise || log < -DEPARTS_NOISES * c->noise))
			return ++c->departed >= DEPARTS_TIMES;
	}
	c->departed = 0;
	/* Means over about the last 16 epochs. */
	if (c->nr_rates < 16)
		c->nr_rates++;
	c->held_sections += (e->sections - c->held_sections) / c->nr_rates;
	c->held_time += (e->length - c->held_time) / c->nr_rates;
	c->rate = c->held_time > 0 ? c->held_sections / c->held_time : 0;
	if (c->nr_rates > 1)
		c->noise += (off - c->noise) / (c->nr_rates - 1);
	else
		c->recent = rate;
	return false;
}

/* Does any site have an arm that elides, in the present epoch? */
static bool elides(const struct learn_class *c)
{
	for (unsigned int i = 0; i < c->nr_sites; i++)
		if (!policy_arm_locks(learn_arm(c, i)))
			return true;
	return false;
}

/* The class is used for the first time, or threads have come to it much later. */
static void note_start(struct learn_class *c, const struct learn_epoch *e)
{
	if (c->starts_from && !(e->joined && e->now - c->starts_from > LATER))
		return;
	c->known = c->known && !c->starts_from;
	if (c->known)
		c->next_at = e->now + c->due;
	c->starts_from = e->now - e->whole;
}

struct learn_decision learn_epoch(struct learn_class *c, const struct learn_epoch *e)
{
	struct learn_decision none = {0};
	double rate = e->length ? e->sections / e->length : 0;

	c->nr_sockets = e->nr_sockets;
	c->crowded = e->crowded;
	if (e->sections > 0 && elides(c))
		c->aborts += (e->aborts / e->sections - c->aborts) / 4;
	else if (e->sections > 0)
		c->waits += (e->waits / e->sections - c->waits) / 4;
	note_start(c, e);
	if (c->phase != LEARN_HOLD)
		return step(c, e, rate);
	if (e->joined)
		begin(c, e->now);
	if (departs(c, e, rate)) {
		learn_anew(c, e->now);
		c->pair_noise = 0;
	}
	/* After a clock that has jumped back, @next_at is not further away than it could be set. */
	if (c->next_at > e->now + furthest(c))
		c->next_at = e->now + furthest(c);
	if (e->now >= c->next_at)
		challenge(c);
	return none;
}

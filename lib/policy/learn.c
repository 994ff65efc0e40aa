/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * learn.c - the adaptive policy's decisions.
 *
 * Must never look at a clock, a lock word or anything but its arguments. Longer than 500 lines, a third
 * of which say where the numbers come from: a decision is read from the epoch to the arm.
 */
#include "../compiler.h"
#include "learn.h"
#include "probe.h"
#include "question.h"

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
 * A lost challenge has cost time. The next one comes after COST_SHARE times that time, so that
 * challenges cost about 1/200 of all time; in the first rotation after COST_FIRST times that time,
 * twice as much if the challenger was below FIRST_LOSES; but not later than PERIOD_DEAR.
 */
#define COST_SHARE 200
#define COST_FIRST 10

/*
 * Logarithm of the ratio of rates; -1 is a factor of 0.37. After a challenger that is worse, if no
 * candidate is left, COST_SHARE holds in the first rotation, too.
 */
#define FAR_BEHIND (-1.0)

/*
 * An epoch lasts at least EPOCH_MIN ns, between challenges EPOCH_HOLD ns, and has at least
 * EPOCH_SECTIONS sections. When it is EPOCH_SLOW times as long as that, or EPOCH_LONG ns, EPOCH_FEW
 * sections are enough; at 8 * EPOCH_LONG it ends in any case. Where eliding
 * is compared with locking, and that is still unclear after STRETCH_PAIRS pairs, and after each
 * further STRETCH_PAIRS, both bounds double, up to STRETCH_MAX times: where threads sleep and wake
 * the rate of a short epoch is mostly chance, and what one arm leaves behind lasts for a part of the
 * next epoch.
 */
#define EPOCH_MIN      (20 * LEARN_US)
#define EPOCH_HOLD     (100 * LEARN_US)
#define STRETCH_MAX    8
#define STRETCH_PAIRS  5

/*
 * Where there are more threads than processors, challenges begin with epochs longer by this factor: a
 * thread that was woken waits for a processor, so what an arm does to the others lasts longer.
 */
#define STRETCH_CROWDED 4
#define EPOCH_LONG     (2000 * LEARN_US)
#define EPOCH_SECTIONS 32
#define EPOCH_FEW      8
#define EPOCH_SLOW     6

/*
 * Pairs of epochs, one of the incumbent and one of the challenger, after which a challenge ends. If
 * the question is whether to elide at all, and eliding looks better, it costs nothing to go on, to
 * PAIRS_LONG pairs.
 */
#define PAIRS_MAX  10
#define PAIRS_LONG 25

/*
 * From the third pair on: the challenger wins if the mean logarithm of the ratio of rates is SIGMAS
 * standard errors above MARGIN (0.5 %), and loses if it is SIGMAS standard errors below it.
 */
#define MARGIN 0.005
#define SIGMAS 2.0

/*
 * A challenger loses by the first pair if its logarithm is FIRST_ERRORS standard errors below 0, and,
 * while the noise is the mean of fewer than NOISE_KNOWN epochs, below FIRST_LOSES, a factor of 0.74.
 * Two pairs decide if their mean is further from 0 than TWO_DECIDE (10 %) and SIGMAS standard errors.
 */
#define FIRST_ERRORS 3
#define FIRST_LOSES  (-0.3)
#define NOISE_KNOWN  8
#define TWO_DECIDE   0.1

/*
 * Few pairs may agree by chance, so NOISE_PAIRS pairs with a usual noise are added to the variance
 * of those measured. The usual noise of a pair, as a logarithm, is that of the pairs of the last
 * challenges, or NOISE_TIMES that of an epoch between challenges if that is more; at least NOISE_MIN
 * and at most NOISE_MAX. While fewer than NOISE_KNOWN epochs between challenges were measured,
 * NOISE_START stands for theirs. Epochs of a challenge become twice as long, up to STRETCH_MAX times,
 * until the noise of a pair is below NOISE_SHORT: a section that is rare and long, as one that a
 * capacity abort sends to the lock, is in one short epoch and not in the next.
 */
#define NOISE_SHORT 0.15
#define NOISE_START 0.05
#define NOISE_MIN   0.01
#define NOISE_MAX   0.5
#define NOISE_TIMES 2
#define NOISE_PAIRS 2

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
 * A challenge with the arm "restrict". What that changes is who sleeps: parked threads look at the
 * arm once in CROWD_POLL_MAX (0.5 ms), and those that sleep in the lock leave it one with each section.
 * CROWD_SETTLES ns are left for that before CROWD_EPOCH ns are measured, up to STRETCH_MAX times as
 * many while the comparison is unclear: 8 ms are two time slices of the kernel's scheduler. Its gain
 * has to be CROWD_MARGIN, as threads may wait longer for it; CROWD_PAIRS pairs are enough to see that.
 */
#define CROWD_SETTLES (500 * LEARN_US)
#define CROWD_EPOCH   (1000 * LEARN_US)
#define CROWD_MARGIN  0.03
#define CROWD_PAIRS   6

/*
 * The shortest such epoch is 50 times as long as the shortest of others. It weighs as much as CROWD_WEIGHT
 * of these, not as 50, as what follows each other at once is not independent.
 */
#define CROWD_WEIGHT 16

/*
 * A class warms up while more than one section in 16 meets a lock or a call that is new to its
 * thread. That takes as long as several sections, longer inside an elided one, and becomes rarer
 * from epoch to epoch, so whichever arm came later would look better. It ends after WARM_MAX in any
 * case, as some programs make new locks for ever, and begins again where threads come anew, but in
 * a sixteenth of the time at most.
 */
#define WARM_SHARE (1.0 / 16)
#define WARM_MAX   (4000 * LEARN_US)
#define WARM_AGAIN (16 * WARM_MAX)

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

/*
 * Natural logarithm of a / b, cut off at -2 and 2: the first three terms of the series of artanh.
 * The error is below 0.001 where the logarithm is below 0.9, and decisions depend on small ones.
 */
static double log_ratio(double a, double b)
{
	double x, log;

	if (a <= 0 || b <= 0)
		return a > b ? 2 : a < b ? -2 : 0;
	x = (a - b) / (a + b);
	log = 2 * x * (1 + x * x / 3 + x * x * x * x / 5);
	return log > 2 ? 2 : log < -2 ? -2 : log;
}

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
	if (!c->known || !c->warms_from)
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

/* Does the challenge compare eliding with locking, for the whole class? */
static bool is_principal(const struct learn_class *c)
{
	return c->target == LEARN_ALL &&
	       policy_arm_locks(c->arm) != policy_arm_locks(c->challenger);
}

/* Does a challenge with the arm "restrict" go on? */
static bool is_about_crowds(const struct learn_class *c)
{
	return c->phase != LEARN_HOLD &&
	       (c->arm == POLICY_ARM_restrict || c->challenger == POLICY_ARM_restrict);
}

uint64_t learn_settles(const struct learn_class *c)
{
	return is_about_crowds(c) ? CROWD_SETTLES : 0;
}

static unsigned int pairs_max(const struct learn_class *c)
{
	return is_about_crowds(c) ? CROWD_PAIRS : PAIRS_MAX;
}

/* Mean logarithm of the ratio from which on the challenger wins, and below which it loses. */
static double margin(const struct learn_class *c)
{
	if (c->challenger == POLICY_ARM_restrict)
		return CROWD_MARGIN;
	return c->arm == POLICY_ARM_restrict ? -CROWD_MARGIN : MARGIN;
}

/* Square root by Newton's method: the library needs no other mathematics. */
static double root(double x)
{
	double y = x > 1 ? x : 1;

	for (int i = 0; i < 40 && x > 0; i++)
		y = (y + x / y) / 2;
	return x > 0 ? y : 0;
}

/* Noise of a pair of epochs of the least length, as a logarithm, before one is measured. */
static double usual_noise(const struct learn_class *c)
{
	double usual = c->nr_rates < NOISE_KNOWN ? NOISE_START : NOISE_TIMES * c->noise;

	if (usual < c->pair_noise)
		usual = c->pair_noise;
	return usual < NOISE_MIN ? NOISE_MIN : usual > NOISE_MAX ? NOISE_MAX : usual;
}

/* What an epoch of the challenge weighs that is not stretched. */
static unsigned int weight_of(const struct learn_class *c)
{
	return is_about_crowds(c) ? CROWD_WEIGHT : 1;
}

/* The least length of the present epoch, ns. */
static uint64_t shortest(const struct learn_class *c)
{
	/* Each socket has had its part of the time once. */
	if (c->arm == POLICY_ARM_turns ||
	    (c->phase != LEARN_HOLD && c->challenger == POLICY_ARM_turns))
		return LEARN_SOCKETS_PERIOD;
	if (is_about_crowds(c))
		return c->stretch * CROWD_EPOCH;
	if (c->phase == LEARN_HOLD)
		return c->nr_rates ? EPOCH_HOLD : EPOCH_MIN;
	if (c->phase == LEARN_CHALLENGER && c->length)
		return c->length;
	return c->stretch * EPOCH_MIN;
}

/* When a part of the challenger's epoch is over that would be all of it, were it not stretched. */
static bool is_cut_from(const struct learn_class *c, uint64_t length)
{
	return c->phase == LEARN_CHALLENGER && c->half && c->challenger != POLICY_ARM_turns &&
	       length >= shortest(c) / c->stretch && c->first * length >= EPOCH_SECTIONS;
}

bool learn_may_end(const struct learn_class *c, uint64_t length)
{
	return length >= shortest(c) || (length >= EPOCH_LONG && !is_about_crowds(c)) ||
	       is_cut_from(c, length);
}

/* So far behind in a part of its epoch that this pair alone will decide. */
static bool is_lost(const struct learn_class *c, uint64_t length, double sections)
{
	double log = log_ratio(sections / length, c->first);
	double weight = (double)(weight_of(c) * c->stretch) * length / shortest(c);

	return log < FIRST_LOSES && log < -FIRST_ERRORS * usual_noise(c) / root(weight);
}

bool learn_over(const struct learn_class *c, uint64_t length, double sections)
{
	if (!learn_may_end(c, length))
		return false;
	if (length < shortest(c) && is_cut_from(c, length))
		return is_lost(c, length, sections);
	if (length >= EPOCH_LONG)
		return sections >= EPOCH_FEW || length >= 8 * EPOCH_LONG;
	/* A challenger that is much worse must not last: few sections in twice the time show it. */
	if (c->phase == LEARN_CHALLENGER)
		return sections >= EPOCH_FEW || length >= 2 * shortest(c);
	/* Where sections are long, EPOCH_FEW of them are enough. */
	return sections >= (c->phase == LEARN_HOLD ? 1 : c->stretch) * EPOCH_SECTIONS ||
	       (sections >= EPOCH_FEW && length >= EPOCH_SLOW * shortest(c));
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
	c->length = 0;
	for (c->stretch = c->crowded ? STRETCH_CROWDED : 1; c->stretch < STRETCH_MAX; c->stretch *= 2)
		if (usual_noise(c) <= NOISE_SHORT * root(weight_of(c) * c->stretch))
			break;
	c->weights = c->sum = c->squares = c->cost = c->reached = 0;
}

/*
 * Probability, in 1/1000, that a normally distributed number with mean @z and standard deviation 1
 * is above 0. The table has the distribution function at 0, 0.5, 1, ... 3.
 */
static uint32_t confidence_of(double z)
{
	static const uint16_t table[] = {500, 691, 841, 933, 977, 994, 999};
	unsigned int i;

	if (z >= 3)
		return 999;
	i = z * 2;
	return table[i] + (uint32_t)((z * 2 - i) * (table[i + 1] - table[i]));
}

/*
 * Standard error of the mean logarithm of the challenge's pairs. The variance of a pair is that of one of
 * the least length, divided by its weight.
 */
static double mean_error(const struct learn_class *c)
{
	double usual = usual_noise(c), variance;

	variance = c->squares - c->sum * c->sum / c->weights;
	variance = ((variance > 0 ? variance : 0) + NOISE_PAIRS * usual * usual) /
		   (NOISE_PAIRS + c->pairs - 1);
	return root(variance / c->weights);
}

enum outcome { UNCLEAR, WINS, LOSES };

/* One or two pairs: the difference must be large. */
static enum outcome judge_few(const struct learn_class *c, double mean, double error)
{
	if (c->pairs == 1) {
		/* It never wins: what the sections do may have changed between the two epochs. */
		if (mean >= -FIRST_ERRORS * error)
			return UNCLEAR;
		return c->nr_rates >= NOISE_KNOWN || mean < FIRST_LOSES ? LOSES : UNCLEAR;
	}
	if (mean - SIGMAS * error > TWO_DECIDE)
		return WINS;
	return mean + SIGMAS * error < -TWO_DECIDE ? LOSES : UNCLEAR;
}

static enum outcome judge(const struct learn_class *c, double mean, double error)
{
	if (c->pairs <= 2)
		return judge_few(c, mean, error);
	if (mean - SIGMAS * error > margin(c))
		return WINS;
	if (mean + SIGMAS * error < margin(c))
		return LOSES;
	if (c->pairs < pairs_max(c))
		return UNCLEAR;
	/* After the last unclear pair locking wins by a better mean, another by one standard error. */
	if (is_about_crowds(c))
		return mean > margin(c) ? WINS : LOSES;
	if (mean <= 0)
		return LOSES;
	if (c->challenger == POLICY_ARM_real)
		return WINS;
	if (mean > MARGIN && is_principal(c) && c->pairs < PAIRS_LONG)
		return UNCLEAR;
	return mean - error > MARGIN ? WINS : LOSES;
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
	return policy_arm_locks(c->arm) && !c->only_locks ? longest(c) : PERIOD_DEAR;
}

static void take_over(struct learn_class *c, double mean, double error, uint64_t now)
{
	bool principal = is_principal(c);

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
	c->next_at = now + c->period;
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
	if (!is_principal(c) || c->arm != POLICY_ARM_real)
		return;
	if (c->challenger != c->likely && mean <= c->likely_mean)
		return;
	c->likely = c->challenger;
	c->likely_mean = mean;
}

/* A challenge is lost: when is the next one? Candidates that are left in a rotation come sooner. */
static void lost(struct learn_class *c, double mean, uint64_t now)
{
	double pays = COST_FIRST * c->cost;
	uint64_t wait = 0;

	rank(c, mean);
	if (mean < FIRST_LOSES) {
		pays *= 2;
		if (c->target == LEARN_ALL)
			c->far_behind |= 1u << c->challenger;
	}
	if (c->asked >= learn_rotation(c) || is_hardly_worth_asking(c, mean)) {
		pays = COST_SHARE * c->cost;
		wait = c->period;
		if (c->period < longest(c))
			c->period *= 2;
	}
	if (wait < pays)
		wait = pays < PERIOD_DEAR ? pays : PERIOD_DEAR;
	if (wait > furthest(c))
		wait = furthest(c);
	c->next_at = now + wait;
}

/*
 * Locking is the incumbent, and its epochs in the challenge are slower than those between
 * challenges, because the threads that the challenger has let run at the same time stand in a
 * convoy then. A challenger that does not reach the rate between challenges is no gain.
 */
static bool is_disturbed(const struct learn_class *c)
{
	return is_principal(c) && policy_arm_locks(c->arm) && c->nr_rates >= NOISE_KNOWN &&
	       c->reached < c->weights * c->rate * (1 + MARGIN);
}

/* The noise of the pairs of a challenge that is over. */
static void keep_noise(struct learn_class *c)
{
	double variance = c->squares - c->sum * c->sum / c->weights, noise;

	if (c->pairs < 2)
		return;
	noise = variance > 0 ? root(variance / (c->pairs - 1)) : 0;
	c->pair_noise += c->pair_noise > 0 ? (noise - c->pair_noise) / 4 : noise;
}

/* The pair that is over leaves the challenge unclear: the next ones may be longer. */
static void stretch(struct learn_class *c)
{
	unsigned int pairs = is_about_crowds(c) ? CROWD_PAIRS / 2 : STRETCH_PAIRS;

	if (!(is_principal(c) || is_about_crowds(c)) || c->pairs % pairs ||
	    c->stretch >= STRETCH_MAX)
		return;
	c->stretch *= 2;
	c->length = 0;
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
	double log = log_ratio(challenger, incumbent), weight = weight_of(c) * c->stretch, mean, error;
	enum outcome outcome;

	/* An epoch that was cut. */
	if (c->phase == LEARN_CHALLENGER && e->length < shortest(c))
		weight *= (double)e->length / shortest(c);
	c->pairs++;
	c->weights += weight;
	c->reached += weight * challenger;
	c->sum += weight * log;
	c->squares += weight * log * log;
	c->cost -= log * e->whole;
	mean = c->sum / c->weights;
	error = mean_error(c);
	outcome = judge(c, mean, error);
	if (outcome == WINS && is_disturbed(c))
		outcome = LOSES;
	if (outcome == UNCLEAR) {
		stretch(c);
		return d;
	}
	d = (struct learn_decision){
		.made = true,
		.won = outcome == WINS,
		.target = c->target,
		.arm = c->challenger,
		.before = c->target == LEARN_ALL ? c->arm : c->sites[c->target].arm,
		.pairs = c->pairs,
		.ratio = mean * 1000,
		.confidence = confidence_of((mean < 0 ? -mean : mean) / error),
	};
	keep_noise(c);
	if (outcome == WINS)
		take_over(c, mean, error, e->now);
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
	double off = log_ratio(rate, c->rate), log;

	if (!c->rested) {
		c->rested = true;
		c->recent = c->rate;
		return false;
	}
	if (c->nr_rates) {
		c->recent += (rate - c->recent) / 4;
		log = log_ratio(c->recent, c->rate);
		off = off < 0 ? -off : off;
		/* A rate that is far off may be a change, which must not raise the noise. */
		if (c->nr_rates >= NOISE_KNOWN && off > 2 * c->noise + NOISE_MIN)
			off = 2 * c->noise + NOISE_MIN;
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

static bool warms_up(struct learn_class *c, const struct learn_epoch *e)
{
	if (!c->warms_from || (e->joined && e->now - c->warms_from > WARM_AGAIN)) {
		c->known = c->known && !c->warms_from;
		if (c->known)
			c->next_at = e->now + c->due;
		c->warms_from = e->now - e->whole;
	}
	return e->met > WARM_SHARE * e->sections && e->now - c->warms_from < WARM_MAX;
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
	if (warms_up(c, e)) {
		begin(c, e->now);
		hold(c);
		return none;
	}
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * learn.c - the adaptive policy's decisions.
 *
 * question.c chooses the challenges, length.c how long their trials are, judge.c says who is better, and
 * probe.c has what becomes of sites that cannot be elided. Must never look at a clock, a lock word or
 * anything but its arguments.
 */
#include "../compiler.h"
#include "judge.h"
#include "learn.h"
#include "probe.h"
#include "question.h"
#include "length.h"

/* The incumbent that an earlier process had, as far as the class may have it here. */
static void begin_as(struct learn_class *c, enum policy_arm_name arm)
{
	c->few = arm == POLICY_ARM_restrict && c->crowds;
	c->arm = policy_arm_locks(arm) || c->only_locks ? POLICY_ARM_real : arm;
}

void learn_start(struct learn_class *c, bool only_locks, bool crowds)
{
	*c = (struct learn_class){
		.only_locks = only_locks,
		.crowds = crowds,
		.elide.period = PERIOD_MIN,
		.crowd.period = PERIOD_DEAR,
	};
	begin_as(c, POLICY_ARM_keen);
}

void learn_begin_with(struct learn_class *c, const struct learn_known *known)
{
	c->known = true;
	begin_as(c, known->arm);
	c->asked = known->asked == LEARN_ASKED_ALL ? LEARN_ROUND : known->asked;
	c->confidence = known->confidence < 1000 ? known->confidence : 0;
	/* More than one for each section make no difference. */
	c->aborts = known->aborts < 1000 ? PER_MILLE(known->aborts) : 1;
	c->waits = known->waits < 1000 ? PER_MILLE(known->waits) : 1;
	if (known->period > PERIOD_MIN)
		c->elide.period = known->period < PERIOD_REAL ? known->period : PERIOD_REAL;
	c->due = known->due < PERIOD_REAL ? known->due : PERIOD_REAL;
}

void learn_keep(const struct learn_class *c, struct learn_known *known)
{
	const struct learn_timer *timer = c->only_locks ? &c->crowd : &c->elide;
	/* A challenge that is not over is made again. */
	uint32_t asked = c->phase == LEARN_HOLD || !c->asked ? c->asked : c->asked - 1;

	*known = (struct learn_known){
		.arm = c->few && policy_arm_locks(c->arm) ? POLICY_ARM_restrict : c->arm,
		.asked = asked >= LEARN_ROUND ? LEARN_ASKED_ALL : asked,
		.confidence = c->confidence,
		.period = PERIOD_MIN,
		.aborts = c->aborts < 1 ? c->aborts * 1000 : 1000,
		.waits = c->waits < 1 ? c->waits * 1000 : 1000,
	};
	if (c->confidence >= KNOWN_SURE)
		known->period = timer->period < PROBE_MAX ? PROBE_MAX :
				timer->period < PERIOD_REAL ? timer->period : PERIOD_REAL;
	known->due = known->asked == LEARN_ASKED_ALL ? known->period : 0;
}

uint64_t learn_waited(const struct learn_class *c, uint64_t now)
{
	if (!c->known || !c->starts_from)
		return 0;
	if (c->phase != LEARN_HOLD || c->elide.at <= now)
		return c->due;
	return c->elide.at - now < c->due ? c->due - (c->elide.at - now) : 0;
}

unsigned int learn_site(struct learn_class *c)
{
	return c->nr_sites < LEARN_SITES ? c->nr_sites++ : LEARN_SITES - 1;
}

static enum policy_arm_name arm_of(const struct learn_class *c, unsigned int site,
				   enum policy_arm_name arm, bool few)
{
	if (!policy_arm_locks(arm) && !c->sites[site].unelidable)
		return arm;
	return few ? POLICY_ARM_restrict : POLICY_ARM_real;
}

enum policy_arm_name learn_arm(const struct learn_class *c, unsigned int site)
{
	if (c->phase != LEARN_CHALLENGER)
		return arm_of(c, site, c->arm, c->few);
	return c->question == LEARN_CROWD ? arm_of(c, site, c->arm, !c->few) :
					    arm_of(c, site, c->challenger, c->few);
}

enum policy_arm_name learn_settled(const struct learn_class *c, unsigned int site)
{
	return arm_of(c, site, c->arm, c->few);
}

bool learn_elides(const struct learn_class *c)
{
	for (unsigned int i = 0; i < c->nr_sites; i++)
		if (!policy_arm_locks(learn_arm(c, i)))
			return true;
	return false;
}

static void hold(struct learn_class *c)
{
	c->phase = LEARN_HOLD;
	c->departed = 0;
	c->rested = false;
}

/* The rate is another one from now on. */
static void measure_anew(struct learn_class *c)
{
	c->nr_rates = 0;
	c->noise = 0;
}

static void rotate_anew(struct learn_class *c, uint64_t now)
{
	c->known = false;
	c->asked = 0;
	c->elide = (struct learn_timer){.at = now, .period = PERIOD_MIN};
	measure_anew(c);
}

void learn_anew(struct learn_class *c, uint64_t now)
{
	for (unsigned int i = 0; i < c->nr_sites; i++)
		if (c->sites[i].unelidable) {
			c->sites[i].wait = PERIOD_MIN;
			c->sites[i].probe_at = now;
		}
	rotate_anew(c, now);
	c->crowd = (struct learn_timer){.at = now, .period = PERIOD_DEAR};
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
	c->elide.at = c->crowd.at = now + c->due;
	measure_anew(c);
}

void learn_inherit(struct learn_class *c, const struct learn_class *from)
{
	learn_start(c, from->only_locks, from->crowds);
	c->arm = from->arm;
	c->few = from->few;
	c->nr_sites = from->nr_sites;
	for (unsigned int i = 0; i < from->nr_sites; i++)
		c->sites[i] = from->sites[i];
}

static void challenge(struct learn_class *c)
{
	c->phase = LEARN_INCUMBENT;
	c->half = false;
	c->pairs = 0;
	c->length = 0;
	c->sum = c->squares = c->cost = 0;
}

static struct learn_timer *timer_of(struct learn_class *c)
{
	return c->question == LEARN_CROWD ? &c->crowd : &c->elide;
}

/* Bound of the time between challenges of a question, ns, without regard to what they cost. */
static uint64_t longest(const struct learn_class *c, enum learn_question question)
{
	if (question == LEARN_CROWD)
		return CROWD_PERIOD_MAX;
	return policy_arm_locks(c->arm) && c->waits >= PER_MILLE(MATTERS) ? PERIOD_REAL : PERIOD_MAX;
}

/* Bound of the time to the next challenge, ns, in any case. */
static uint64_t furthest(const struct learn_class *c, enum learn_question question)
{
	return question == LEARN_CROWD || policy_arm_locks(c->arm) ? longest(c, question) : PERIOD_DEAR;
}

static void take_over(struct learn_class *c, double mean, double error, uint64_t now)
{
	struct learn_timer *timer = timer_of(c);

	if (c->question == LEARN_CROWD) {
		c->few = !c->few;
		measure_anew(c);
	} else {
		c->arm = c->challenger;
		if (mean - error > PER_MILLE(CHANGES))
			rotate_anew(c, now);
		/* Candidate 0 is the arm that has just lost: go on with the next one. */
		if (c->question == LEARN_WHETHER) {
			c->known = false;
			c->asked = 1;
			measure_anew(c);
		}
	}
	timer->at = now + timer->period;
}

/* A challenge is lost. Candidates that are left in a round follow at once. */
static void lost(struct learn_class *c, uint64_t now)
{
	struct learn_timer *timer = timer_of(c);
	uint64_t wait = timer->period, most = furthest(c, c->question);
	bool first = c->question != LEARN_CROWD && timer->period == PERIOD_MIN;

	if (c->question != LEARN_CROWD && !learn_asked_all(c)) {
		timer->at = now;
		return;
	}
	if (timer->period < longest(c, c->question))
		timer->period *= 2;
	/*
	 * The answers of the first round may be wrong by chance, as its trials take TRIAL_MIN. So what that round
	 * has cost does not delay the next challenge, which comes after PERIOD_MIN.
	 */
	if (!first && wait < COST_SHARE * c->cost)
		wait = COST_SHARE * c->cost < most ? COST_SHARE * c->cost : most;
	timer->at = now + (wait < most ? wait : most);
}

/* A pair of trials is over. */
static struct learn_decision compare(struct learn_class *c, double challenger, double incumbent,
				     const struct learn_trial *e)
{
	struct learn_decision d = {0};
	double log = learn_log_ratio(challenger, incumbent), mean, error;
	enum learn_verdict outcome;

	c->pairs++;
	c->sum += log;
	c->squares += log * log;
	c->cost -= log * e->whole;
	mean = c->sum / c->pairs;
	error = learn_error(c);
	outcome = learn_judge(c, mean, error);
	if (outcome == LEARN_UNCLEAR)
		return d;
	d = (struct learn_decision){
		.made = true,
		.won = outcome == LEARN_WINS,
		.target = LEARN_ALL,
		.arm = c->challenger,
		.before = c->question == LEARN_CROWD && c->few ? POLICY_ARM_restrict : c->arm,
		.pairs = c->pairs,
		.ratio = mean * 1000,
		.confidence = learn_confidence((mean < 0 ? -mean : mean) / error),
	};
	if (outcome == LEARN_WINS)
		take_over(c, mean, error, e->now);
	else
		lost(c, e->now);
	hold(c);
	/* For later processes: how sure is it on which side of eliding and locking the class is? */
	c->decided = true;
	if (c->question == LEARN_WHETHER)
		c->confidence = d.confidence;
	return d;
}

/*
 * A trial of a challenge is over. The next pair begins with the arm that this one ends with, so
 * the order of the two is reversed from pair to pair, and threads change arms half as often.
 */
static struct learn_decision step(struct learn_class *c, const struct learn_trial *e, double rate)
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

/* A trial between challenges is over: has the incumbent's rate changed for good? */
static bool departs(struct learn_class *c, const struct learn_trial *e, double rate)
{
	double off = learn_log_ratio(rate, c->rate), log, least = PER_MILLE(DEPARTS_NOISES) * c->noise;

	if (least < PER_MILLE(DEPARTS))
		least = PER_MILLE(DEPARTS);
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
		if (c->nr_rates >= NOISE_KNOWN && off > 2 * c->noise + PER_MILLE(NOISE_MIN))
			off = 2 * c->noise + PER_MILLE(NOISE_MIN);
		if (c->nr_rates >= DEPARTS_TIMES && (log > least || log < -least))
			return ++c->departed >= DEPARTS_TIMES;
	}
	c->departed = 0;
	/* Means over about the last 16 trials. */
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

/* The class is used for the first time, or threads have come to it much later. */
static void note_start(struct learn_class *c, const struct learn_trial *e)
{
	if (c->starts_from && !(e->joined && e->now - c->starts_from > KNOWN_LATER))
		return;
	c->known = c->known && !c->starts_from;
	if (c->known)
		c->elide.at = c->crowd.at = e->now + c->due;
	c->starts_from = e->now - e->whole;
}

/* Is the question due? After a clock that has jumped back it is no later than it could be set. */
static bool is_due(const struct learn_class *c, struct learn_timer *timer, enum learn_question question,
		   uint64_t now)
{
	uint64_t most = furthest(c, question);

	if (timer->at > now + most)
		timer->at = now + most;
	return now >= timer->at;
}

struct learn_decision learn_trial(struct learn_class *c, const struct learn_trial *e)
{
	struct learn_decision none = {0};
	double rate = e->length ? e->sections / e->length : 0;

	c->oversubscribed = e->oversubscribed;
	if (e->sections > 0 && learn_elides(c))
		c->aborts += (e->aborts / e->sections - c->aborts) / 4;
	else if (e->sections > 0)
		c->waits += (e->waits / e->sections - c->waits) / 4;
	note_start(c, e);
	if (c->phase != LEARN_HOLD)
		return step(c, e, rate);
	if (e->joined)
		begin(c, e->now);
	if (departs(c, e, rate))
		learn_anew(c, e->now);
	if ((!e->others && is_due(c, &c->elide, LEARN_WHETHER, e->now) && learn_ask(c)) ||
	    (is_due(c, &c->crowd, LEARN_CROWD, e->now) && learn_ask_crowd(c, e->now)))
		challenge(c);
	return none;
}

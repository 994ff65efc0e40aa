/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * learn-world.h - synthetic streams for the adaptive policy's decisions.
 *
 * A world is a class of locks whose sections take a known time with each arm, with noise;
 * learn.c gets its trials. Must never read a clock: every run is the same.
 */
#ifndef TESTS_UNIT_LEARN_WORLD_H
#define TESTS_UNIT_LEARN_WORLD_H

#include "unit.h"
#include "../../lib/compiler.h"
#include "../../lib/policy/learn.h"
#include "../../lib/policy/probe.h"

#define REAL  POLICY_ARM_real
#define KEEN  POLICY_ARM_keen
#define PATIENT POLICY_ARM_patient
#define RESTRICT POLICY_ARM_restrict

#define SEEDS 20
#define MS    (1000 * LEARN_US)

/**
 * struct world - a class of locks, and what has been completed in it.
 * @rates: sections per microsecond of a thread, by site and arm
 * @noise: standard deviation of a trial's rate, relative
 * @aborts: aborts for each section where anything is elided
 * @waits: waits for each section where nothing is elided
 * @nr_sites: sites, each with the same part of the sections
 * @oversubscribed: there are more threads than processors
 * @done: sections completed
 * @best: sections that the best arm would have completed
 */
struct world {
	double rates[LEARN_SITES][POLICY_NR_ARMS];
	double noise;
	double aborts;
	double waits;
	unsigned int nr_sites;
	bool oversubscribed;
	uint64_t seed;
	uint64_t now;
	double done;
	double best;
	struct learn_class class;
};

static inline double draw(struct world *w)
{
	w->seed = w->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(w->seed >> 40) / (1 << 24);
}

/* About normal, with deviation 1. */
static inline double draw_normal(struct world *w)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += draw(w);
	return sum;
}

static inline void begin(struct world *w, uint64_t seed, unsigned int nr_sites, double noise)
{
	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->noise = noise;
	w->aborts = 0.1;
	w->waits = 0.5;
	w->nr_sites = nr_sites;
	w->now = 5000 * MS;
	learn_start(&w->class, false, false);
	for (unsigned int i = 0; i < nr_sites; i++)
		assert_int_equal(learn_site(&w->class), i);
}

/* Threads cannot be restricted, unless a test says so. */
static inline void set(struct world *w, unsigned int site, double real, double keen, double patient)
{
	for (unsigned int arm = 0; arm < POLICY_NR_ARMS; arm++)
		w->rates[site][arm] = keen;
	w->rates[site][REAL] = real;
	w->rates[site][RESTRICT] = real;
	w->rates[site][PATIENT] = patient;
}

/* Rates of sites add up as times do: each has as many sections. */
static inline double rate_of(const struct world *w, const struct learn_class *c)
{
	double time = 0;

	for (unsigned int i = 0; i < w->nr_sites; i++)
		time += 1 / w->rates[i][learn_arm(c, i)];
	return w->nr_sites / time;
}

static inline double rate_now(const struct world *w)
{
	return rate_of(w, &w->class);
}

/* Of the arms that a class can have. */
static inline double rate_best(const struct world *w)
{
	struct learn_class c = w->class;
	double best = 0, rate;

	c.phase = LEARN_HOLD;
	for (c.arm = 0; c.arm < POLICY_ARM_probe; c.arm++)
		for (unsigned int few = 0; few < 2; few++) {
			c.few = few && c.crowds;
			rate = rate_of(w, &c);
			best = rate > best ? rate : best;
		}
	return best;
}

/* One trial of four threads. */
static inline struct learn_decision trial(struct world *w)
{
	struct learn_trial e = {0};
	double rate = rate_now(w), seen = rate * (1 + w->noise * draw_normal(w));

	while (!learn_over(&w->class, e.length, 4 * rate * e.length / LEARN_US))
		e.length += 5 * LEARN_US;
	w->now += e.length;
	w->done += rate * e.length;
	w->best += rate_best(w) * e.length;
	e.sections = 4 * seen * e.length / LEARN_US;
	e.aborts = w->aborts * e.sections;
	e.waits = w->waits * e.sections;
	e.whole = e.length;
	e.now = w->now;
	e.oversubscribed = w->oversubscribed;
	return learn_trial(&w->class, &e);
}

static inline void run_for(struct world *w, uint64_t time)
{
	uint64_t end = w->now + time;

	while (w->now < end)
		trial(w);
}

/* Time until the incumbents are as good as the best, within @share. */
static inline uint64_t time_to_best(struct world *w, double share)
{
	uint64_t start = w->now;

	while (w->now - start < 1000 * MS) {
		if (w->class.phase == LEARN_HOLD && rate_now(w) >= share * rate_best(w))
			break;
		trial(w);
	}
	return w->now - start;
}

#define check(w, seed, condition)                                             \
	do {                                                                  \
		if (!(condition))                                             \
			fail_msg("seed %lu, %s; arm %d, %.3f of the best",    \
				 (unsigned long)(seed), #condition,           \
				 (w)->class.arm, (w)->done / (w)->best); \
	} while (0)

#endif

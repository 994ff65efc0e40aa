/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attribute.h - what a row cost, and whether eliding it pays.
 *
 * Must never judge without a measurement: then the verdict is unknown.
 */
#ifndef ELIDE_ATTRIBUTE_H
#define ELIDE_ATTRIBUTE_H

#include <stdbool.h>

#include "sums.h"

/**
 * struct cause_text - an entry of aborts.def.
 */
struct cause_text {
	const char *id;
	enum cause_column column;
	const char *help;
	const char *advice;
};

extern const struct cause_text cause_texts[ELIDE_NR_CAUSES];

/**
 * line_failed() - trylock and timed calls that did not get the lock; NAN if no call of the run failed.
 *
 * The following functions return NAN if nothing was measured. Times are cycles.
 */
double line_failed(const struct report *r, const struct line *l);

/** line_counts_all() - does the row count every acquisition? Rows of kinds futex and futex-lock count waits alone. */
int line_counts_all(const struct line *l);

/* Is a field of columns.def with that word known of a row? */
#define FIELD_ALWAYS(r, l)  1
#define FIELD_ELIDED(r, l)  ((r)->elides)
#define FIELD_COUNTED(r, l) line_counts_all(l)

/** line_acquired() - acquisitions; NAN if not all are counted. */
double line_acquired(const struct line *l);

/** line_cont() - per cent of the acquisitions that waited; NAN if not all are counted. */
double line_cont(const struct line *l);

/** line_parked() - acquisitions that were parked; NAN if no acquisition of the run was. */
double line_parked(const struct report *r, const struct line *l);

/** line_crowd() - the state of a row if the run could only restrict threads; else unknown. */
const char *line_crowd(const struct line *l);

/** line_avg_wait() - mean time that the contended acquisitions waited. */
double line_avg_wait(const struct line *l);

/** line_waiting() - time waited in per cent of the time of all threads. */
double line_waiting(const struct report *r, const struct line *l);

/** line_quantile() - a quantile of those times: half of them are below that of 0.5. */
double line_quantile(const struct line *l, double q);

/** line_max_wait() - the longest time that one of them waited. */
double line_max_wait(const struct line *l);

/** line_avg_hold() - line_hold() by the locked acquisitions. */
double line_avg_hold(const struct line *l);

/** line_hold_times() - the hold times of a row as other times: the sum is line_hold(), an estimate. */
struct elide_times line_hold_times(const struct line *l);

/** line_hold() - time that the locks were held, by the samples: see struct sum. */
double line_hold(const struct line *l);

/**
 * line_held() - line_hold() in per cent of the run.
 *
 * Several locks of one class, or readers of one lock, may be held at the same time, so it may exceed
 * 100; for a single exclusive lock it is limited to 100.
 */
double line_held(const struct report *r, const struct line *l);

/**
 * bins_add() - add a row's histogram to one of many rows.
 * @to: ELIDE_NR_BINS of elide_bin()
 * @bins: as many
 */
void bins_add(uint64_t *to, const uint64_t *bins);

/**
 * bins_quantile() - a quantile of a histogram of times.
 * @bins: ELIDE_NR_BINS of elide_bin()
 * @min, @max: the shortest and the longest of the same times, which bound the result
 * @q: 0 to 1
 *
 * The times in a bin, whose end is twice its beginning, are assumed to be spread evenly on a
 * logarithmic scale.
 *
 * Return: cycles; NAN if the histogram is empty.
 */
double bins_quantile(const uint64_t *bins, uint64_t min, uint64_t max, double q);

/** line_cost() - cycles that a row's locks cost the program; attribute.c has the formula. */
double line_cost(const struct report *r, const struct line *l);

/** class_conflicts() - note in @use whether other threads abort the transactions of a site and kind. */
void class_conflicts(struct class_use *use, const struct sum *s);

/** class_is_quiet() - are the locks of a class uncontended, so that elision cannot pay? */
int class_is_quiet(const struct report *r, uint32_t class_index);

/** line_is_quiet() - are all locks of a row uncontended? */
int line_is_quiet(const struct report *r, const struct line *l);

/** line_held_percent() - per cent of the run that the class's locks are held, by samples; -1 unknown. */
double line_held_percent(const struct report *r, const struct line *l);

/** line_has_one_thread() - is each lock of the class used by one thread only? */
int line_has_one_thread(const struct report *r, const struct line *l);

/**
 * struct measured - what the adaptive policy has found out by comparing.
 * @gain:       sections per time with elision by those without, less 1; below 0 elision costs
 * @confidence: that the sign is right, 0 to 1
 * @pairs:      measurements of each; 0 if nothing was compared
 */
struct measured {
	double gain;
	double confidence;
	unsigned int pairs;
};

/**
 * event_is_unelidable() - did the adaptive policy give up a call site because every probe aborted?
 *
 * A site that the policy pauses because a comparison found elision slower, or for a time as hpca does, does
 * not count.
 */
int event_is_unelidable(const struct elide_event *e);

/** line_measured_last() - the last comparison of elision with locking, for a row's locks. */
struct measured line_measured_last(const struct report *r, const struct line *l);

/**
 * line_measured() - the comparison on which the verdict on a row is based.
 *
 * A comparison holds until the next one. Of the results pays, hurts and neither the one that held for the
 * longest time of the run decides, and its last comparison is returned. A comparison is of a class, and of
 * acquisitions that are not inside a transaction of another lock. Those inside are elided with that, whatever
 * the policy has decided; where they are more than half of a row, there is no comparison.
 */
struct measured line_measured(const struct report *r, const struct line *l);

/** line_verdict() - does eliding pay here? attribute.c has the rules. */
enum verdict line_verdict(const struct report *r, const struct line *l);

/** verdict_name() - the word for a verdict. */
const char *verdict_name(enum verdict v);

#endif

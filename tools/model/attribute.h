/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attribute.h - what a row cost, and whether eliding it pays.
 *
 * Must never judge without a measurement: then the verdict is unknown.
 */
#ifndef ELIDE_ATTRIBUTE_H
#define ELIDE_ATTRIBUTE_H

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

/** line_cost() - cycles that a row's locks cost the program; attribute.c has the formula. */
double line_cost(const struct line *l);

/** class_conflicts() - do others abort the transactions of a class's site and kind? */
void class_conflicts(struct class_use *use, const struct sum *s);

/** class_is_quiet() - does nothing contend for the locks of a class, so that elision cannot pay? */
int class_is_quiet(const struct report *r, uint32_t class_index);

/** line_is_quiet() - does nothing contend for any of the locks of a row? */
int line_is_quiet(const struct report *r, const struct line *l);

/** line_held_percent() - per cent of the run in which the class's locks were held; -1 unknown. */
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
 * Not because it was slower: then it has compared. And hpca pauses for a time.
 */
int event_is_unelidable(const struct elide_event *e);

/** line_measured() - the last comparison of elision with the lock, of a row's locks. */
struct measured line_measured(const struct report *r, const struct line *l);

/** line_verdict() - does eliding pay here? attribute.c has the rules. */
enum verdict line_verdict(const struct report *r, const struct line *l);

/** verdict_name() - the word for a verdict. */
const char *verdict_name(enum verdict v);

#endif

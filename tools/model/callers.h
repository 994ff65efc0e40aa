/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callers.h - the callers of functions that only wrap a lock call.
 *
 * Must never name a caller that no sample shows.
 */
#ifndef ELIDE_CALLERS_H
#define ELIDE_CALLERS_H

#include "report.h"

/* Callers of a row, at most; the others are left out. */
#define CALLERS_MAX 8

/**
 * struct caller - a call of a wrapper from outside of wrappers.
 * @address: its return address
 * @share:   of the sampled time that the row waited; if it never waited, of its acquisitions
 */
struct caller {
	uint64_t address;
	double share;
};

/**
 * callers_find() - the callers whose waits a row has, or whose acquisitions if none waited, if its call is in
 * a wrapper.
 * @to: CALLERS_MAX, filled with those of the greatest share
 *
 * A wrapper is known by the name of its function, see lib/wrappers.def.
 *
 * Return: their number; 0 if the call is in no wrapper, or nothing was sampled.
 */
size_t callers_find(const struct report *r, const struct line *l, struct caller *to);

/**
 * callers_of_blocker() - the caller from which most sections of a row's blocker come, if its call is in
 * a wrapper: the one of most unlock calls that ended waits.
 *
 * Return: the caller's return address; 0 if the call is in no wrapper, or no caller has most.
 */
uint64_t callers_of_blocker(const struct report *r, const struct line *l);

/**
 * callers_name() - if a row's call is in a wrapper, and one caller has most of what callers_find() says, give
 * the row the short name "caller via wrapper"; and its blocker likewise.
 */
void callers_name(const struct report *r, struct line *l);

#endif

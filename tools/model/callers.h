/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callers.h - who calls a function that only wraps a lock call.
 *
 * Must never give a caller that no sample shows.
 */
#ifndef ELIDE_CALLERS_H
#define ELIDE_CALLERS_H

#include "report.h"

/* Callers of a row, at most; the others are summed up in none. */
#define CALLERS_MAX 8

/**
 * struct caller - a call of a wrapper by code that is none.
 * @address: its return address
 * @share:   of the time that the row waited, as far as that was sampled
 */
struct caller {
	uint64_t address;
	double share;
};

/**
 * callers_find() - the calls that the waits of a row come from, if its call is in a wrapper.
 * @to: CALLERS_MAX, filled with those that waited longest
 *
 * A wrapper is known by the name of its function, see lib/wrappers.def.
 *
 * Return: their number; 0 if the call is in no wrapper, or no wait was sampled.
 */
size_t callers_find(const struct report *r, const struct line *l, struct caller *to);

/**
 * callers_of_blocker() - where most sections of a row's blocker come from, if its call is in a
 * wrapper: the caller of most of the unlock calls that ended waits.
 *
 * Return: the caller's return address; 0 if the call is in no wrapper, or no caller has most.
 */
uint64_t callers_of_blocker(const struct report *r, const struct line *l);

/**
 * callers_name() - give a row, whose call is in a wrapper, the short name of the caller that most
 * of the time waited comes from, if there is one: "caller via wrapper"; and its blocker likewise.
 */
void callers_name(const struct report *r, struct line *l);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advice.h - what prevents the elision of a row, and what to do about it.
 *
 * Must never advise without evidence: then the finding is the text of the cause.
 */
#ifndef ELIDE_ADVICE_H
#define ELIDE_ADVICE_H

#include <stdbool.h>

#include "report.h"

/* Findings of a row, at most. */
#define FINDINGS_MAX 4

/**
 * struct finding - a problem of a row.
 * @cause:   name of a cause in aborts.def; "misuse"; "none" if nothing is wrong, but eliding gains
 *           nothing; "wait" if threads waited in a run that did not elide
 * @count:   aborts with that cause, times that the lock was misused, or acquisitions that waited
 * @advice:  name of an advice in advice.def; name of the cause if that has the text
 * @text:    the advice with its evidence
 * @setting: to paste, empty if there is none
 */
struct finding {
	const char *cause;
	uint64_t count;
	const char *advice;
	char text[1536];
	char setting[320];
};

/**
 * advise() - find what prevents the elision of a row, the most important first.
 * @found: FINDINGS_MAX
 *
 * Return: their number.
 */
size_t advise(const struct report *r, const struct line *l, struct finding *found);

/**
 * advise_quiet() - the finding of a row whose lock is uncontended: why the lock need not be elided.
 * advise() includes it if the run elided.
 *
 * Return: false if something may contend for the lock.
 */
bool advise_quiet(const struct report *r, const struct line *l, struct finding *found);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advice.h - what stops the elision of a row, and what to do about it.
 *
 * Must never advise without evidence: without any, the finding is the text of the cause.
 */
#ifndef ELIDE_ADVICE_H
#define ELIDE_ADVICE_H

#include <stdbool.h>

#include "report.h"

/* Findings of a row, at most. */
#define FINDINGS_MAX 4

/**
 * struct finding - one thing that is wrong with a row.
 * @cause:   name of a cause in aborts.def; "misuse"; "none" if nothing is wrong, but eliding gains
 *           nothing; "wait" if threads waited in a run that did not elide
 * @count:   aborts with that cause, times that the lock was misused, or acquisitions that waited
 * @advice:  name of an advice in advice.def; name of the cause if the text is that of the cause
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
 * advise() - find what stops the elision of a row, the most important first.
 * @found: FINDINGS_MAX
 *
 * Return: their number.
 */
size_t advise(const struct report *r, const struct line *l, struct finding *found);

/**
 * advise_quiet() - the finding of a row whose lock nothing contends for. It says why the lock need
 * not be elided; advise() has it in a run that elided, where that is what can be done.
 *
 * Return: false if something may contend for the lock.
 */
bool advise_quiet(const struct report *r, const struct line *l, struct finding *found);

#endif

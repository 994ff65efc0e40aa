/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * advice-text.h - an advice put into words.
 *
 * Must never decide which advice is given: advice.c does.
 */
#ifndef ELIDE_ADVICE_TEXT_H
#define ELIDE_ADVICE_TEXT_H

#include "advice.h"

enum advice {
#define ELIDE_ADVICE(id, setting, condition, text) ADVICE_##id,
#include "advice.def"
#undef ELIDE_ADVICE
	ADVICE_DEFAULT, /* the text of the cause in aborts.def */
};

/**
 * struct advising - the evidence that an advice is based on.
 * @detail:  the most frequent record of the cause, NULL if there is none
 * @blame:   the call that held the lock most often, NULL if unknown; of @all recorded aborts
 */
struct advising {
	const struct report *r;
	const struct line *line;
	unsigned int cause;
	const struct elide_detail *detail;
	const struct elide_blame *blame;
	uint64_t all;
	const struct misuse_line *misuse;
};

/** advice_write() - fill the advice, text and setting of a finding. */
void advice_write(const struct advising *a, enum advice advice, struct finding *f);

#endif

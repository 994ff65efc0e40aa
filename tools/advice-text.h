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
	ADVICE_DEFAULT, /* the cause's own text */
};

/**
 * struct advising - what an advice is given on.
 * @detail:  the commonest of the cause, NULL if there is none
 * @blame:   who held the lock most often, NULL if that is not known; @all aborts were looked at
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

/** advice_write() - fill advice, text and setting of a finding. */
void advice_write(const struct advising *a, enum advice advice, struct finding *f);

/** advice_in_linker() - is the place one of the dynamic linker's search for symbols? */
int advice_in_linker(const struct place *p);

#endif

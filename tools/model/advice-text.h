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
 * struct section_counter - a word that sections write and that most conflicts are about.
 * @detail:    the most frequent record of these conflicts
 * @written:   bytes of its line that the section had written
 * @count:     the conflicts about the word, of @all of the row
 * @writer_pc: instruction of another thread that wrote the word, 0 if none was seen
 */
struct section_counter {
	const struct elide_detail *detail;
	uint64_t written;
	uint64_t count;
	uint64_t all;
	uint64_t writer_pc;
};

/**
 * struct advising - the evidence that an advice is based on.
 * @detail:  the most frequent record of the cause, NULL if there is none
 * @blame:   the call that held the lock most often, NULL if unknown; of @all recorded aborts
 * @counter: of section_counter
 */
struct advising {
	const struct report *r;
	const struct line *line;
	unsigned int cause;
	const struct elide_detail *detail;
	const struct elide_blame *blame;
	uint64_t all;
	const struct misuse_line *misuse;
	struct section_counter counter;
};

/** advice_write() - fill the advice, text and setting of a finding. */
void advice_write(const struct advising *a, enum advice advice, struct finding *f);

#endif

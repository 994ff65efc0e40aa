/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * answer-print.h - the findings of a report, as text.
 *
 * Must never print a control character of the data file.
 */
#ifndef ELIDE_ANSWER_PRINT_H
#define ELIDE_ANSWER_PRINT_H

#include <stdio.h>

#include "../model/answer/answer.h"

/**
 * answer_where() - where the threads of a finding wait, and until what; or, of a lock, where it is locked.
 * @to: @size bytes
 */
void answer_where(const struct report *r, const struct answer *a, char *to, size_t size);

/** answer_holder() - the section that threads of a finding waited for; empty: not known, or no lock. */
void answer_holder(const struct report *r, const struct answer *a, char *to, size_t size);

/** answer_callers() - the callers of the wrapper in which the threads wait; empty: it is none. */
void answer_callers(const struct report *r, const struct answer *a, char *to, size_t size);

/** answers_print() - print the findings, lines of at most @width columns. */
void answers_print(const struct report *r, const struct answers *a, FILE *out, int width);

/** answer_add() - print at the end of a text of @size bytes, cut to fit. */
void answer_add(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** answer_add_place() - add "function (file:line)", or the known part of it. */
void answer_add_place(char *to, size_t size, const struct place *p);

/** answer_add_call() - add the place of the call that returns to an address. */
void answer_add_call(char *to, size_t size, const struct report *r, uint64_t address);

/**
 * print_wrapped() - print words in lines of at most @width columns; those after the first begin at @indent.
 */
void print_wrapped(FILE *out, const char *text, int width, int indent);

#endif

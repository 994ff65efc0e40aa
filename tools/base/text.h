/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text.h - text that users read: numbers are short, names have no control characters.
 *
 * Must never be used where a number has to be exact.
 */
#ifndef ELIDE_TEXT_H
#define ELIDE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Characters of the longest cell that is printed; fit() shortens a longer name. */
#define CELL_MAX 64

/**
 * scale() - three significant digits and a unit: 999, 12.3k, 4.56M.
 * @to: filled, @size bytes
 * @v: not negative
 * @suffix: follows the unit
 */
void scale(char *to, size_t size, double v, const char *suffix);

/** scale_ns() - three significant digits of a time, and its unit: 999ns, 12.3us, 4.56s. */
void scale_ns(char *to, size_t size, double ns);

/**
 * fit() - shorten a name to a cell: without its "file:line", " in FUNCTION" or " via WRAPPER" if that
 * is enough, else without its middle.
 * @to: @width + 1 bytes
 * @width: CELL_MAX at most
 */
void fit(char *to, const char *text, int width);

/**
 * fit_apart() - fit() names so that different ones stay different: where two are shortened to the
 * same text, the second in alphabetical order ends in #2, and so on, whatever their order is here.
 * @to: of @nr
 */
void fit_apart(char (*to)[CELL_MAX + 1], const char *const *texts, size_t nr, int width);

/**
 * text_char() - the character that a text begins with.
 * @text: not empty, ended by a NUL
 * @hidden: set to whether it must not reach a terminal
 *
 * Hidden are controls (C0, DEL, and C1 as UTF-8 or as a byte), bidirectional marks and
 * other invisible characters (U+061C, U+200B to U+200F, U+2028 to U+202E, U+2060 to U+206F, U+FEFF),
 * and bytes that are not UTF-8.
 *
 * Return: its length in bytes.
 */
size_t text_char(const char *text, bool *hidden);

/** text_clean() - replace each character that text_char() hides by '?', in place. */
void text_clean(char *text);

/** print_clean() - print text of a data file as text_clean() would change it. */
void print_clean(FILE *out, const char *text);

/** date_text() - nanoseconds since 1970 as 2026-11-20T12:00:00Z, UTC; empty if there is no such date. */
void date_text(char *to, size_t size, uint64_t realtime_ns);

/** percent() - 100 * @part / @whole; 0 if @whole is 0. */
double percent(uint64_t part, uint64_t whole);

/** plural() - the ending of a word that counts @nr things: "s", or nothing for one. */
const char *plural(uint64_t nr);

/** starts_with() - does @text, which may be NULL, begin with @start? */
bool starts_with(const char *text, const char *start);

/** base_name() - a path without its directories. */
const char *base_name(const char *path);

/** hex_text() - @nr bytes as hexadecimal digits; @to has room for 2 * @nr + 1 characters. */
void hex_text(char *to, const uint8_t *bytes, size_t nr);

#endif

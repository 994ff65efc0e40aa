/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.h - the values of all JSON that the tools print.
 *
 * Must never decide what is printed.
 */
#ifndef ELIDE_JSON_H
#define ELIDE_JSON_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/**
 * json_text() - a string; bytes that are not UTF-8 become '?', and NULL becomes null.
 */
json_t *json_text(const char *s);

/**
 * json_number() - an unsigned number, at most INT64_MAX, the largest that jansson has.
 */
json_t *json_number(uint64_t v);

/** known_real() - a number; null for NAN. */
json_t *known_real(double v);

/** json_unseen() - a set of enum unseen: a list of what is not seen, and why, and what shows it. */
json_t *json_unseen(uint32_t set);

/**
 * json_print() - print and release a value, its keys in the order in which they were set.
 *
 * Return: 0, or -EIO.
 */
int json_print(json_t *value, FILE *out);

/** json_string_of() - what json_print() would print, without the line feed, to be freed; NULL without memory. */
char *json_string_of(json_t *value);

#endif

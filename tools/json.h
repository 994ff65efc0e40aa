/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.h - what the commands that print JSON share.
 *
 * Must never decide what is printed.
 */
#ifndef ELIDE_JSON_H
#define ELIDE_JSON_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/**
 * json_text() - a string, bytes that are not UTF-8 replaced; null for NULL.
 */
json_t *json_text(const char *s);

/**
 * json_number() - an unsigned number; JSON's integers end at INT64_MAX, more is cut to that.
 */
json_t *json_number(uint64_t v);

struct place;

/**
 * json_place() - a place in the program's code: object, symbol, inlined_into, file, line.
 */
json_t *json_place(const struct place *p);

/**
 * json_print() - print and release a value: keys in the order they were set.
 *
 * Return: 0, or -EIO.
 */
int json_print(json_t *value, FILE *out);

#endif

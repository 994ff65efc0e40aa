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

struct elide_detail;
struct elide_sample;
struct line;
struct place;
struct report;

/** json_stack() - the frames of a stack, by its index + 1, the innermost first. */
json_t *json_stack(const struct report *r, uint32_t stack);

/** json_section() - class, lock, kind and site of a row; null of a kind that is not known. */
json_t *json_section(const struct report *r, uint32_t class_index, unsigned int kind,
		     uint64_t site);

/** json_sample() - set what is known of a sampled stack. */
void json_sample(const struct report *r, const struct elide_sample *s, json_t *o);

/** json_head() - the object of a file, with what does not depend on the view. */
json_t *json_head(const struct report *r);

/** json_data() - the data of a detail; null if it has none. */
json_t *json_data(const struct report *r, const struct elide_detail *d);

/** json_evidence() - set stacks, details, blame and findings of a row. */
void json_evidence(const struct report *r, const struct line *l, json_t *row);

/** json_timeline() - decisions of the policy, in the order of time. */
json_t *json_timeline(const struct report *r);

/** json_counters() - what hardware counted. */
json_t *json_counters(const struct report *r);

#endif

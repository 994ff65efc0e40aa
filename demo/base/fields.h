/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fields.h - a list of names and values, printed as JSON or as CSV.
 */
#ifndef DEMO_FIELDS_H
#define DEMO_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

/* Maximum number of fields; bytes of a name, and of a text without its quotes. */
#define FIELDS_MAX 192
#define FIELD_NAME_LEN 32
#define FIELD_TEXT_LEN 128

/* Bytes of the result of a check, which is a field. */
#define CHECK_LEN FIELD_TEXT_LEN

/**
 * struct fields - a list of fields
 * @nr: number of fields
 * @all: names, "group.name" or "name", and values in the notation of JSON. Fields of a
 *	 group are consecutive.
 */
struct fields {
	unsigned int nr;
	struct {
		char name[FIELD_NAME_LEN];
		char text[FIELD_TEXT_LEN + 2];
	} all[FIELDS_MAX];
};

void field(struct fields *f, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void field_text(struct fields *f, const char *name, const char *text);
void field_number(struct fields *f, const char *name, uint64_t number);
void field_grouped(struct fields *f, const char *group, const char *name, uint64_t number);
bool fields_print(const struct fields *f, bool json, bool csv);
int output_end(const char *program, int status);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fields.h - the results of a run as a list of fields, which JSON and CSV have in common.
 *
 * JSON makes an object of the part of a name before its point; CSV prints the name as it is.
 */
#ifndef DEMO_FIELDS_H
#define DEMO_FIELDS_H

#include <stdint.h>

/* Bytes of the result of the check. */
#define CHECK_LEN 128

/* Maximum number of fields; bytes of a name, and of a value including its quotes. */
#define FIELDS_MAX 128
#define FIELD_NAME_LEN 48
#define FIELD_TEXT_LEN (CHECK_LEN + 2)

/**
 * struct fields - a list of fields
 * @nr: number of fields
 * @all: names, "group.name" or "name", and values in the notation of JSON
 */
struct fields {
	unsigned int nr;
	struct {
		char name[FIELD_NAME_LEN];
		char text[FIELD_TEXT_LEN];
	} all[FIELDS_MAX];
};

void fields_add(struct fields *f, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void fields_text(struct fields *f, const char *name, const char *text);
void fields_number(struct fields *f, const char *name, uint64_t number);
void fields_grouped(struct fields *f, const char *group, const char *name, uint64_t number);
void fields_json(const struct fields *f);
void fields_csv(const struct fields *f);
void progress_show(const char *what, uint64_t done, uint64_t all);
void progress_clear(void);

#endif

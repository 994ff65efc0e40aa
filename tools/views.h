/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * views.h - what was sampled, by stack and by cache line: report --by stack, line, --folded.
 *
 * Must never sum counters: the samples stand for them, they are not they.
 */
#ifndef ELIDE_VIEWS_H
#define ELIDE_VIEWS_H

#include "evidence.h"

/**
 * struct where - a row that something belongs to, named.
 * @lock, @class: NULL if there is none
 * @short_lock:   the same for a table
 */
struct where {
	char *lock;
	char *class;
	char short_lock[SHORT_NAME];
	unsigned int kind;
	struct place site;
};

/** where_fill() - name a row. Return: 0 or -ENOMEM. */
int where_fill(const struct report *r, struct where *w, uint32_t class_index, unsigned int kind,
	       uint64_t site);

/** where_free() - release its names. */
void where_free(struct where *w);

/** where_print() - "LOCK (KIND) at FUNCTION FILE:LINE" for people. */
void where_print(FILE *out, const struct where *w);

/** where_csv_head(), where_csv() - its columns. */
void where_csv_head(FILE *out);
void where_csv(FILE *out, const struct where *w);

/** line_print() - lock and call of a row, in a sentence. */
void line_print(FILE *out, const struct line *l);

/** view_print() - "function file:line" or the best there is, for people; long names are shortened. */
void view_print(FILE *out, const struct place *p);

/* Of the first @top stacks, or lines, most cycles first; 0 for all. */
void stacks_table(const struct report *r, FILE *out, size_t top);
void stacks_csv_head(FILE *out);
void stacks_csv(const struct report *r, FILE *out, size_t top);
struct json_t *stacks_json(const struct report *r, size_t top);
void lines_table(const struct report *r, FILE *out, size_t top);
void lines_csv_head(FILE *out);
void lines_csv(const struct report *r, FILE *out, size_t top);
struct json_t *lines_json(const struct report *r, size_t top);

/**
 * folded_print() - the stacks of one type, as flame graphs are made from.
 * @type: enum elide_sample_type
 */
void folded_print(const struct report *r, FILE *out, unsigned int type);

#endif

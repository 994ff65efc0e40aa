/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.h - a data file turned into the rows people read.
 *
 * The way of the data: load.c -> rows.c (sum, name, sort) -> attribute.c
 * (verdict, findings) -> table.c, json.c or csv.c. Must never depend on
 * addresses, which change from run to run.
 */
#ifndef ELIDE_REPORT_H
#define ELIDE_REPORT_H

#include <stdio.h>

#include "load.h"
#include "symbolize.h"

/* Version of the JSON and CSV output; counts up on any incompatible change. */
#define REPORT_SCHEMA 1

/* The table's columns that causes are summed into; aborts.def says which. */
enum cause_column {
	COLUMN_CONFL,
	COLUMN_CAPAC,
	COLUMN_BUSY,
	COLUMN_SYSCALL,
	COLUMN_OTHER,
	NR_CAUSE_COLUMNS
};

enum verdict { VERDICT_UNKNOWN, VERDICT_PAYS, VERDICT_NEUTRAL, VERDICT_HURTS, NR_VERDICTS };

/* Bytes of a name in the table. */
#define SHORT_NAME 128

/* What rows are summed over: report --by. */
enum report_by { BY_LOCK_AND_SITE, BY_LOCK, BY_SITE };

/**
 * struct line - a row of the report: sum over threads of equal lock class, site and kind.
 * @kind:       enum elide_kind
 * @nr_classes, @nr_sites: how many are in it; one each unless --by says otherwise
 * @class_type: enum elide_class_type
 * @sum:        counters; its class, site and state are meaningless
 * @acquired, @elided, @attempts, @aborts: what follows from them, see struct elide_row
 * @cost:       cycles, see line_cost()
 * @lock, @site: names for people
 * @short_lock, @short_site: the same for a table
 * @class:      names the class apart from all others of the program, without addresses
 * @lock_place, @site_place: where the names come from
 */
struct line {
	unsigned int kind;
	unsigned int nr_classes;
	unsigned int nr_sites;
	unsigned int class_type;
	uint64_t nr_locks;
	struct elide_row sum;
	uint64_t acquired;
	uint64_t elided;
	uint64_t attempts;
	uint64_t aborts;
	uint64_t by_column[NR_CAUSE_COLUMNS];
	enum elide_row_state state;
	enum verdict verdict;
	double cost;
	char *lock;
	char *site;
	char short_lock[SHORT_NAME];
	char short_site[SHORT_NAME];
	char *class;
	struct place lock_place;
	struct place site_place;
};

/* A misuse of a lock, named. */
struct misuse_line {
	const struct elide_misuse *record;
	struct place site;
	struct place lock;
};

/* The names of an edge of a circle of locks. */
struct order_edge {
	char *lock;
	char *class;
	struct place held;
	struct place taken;
};

/* A circle of locks, named. */
struct order_line {
	const struct elide_order *record;
	struct order_edge edges[ELIDE_ORDER_EDGES];
};

/**
 * struct report - everything the outputs print of one file.
 * @elides:     the process elided: elision columns mean something
 * @ns, @cycles: what one ns is worth: @ns nanoseconds passed in @cycles; @cycles is 0 if unknown
 */
struct report {
	const struct data_file *file;
	struct symbolizer *symbols;
	struct line *lines;
	size_t nr_lines;
	struct line total;
	struct misuse_line *misuse;
	size_t nr_misuse;
	struct order_line *orders;
	size_t nr_orders;
	int elides;
	uint64_t ns;
	uint64_t cycles;
};

/**
 * report_build() - sum, name, judge and sort.
 * @sort: a column's id of columns.def, or "cost"
 *
 * Return: 0 or -ENOMEM.
 */
int report_build(struct report *r, const struct data_file *file, enum report_by by,
		 const char *sort);

/**
 * report_free() - release what report_build() took; not the data file.
 */
void report_free(struct report *r);

/**
 * report_sort_key() - is this a key of --sort? @nearest gets the nearest one.
 */
int report_sort_key(const char *key, const char **nearest);

/**
 * report_by_key() - what --by=@text asks for, into @by.
 *
 * Return: 0, or -EINVAL after one line.
 */
int report_by_key(const char *text, enum report_by *by);

/**
 * to_ns() - cycles as nanoseconds.
 *
 * Return: 0, or -ENODATA if the process did not live to say how long its cycles are.
 */
int to_ns(const struct report *r, uint64_t cycles, uint64_t *ns);

/**
 * class_name() - of a lock class, for people; NULL without memory. To be freed.
 * @place: filled with what it is named after
 */
char *class_name(const struct report *r, const struct elide_class *c, struct place *place);

/** class_id() - names a class apart from all others of the program. As class_name(). */
char *class_id(const struct elide_class *c, const struct place *place);

/** order_build() - name the circles of locks. Return: 0 or -ENOMEM. */
int order_build(struct report *r);

/** order_free() - release them. */
void order_free(struct report *r);

/* rows.c: the words of enumerations, those of JSON and table alike. */
const char *kind_name(unsigned int kind);
const char *state_name(unsigned int state);
const char *mode_name(unsigned int mode);
const char *rtm_name(unsigned int rtm);
const char *misuse_name(unsigned int type);
const char *dropped_name(unsigned int what);
const char *verdict_name(enum verdict v);

/** exit_code() - of a wait(2) status as a shell counts it, -1 if unknown. */
int exit_code(int status);

/** percent() - 100 * part / whole, 0 of nothing. */
double percent(uint64_t part, uint64_t whole);

/**
 * short_place() - a name that fits a table: of a C++ name its last parts.
 * @to: filled, @size bytes
 * @p: the place
 * @before: a word in front of it
 */
void short_place(char *to, size_t size, const struct place *p, const char *before);

/** base_name() - a path without its directories. */
const char *base_name(const char *path);

/**
 * struct cause_text - an entry of aborts.def.
 */
struct cause_text {
	const char *id;
	enum cause_column column;
	const char *help;
	const char *advice;
};

extern const struct cause_text cause_texts[ELIDE_NR_CAUSES];

/** line_cost() - what a row's locks cost the program, in cycles; see attribute.c. */
double line_cost(const struct line *l);

/** line_verdict() - does eliding pay here? See attribute.c. */
enum verdict line_verdict(const struct report *r, const struct line *l);

/* The most causes told of a row. */
#define FINDING_CAUSES 2

/**
 * struct finding - what is wrong with a row.
 * @causes:    the commonest, by enum elide_cause; @nr_causes of them, 0 if it only waits
 * @pattern:   of an ELIDE_LOCKS rule that hits this row, empty if there is none
 */
struct finding {
	const struct line *line;
	unsigned int causes[FINDING_CAUSES];
	unsigned int nr_causes;
	char pattern[256];
};

/**
 * attribute() - findings of the worst rows, worst first.
 * @max: room in @findings
 *
 * Return: their number.
 */
size_t attribute(const struct report *r, struct finding *findings, size_t max);

/* The outputs. @top: rows to print, 0 for all. */
void table_print(const struct report *r, FILE *out, int width, size_t top);
void csv_head(FILE *out);
void csv_text(FILE *out, const char *s); /* a comma, and a text in quotes */
void csv_print(const struct report *r, FILE *out, size_t top);

struct json_t;
struct json_t *json_report(const struct report *r, size_t top);

enum report_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };

/**
 * struct report_options - how to report.
 * @sort:  key, see report_sort_key()
 * @top:   rows to print, 0 for all
 * @width: columns of the table
 */
struct report_options {
	enum report_format format;
	enum report_by by;
	const char *sort;
	size_t top;
	int width;
};

/* Rows of the table unless something else is asked for: a screen. */
#define REPORT_TOP 20

/**
 * report_width() - columns of the terminal behind @fd, or as many as the table needs.
 */
int report_width(int fd);

/**
 * report_files() - report on data files, one after another.
 * @paths: of @nr
 *
 * Return: 0, or EXIT_USAGE after one line per file that could not be read.
 */
int report_files(const struct report_options *o, char *const *paths, size_t nr, FILE *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.h - a data file turned into the rows people read.
 *
 * The way of the data: load.c -> rows.c (sum, sort, name) -> evidence.c (what
 * was sampled of each row) -> attribute.c, advice.c (verdict, findings) ->
 * table.c, json.c, csv.c or html.c. Must never depend on
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

/* What rows are summed over: report --by. The last two show what was sampled: see views.h. */
enum report_by { BY_LOCK_AND_SITE, BY_LOCK, BY_SITE, BY_STACK, BY_LINE };

/**
 * struct line - a row of the report: sum over threads of equal lock class, site and kind.
 * @kind:       enum elide_kind
 * @nr_classes, @nr_sites: how many are in it; one each unless --by says otherwise
 * @nr_rows:    rows of the file in it: one a thread, class and site
 * @filled:     rows.c has read what sums.c does not keep
 * @class_type: enum elide_class_type
 * @sum:        counters; its class and site are those of the first, its state is meaningless
 * @acquired, @elided, @attempts, @aborts: what follows from them, see struct elide_row
 * @given_up:   acquisitions that were not attempted because the policy has found no hope here
 * @cost:       cycles, see line_cost()
 * @lock, @site: names for people
 * @short_lock, @short_site: the same for a table
 * @class:      names the class apart from all others of the program, without addresses
 * @lock_place, @site_place: where the names come from
 * @samples, @details, @blames: what was sampled of it, the most first
 */
struct line {
	unsigned int kind;
	unsigned int nr_classes;
	unsigned int nr_sites;
	unsigned int nr_rows;
	unsigned int filled;
	unsigned int class_type;
	uint64_t nr_locks;
	struct elide_row sum;
	uint64_t acquired;
	uint64_t elided;
	uint64_t attempts;
	uint64_t aborts;
	uint64_t given_up;
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
	const struct elide_sample **samples;
	size_t nr_samples;
	const struct elide_detail **details;
	size_t nr_details;
	const struct elide_blame **blames;
	size_t nr_blames;
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

/* Rows looked at for what is wrong, by cost, whatever the order asked for. */
#define WORST_MAX 16

struct sums;

/**
 * struct class_use - all rows of a lock class.
 * @nr_rows: of the file: one a thread, site and kind
 */
struct class_use {
	uint64_t acquired;
	uint64_t commits;
	uint64_t contended;
	uint64_t hold_total;
	uint64_t hold_count;
	uint64_t nr_rows;
};

/**
 * struct report - everything the outputs print of one file.
 * @sums:       rows of the file, summed
 * @uses:       of each class
 * @lines:      the first @nr_lines are the rows asked for, of @nr_all; up to @nr_built follow those
 *              of @worst that are not among them
 * @worst:      the dearest rows, dearest first
 * @evidence:   what the samples, details and blames of lines point into
 * @elides:     the process elided: elision columns mean something
 * @ns, @cycles: what one ns is worth: @ns nanoseconds passed in @cycles; @cycles is 0 if unknown
 */
struct report {
	const struct data_file *file;
	struct symbolizer *symbols;
	struct sums *sums;
	struct class_use *uses;
	struct line *lines;
	size_t nr_lines;
	size_t nr_built;
	size_t nr_all;
	struct line *worst[WORST_MAX];
	size_t nr_worst;
	struct line total;
	const void **evidence[3];
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
 * report_build_top() - the same with the first @top rows only, 0 for all: the way for large files.
 */
int report_build_top(struct report *r, const struct data_file *file, enum report_by by,
		     const char *sort, size_t top);

/**
 * report_line() - the line that the rows of a class, site and kind are in; NULL if it is not built.
 */
struct line *report_line(const struct report *r, uint32_t class_index, uint64_t site,
			 unsigned int kind);

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

/** code_name() - "function file:line", and where it was inlined to; to be freed. */
char *code_name(const struct place *p);

/* names.c: the words of enumerations, those of JSON and table alike. */
const char *kind_name(unsigned int kind);
const char *state_name(unsigned int state);
const char *mode_name(unsigned int mode);
const char *rtm_name(unsigned int rtm);
const char *misuse_name(unsigned int type);
const char *misuse_says(unsigned int type);
const char *dropped_name(unsigned int what);
const char *sample_name(unsigned int type);
const char *source_name(unsigned int source);
const char *data_type_name(unsigned int type);
const char *blame_name(unsigned int type);
const char *event_name(unsigned int type);
const char *counter_source_name(unsigned int source);
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

/**
 * short_lock() - the same of a lock class.
 * @name: its class_name(), @p: the place that gave
 */
void short_lock(char *to, size_t size, const struct elide_class *c, const char *name,
		const struct place *p);

/**
 * short_symbol() - the last parts of a C++ name, without arguments.
 *
 * "ns::a<b::c>::f(int)" is a::f, and the call of a lambda is the lambda.
 */
void short_symbol(char *to, size_t size, const char *name);

/* Longer names make sentences hard to read. */
#define READABLE 60

/**
 * readable() - a name for a sentence: itself, or its last parts in @to if it is long.
 */
const char *readable(char *to, size_t size, const char *name);

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

/** line_is_quiet() - does nothing contend for the lock, so that elision cannot pay? */
int line_is_quiet(const struct report *r, const struct line *l);

/** line_held_percent() - of the run in which locks of the class were held; -1 if not known. */
double line_held_percent(const struct report *r, const struct line *l);

/** line_has_one_thread() - is the class used by one thread only? */
int line_has_one_thread(const struct report *r, const struct line *l);

/**
 * struct measured - what the adaptive policy has found out by comparing.
 * @gain:       sections per time with elision by those without, less 1; below 0 elision costs
 * @confidence: that the sign is right, 0 to 1
 * @pairs:      measurements of each; 0 if nothing was compared
 */
struct measured {
	double gain;
	double confidence;
	unsigned int pairs;
};

/**
 * event_is_hopeless() - has the adaptive policy given up a call site, as whatever it tried aborted?
 *
 * Not because it was slower: then it has compared. And hpca pauses for a time.
 */
int event_is_hopeless(const struct elide_event *e);

/** line_measured() - the last comparison of elision with the real lock of a row's locks. */
struct measured line_measured(const struct report *r, const struct line *l);

/** line_verdict() - does eliding pay here? See attribute.c. */
enum verdict line_verdict(const struct report *r, const struct line *l);

/* Units of columns.def. */
enum unit { TEXT, COUNT, PERCENT, CYCLES, TIME };

/* A value of columns.def that is no text. */
void number_cell(const struct report *r, enum unit unit, double v, char *to, size_t size);

/* What precedes a table: the program, mode and machine. */
void table_head(const struct report *r, FILE *out);

/* The outputs. @top: rows to print, 0 for all. */
void table_print(const struct report *r, FILE *out, int width, size_t top);
/** csv_text(), csv_place() - a comma and a value, or the five of a place. */
void csv_text(FILE *out, const char *s);
void csv_place(FILE *out, const struct place *p);
void csv_head(FILE *out);
void csv_print(const struct report *r, FILE *out, size_t top);

struct json_t;
struct json_t *json_report(const struct report *r, size_t top);

struct perf_samples;

enum report_format {
	FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV, FORMAT_FOLDED, FORMAT_SUGGEST, FORMAT_HTML
};

/**
 * struct report_options - how to report.
 * @html:  file of FORMAT_HTML, "-" for @out
 * @sort:  key, see report_sort_key()
 * @top:   rows to print, 0 for all
 * @width: columns of the table
 * @perf:  samples of perf to join with the rows, NULL for none
 * @folded: enum elide_sample_type of the stacks wanted
 */
struct report_options {
	enum report_format format;
	enum report_by by;
	const char *html;
	const char *sort;
	size_t top;
	int width;
	const struct perf_samples *perf;
	unsigned int folded;
};

/* Rows of the table unless something else is asked for: a screen. */
#define REPORT_TOP 20

/* Rows of a page unless something else is asked for: what a browser shows at once. */
#define REPORT_TOP_HTML 500

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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.h - a data file turned into the rows of a report.
 *
 * The path of the data: load.c -> report.c (sum, sort, name) -> evidence.c (the
 * samples of each row) -> attribute.c, advice.c (verdict, findings) ->
 * an output of output.h. Must never depend on addresses, which change from run to run.
 */
#ifndef ELIDE_REPORT_H
#define ELIDE_REPORT_H

#include "../names/short.h"
#include "load.h"

/* Version of the JSON and CSV output; counts up on any incompatible change. */
#define REPORT_SCHEMA 2

/* The table's columns into which causes are summed; aborts.def says which. */
enum cause_column {
	COLUMN_CONFL,
	COLUMN_CAPAC,
	COLUMN_BUSY,
	COLUMN_SYSCALL,
	COLUMN_OTHER,
	NR_CAUSE_COLUMNS
};

enum verdict {
#define ELIDE_VERDICT(ID, word, colour) VERDICT_##ID,
#include "verdicts.def"
#undef ELIDE_VERDICT
};

/* How rows are summed: report --by. From BY_STACK on a view of output.h is shown instead of rows. */
enum report_by { BY_LOCK_AND_SITE, BY_LOCK, BY_SITE, BY_STACK, BY_LINE, BY_THREAD, BY_TIME, BY_CHAIN };

/**
 * struct line - a row of the report: sum over threads of equal lock class, site and kind.
 * @kind:       enum elide_kind
 * @nr_classes, @nr_sites: lock classes and call sites in the row; 1 each unless --by sums
 * @nr_rows:    rows of the file in it: one for each thread, class and site
 * @filled:     has the numbers that sums.c does not keep
 * @class_type: enum elide_class_type
 * @sum:        counters; its class and site are those of the first row, its state and bins are
 *              meaningless
 * @held:       cycles that the locks were held, see struct sum; @held_error: its standard error
 * @acquired, @elided, @attempts, @aborts: sums of counters, see struct elide_row
 * @given_up:   acquisitions not attempted because the policy has given up the call site
 * @quiet:      acquisitions of uncontended locks, see class_is_quiet()
 * @cost:       cycles, see line_cost()
 * @lock, @site: names in a report
 * @short_lock, @short_site: @lock and @site, short enough for a table
 * @blocker:    names the call that held the lock for most of the time waited, or that ended most of
 *              it; NULL if unknown
 * @blocked:    its share of the time waited
 * @peers:      for kinds that are not locks, share of the time waited that was ended by threads that wait
 *              there themselves; -1 if unknown
 * @blocks:     another row waited for it longer than for any other call
 * @short_blocker: that call, short enough for a table
 * @class:      identifies the class in the program, without addresses
 * @lock_place, @site_place: the places that @lock and @site name
 * @samples, @details, @blames: records of the row, in descending order of count
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
	double held;
	double held_error;
	uint64_t acquired;
	uint64_t elided;
	uint64_t attempts;
	uint64_t aborts;
	uint64_t given_up;
	uint64_t quiet;
	uint64_t by_column[NR_CAUSE_COLUMNS];
	enum elide_row_state state;
	enum verdict verdict;
	double cost;
	char *lock;
	char *site;
	char short_lock[SHORT_NAME];
	char short_site[SHORT_NAME];
	const struct elide_blame *blocker;
	double blocked;
	double peers;
	int blocks;
	char short_blocker[SHORT_NAME];
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

/**
 * struct misuse_line - a misuse of a lock, named.
 * @lock:  as in the table of rows; NULL where its class is not known
 * @owner: name of the thread that died holding it; NULL where that is not known
 */
struct misuse_line {
	const struct elide_misuse *record;
	struct place site;
	char *lock;
	const char *owner;
};

/* An edge of a cycle of locks, named: a thread held one lock when it acquired the next. */
struct order_edge {
	char *lock;
	char *class;
	struct place held;
	struct place next;
};

/* A cycle of locks, named. */
struct order_line {
	const struct elide_order *record;
	struct order_edge edges[ELIDE_ORDER_EDGES];
};

/* Rows to examine for findings: those that cost most, whatever the order of the report. */
#define WORST_MAX 16

struct sums;

/**
 * struct class_use - all rows of a lock class.
 * @conflicts: a site and kind whose transactions others aborted, see class_conflicts()
 */
struct class_use {
	uint64_t acquired;
	uint64_t commits;
	uint64_t contended;
	uint64_t failed;
	double held;
	uint64_t hold_weight;
	uint64_t hold_total;
	int conflicts;
};

/**
 * struct report - everything that the outputs print about one file.
 * @sums:       rows of the file, summed
 * @uses:       of each class
 * @lines:      the first @nr_lines are the rows asked for, of @nr_all; up to @nr_built follow those
 *              of @worst that are not among them
 * @worst:      the rows that cost most, in descending order of cost
 * @evidence:   arrays into which the samples, details and blames of lines point
 * @elides:     the process elided: elision columns mean something
 * @thread_ns:  time of all threads, see struct thread_time; 0: unknown
 * @total:      of locks; its waits are those of elide_kind_waits_for_lock()
 * @others_wait: cycles waited for others: the other rows
 * @ns, @cycles: @ns nanoseconds passed in @cycles cycles; @cycles is 0 if that is unknown
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
	uint64_t others_wait;
	const void **evidence[3];
	struct misuse_line *misuse;
	size_t nr_misuse;
	struct order_line *orders;
	size_t nr_orders;
	int elides;
	double thread_ns;
	uint64_t ns;
	uint64_t cycles;
};

/**
 * report_build() - sum the rows of a file, name, judge and sort them.
 * @sort: a column's id of columns.def, or "cost"
 *
 * Return: 0 or -ENOMEM.
 */
int report_build(struct report *r, const struct data_file *file, enum report_by by,
		 const char *sort);

/**
 * report_build_top() - like report_build(), but build the first @top rows only; 0 builds all.
 */
int report_build_top(struct report *r, const struct data_file *file, enum report_by by,
		     const char *sort, size_t top);

/**
 * report_line() - the line with the rows of a class, site and kind; NULL if it is not built.
 */
struct line *report_line(const struct report *r, uint32_t class_index, uint64_t site,
			 unsigned int kind);

/** line_name() - give a line its names. Return: 0 or -ENOMEM. */
int line_name(const struct report *r, struct line *l);

/**
 * short_class() - the short name of a class: that of its row, which differs from the names of other rows.
 * @to: SHORT_NAME bytes
 * @l: a row of the class; NULL: none is built, and the name may be that of another class
 * @name, @p: the name and the place that class_name() gave
 */
void short_class(char *to, const struct line *l, const struct elide_class *c, const char *name,
		 const struct place *p);

/** line_free_names() - release the names of a line. */
void line_free_names(struct line *l);

/**
 * report_free() - release what report_build() took; not the data file.
 */
void report_free(struct report *r);

/**
 * to_ns() - convert cycles to nanoseconds.
 *
 * Return: 0, or -ENODATA if the length of a cycle is unknown: the process runs, or was killed.
 */
int to_ns(const struct report *r, uint64_t cycles, uint64_t *ns);

/** report_ns() - nanoseconds of @cycles; 0 if the length of a cycle is unknown. */
double report_ns(const struct report *r, double cycles);

#endif

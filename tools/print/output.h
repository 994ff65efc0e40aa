/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output.h - the formats of elide report. A new one is a file output-*.c, its declaration here, a line in
 * output.c, what elide-report(1) says, and tests/tools/expected.
 *
 * Must never decide which files a report is about.
 */
#ifndef ELIDE_OUTPUT_H
#define ELIDE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "../base/options.h"
#include "../model/report.h"

/* Rows of the table without --top: a screenful. */
#define REPORT_TOP 20

/* Rows of a page without --top: as many as a browser shows without delay. */
#define REPORT_TOP_HTML 500

/* Width of a table in a file or a pipe: more columns than any table has. */
#define WIDTH_UNBOUNDED 10000

/* The arguments of --by other than rows, from 0. */
#define VIEW(by) ((by) - BY_STACK)
#define NR_VIEWS (VIEW(BY_CHAIN) + 1)

struct perf_samples;
struct report_output;

/*
 * Files of several processes: the format's default, one report for all, or one for each. By
 * default formats merge only the files of one run.
 */
enum report_merge { MERGE_DEFAULT, MERGE_ALL, MERGE_NONE };

/**
 * struct report_options - how to report.
 * @output: the format
 * @file:   file that the format writes, "-" for standard output; NULL if it has none of its own
 * @sort:   key, see report_sort_key()
 * @top:    rows to print, 0 for all
 * @width:  columns of the table
 * @perf:   samples of perf to join with the rows, NULL for none
 * @folded: enum folding, the stacks for the format folded
 * @merge:  how to treat the files of several processes
 * @view:   view of a format with several ones; 0 is the default
 * @set_end: sets the end of a running process to now
 */
struct report_options {
	const struct report_output *output;
	enum report_by by;
	const char *file;
	const char *sort;
	size_t top;
	int width;
	const struct perf_samples *perf;
	unsigned int folded;
	enum report_merge merge;
	unsigned int view;
	void (*set_end)(struct elide_header *h);
};

/**
 * struct output - a report that is being printed.
 * @files:   @nr_files data files
 * @state:   the format's own state, @state_size bytes that are zero before begin()
 */
struct output {
	const struct report_options *options;
	FILE *out;
	const struct data_file *files;
	size_t nr_files;
	void *state;
};

/**
 * struct report_output - a format.
 * @option:     of elide report; without a name the format is the default one. Its key is not used
 * @second:     an option that goes with the format only; without a name there is none
 * @top:        rows printed without --top, 0 for all
 * @merges:     by default one report for all processes of a run
 * @each_too:   then a report for each of them, too
 * @by_row_only: the format cannot sum over locks or sites, and has no views: --by is refused
 * @state_size: bytes of struct output's state
 * @argument:   takes the argument of @option. Return: 0, or -EINVAL after one line
 * @second_argument: takes the argument of @second
 * @begin:      called once, before the first file
 * @skip:       should the file be left out? Called before its rows are summed
 * @rows:       prints one file's rows. Without it the format is a view of stacks
 * @views:      print the views of one file, by VIEW() of the argument of --by; NULL if the
 *              format has none. Return: 0 or -errno
 * @end:        called once, after the last file. Return: 0, or -errno after one line
 *
 * Only @option and one of @rows and @views are required.
 */
struct report_output {
	struct option_desc option;
	struct option_desc second;
	size_t top;
	bool merges;
	bool each_too;
	bool by_row_only;
	size_t state_size;
	int (*argument)(struct report_options *o, const char *text);
	int (*second_argument)(struct report_options *o, const char *text);
	void (*begin)(struct output *o);
	bool (*skip)(struct output *o, const struct data_file *f);
	int (*rows)(struct output *o, const struct report *r);
	int (*views[NR_VIEWS])(struct output *o, const struct report *r);
	int (*end)(struct output *o);
};

extern const struct report_output output_table, output_json, output_csv, output_html,
	output_folded, output_dot, output_suggest, output_pprof,
	output_openmetrics, output_trace;

/* All formats, the default one first; the others in the order of --help. */
extern const struct report_output *const report_outputs[];
extern const size_t nr_report_outputs;

/** report_is_view() - is a view shown instead of rows? */
bool report_is_view(const struct report_options *o);

/** report_width() - columns of the terminal at @fd; WIDTH_UNBOUNDED if it is not a terminal. */
int report_width(int fd);

/**
 * report_files() - report on data files, one after another.
 * @paths: of @nr
 *
 * Return: 0, or EXIT_USAGE after one line per file that could not be read.
 */
int report_files(const struct report_options *o, char *const *paths, size_t nr, FILE *out);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd-diff.c - elide diff: the differences between two runs, lock by lock.
 *
 * Must never write to a data file.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/exit.h"
#include "../base/messages.h"
#include "../base/suggest.h"
#include "../model/file/faults.h"
#include "../model/rank.h"
#include "../print/diff-print.h"
#include "../print/output.h"
#include "cmd.h"

/* Option keys without a letter. */
enum { OPT_BY = 256, OPT_SORT, OPT_TOP, OPT_RATE, OPT_FAIL_IF, OPT_JSON, OPT_CSV };

/* The keys of --sort: cost, and the columns that are compared. */
static const char *sort_keys(size_t nth)
{
	size_t nr;
	const struct condition_column *columns = diff_columns(&nr);

	if (!nth)
		return "cost";
	return nth <= nr ? columns[nth - 1].name : NULL;
}

static const struct option_desc options[] = {
	{OPT_BY, "by", "WHAT", "sum over: lock, or site", report_sum_words},
	{OPT_SORT, "sort", "KEY", "the rows that differ most first, in cost (default) or a column",
	 sort_keys},
	{OPT_TOP, "top", "N", "print N rows, 0 for all (20 in the table, else all)"},
	{OPT_RATE, "rate", NULL, "per second of each run, for runs of different lengths"},
	{OPT_FAIL_IF, "fail-if", "CONDITION",
	 "exit with 1 if it holds, such as 'aborts > +10%'; may be given again"},
	{OPT_JSON, "json", NULL, "exact numbers as JSON"},
	{OPT_CSV, "csv", NULL, "exact numbers as comma-separated values"},
	OPTION_HELP,
};

/* What the command line asks for. */
struct request {
	diff_print_fn *print;
	enum report_by by;
	const char *sort;
	size_t top;
	bool top_given;
	bool rate;
	struct condition *conditions;
	size_t nr_conditions;
};

/* The conditions that hold. */
struct failures {
	struct failure *all;
	size_t nr;
};

static int add_condition(struct request *r, const char *text)
{
	size_t nr, bad;
	const struct condition_column *columns = diff_columns(&nr);
	struct condition *grown;
	char why[256];

	grown = reallocarray(r->conditions, r->nr_conditions + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->conditions = grown;
	bad = condition_parse(&grown[r->nr_conditions], text, columns, nr, why, sizeof(why));
	if (bad) {
		say("--fail-if='%s': %s at position %zu", text, why, bad);
		return -EINVAL;
	}
	r->nr_conditions++;
	return 0;
}

static int set_sort(struct request *r, const char *key)
{
	size_t nr;
	const char **names, *nearest;

	diff_columns(&nr);
	names = calloc(nr + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i <= nr; i++)
		names[i] = sort_keys(i);
	nearest = suggest(key, names, nr + 1);
	free(names);
	r->sort = key;
	if (!strcmp(nearest, key))
		return 0;
	say("--sort=%s is no column, nearest is %s", key, nearest);
	return -EINVAL;
}

static int set_top(struct request *r, const char *text)
{
	char *end;

	errno = 0;
	r->top = strtoul(text, &end, 10);
	r->top_given = true;
	if (*text >= '0' && *text <= '9' && !*end && !errno)
		return 0;
	say("--top=%s: not a number", text);
	return -EINVAL;
}

static int apply(int key, struct request *r)
{
	switch (key) {
	case OPT_BY:
		return report_sum_key(optarg, "runs are compared", &r->by);
	case OPT_SORT:
		return set_sort(r, optarg);
	case OPT_TOP:
		return set_top(r, optarg);
	case OPT_FAIL_IF:
		return add_condition(r, optarg);
	case OPT_RATE:
		r->rate = true;
		return 0;
	case OPT_JSON:
		r->print = diff_print_json;
		return 0;
	case OPT_CSV:
		r->print = diff_print_csv;
		return 0;
	}
	return -EINVAL;
}

/* Adds a failure if a condition holds for a row. Return: is the value known? */
static bool judge(const struct diff *d, const struct condition *c, const struct diff_row *row,
		  struct failures *f)
{
	bool gone = row->status == DIFF_GONE;
	double before = 0, after = 0;

	if (diff_value(d, row, 1, c->column, &after) ||
	    (diff_value(d, row, 0, c->column, &before) && c->of != OF_VALUE))
		return false;
	if (!(gone && c->of == OF_VALUE) && condition_holds(c, before, after))
		f->all[f->nr++] = (struct failure){c, row};
	return true;
}

/* A condition whose column is unknown in the runs is a failure, too. */
static int judge_all(const struct diff *d, const struct request *r, struct failures *f)
{
	f->all = calloc(r->nr_conditions * (d->nr + 1) + 1, sizeof(*f->all));
	if (!f->all)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_conditions; i++) {
		const struct condition *c = &r->conditions[i];
		bool known = judge(d, c, &d->total, &(struct failures){&(struct failure){0}, 0});

		if (!known)
			f->all[f->nr++] = (struct failure){c, NULL};
		else if (c->total)
			judge(d, c, &d->total, f);
		for (size_t j = 0; known && !c->total && j < d->nr; j++)
			judge(d, c, &d->rows[j], f);
	}
	return 0;
}

/* Prints the difference and the conditions that hold. Return: the exit code. */
static int finish(const struct request *r, const struct diff *d)
{
	struct failures f = {0};
	size_t top = r->top_given ? r->top : r->print == diff_print_table ? REPORT_TOP : 0;
	char text[1024];
	int code;

	if (judge_all(d, r, &f))
		return EXIT_USAGE;
	r->print(d, f.all, f.nr, stdout, top);
	fflush(stdout);
	for (size_t i = 0; i < f.nr; i++) {
		diff_describe(d, &f.all[i], text, sizeof(text));
		say("%s", text);
	}
	code = f.nr ? EXIT_CONDITION : 0;
	free(f.all);
	return code;
}

static int compare(const struct request *r, const struct data_file *files)
{
	struct report reports[2];
	struct diff d;
	int code = EXIT_USAGE;

	if (report_build(&reports[0], &files[0], r->by, "cost"))
		return code;
	if (!report_build(&reports[1], &files[1], r->by, "cost")) {
		if (!diff_build(&d, &reports[0], &reports[1], r->by, r->sort, r->rate)) {
			code = finish(r, &d);
			diff_free(&d);
		}
		report_free(&reports[1]);
	}
	report_free(&reports[0]);
	return code;
}

static int compare_files(const struct request *r, char **paths)
{
	char error[LOAD_ERROR_MAX];
	struct data_file files[2];
	int code = EXIT_USAGE, nr = 0, err = 0;

	while (nr < 2 && !(err = load(paths[nr], &files[nr], error)))
		nr++;
	if (err) {
		say("%s", error);
		code = exit_unread(0, err);
	} else if (!load_base(&files[0]) && !load_base(&files[1])) {
		code = compare(r, files);
	}
	for (int i = 0; !err && i < nr; i++) {
		if (!faults_of(&files[i], error))
			continue;
		say("%s; what is left is compared", error);
		code = code ? code : EXIT_CONDITION;
	}
	while (nr--)
		load_free(&files[nr]);
	return code;
}

/**
 * cmd_diff() - elide diff.
 */
int cmd_diff(int argc, char **argv)
{
	struct request r = {.print = diff_print_table, .sort = "cost"};
	int key, code = EXIT_USAGE;

	while ((key = options_next(argc, argv, options, ARRAY_SIZE(options), 0)) != OPTIONS_END) {
		if (key == 'h') {
			options_help("diff [OPTION...] BEFORE AFTER",
				     "Shows the differences between two runs, lock by lock.",
				     options, ARRAY_SIZE(options));
			code = 0;
			goto free_conditions;
		}
		if (apply(key, &r))
			goto free_conditions;
	}
	if (argc - optind == 2)
		code = compare_files(&r, argv + optind);
	else
		say("diff: needs two data files, one before and one after");
free_conditions:
	free(r.conditions);
	return code;
}

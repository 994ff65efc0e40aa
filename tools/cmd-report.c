// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd-report.c - elide report: which files, in which form.
 *
 * Must never write to a data file.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "json.h"
#include "paths.h"
#include "report.h"
#include "settings.h"
#include "suggest.h"

/* Width of a table that goes to a file or pipe: as wide as it is. */
#define WIDTH_UNBOUNDED 10000

/* Option keys without a letter. */
enum { OPT_SORT = 256, OPT_TOP, OPT_BY, OPT_JSON, OPT_CSV, OPT_WIDTH, OPT_NO_CHILDREN };

static const struct option_desc options[] = {
	{'i', "input", "FILE", "data file to report on (elide.data); may be given again"},
	{OPT_SORT, "sort", "KEY", "order of the rows: cost (default) or a column's name"},
	{OPT_TOP, "top", "N", "print N rows, 0 for all (20 in the table, else all)"},
	{OPT_BY, "by", "WHAT", "sum over: lock, or site"},
	{OPT_JSON, "json", NULL, "exact numbers as JSON, see elide-data(5)"},
	{OPT_CSV, "csv", NULL, "exact numbers as comma-separated values"},
	{OPT_WIDTH, "width", "N", "columns of the table (those of the terminal)"},
	{OPT_NO_CHILDREN, "no-children", NULL, "leave out FILE.PID of child processes"},
	OPTION_HELP,
};

static int has_path(const struct paths *p, const char *path)
{
	struct stat a, b;

	for (size_t i = 0; i < p->nr; i++) {
		if (!strcmp(p->path[i], path))
			return 1;
		if (!stat(p->path[i], &a) && !stat(path, &b) && a.st_dev == b.st_dev &&
		    a.st_ino == b.st_ino)
			return 1;
	}
	return 0;
}

/* ".PID" */
static int is_pid_suffix(const char *rest)
{
	return rest[0] == '.' && rest[1] && !rest[1 + strspn(rest + 1, "0123456789.")];
}

/* Adds a file, and FILE.PID of the same run if @children, unless they are there already. */
static int add_input(struct paths *all, const char *path, int children)
{
	struct elide_header header;
	struct paths found = {0};
	int rc = paths_add(&found, path);

	if (!rc && children && !load_header(path, &header) && header.run)
		rc = paths_of_run(&found, path, header.run, is_pid_suffix);
	for (size_t i = 0; !rc && i < found.nr; i++)
		if (!has_path(all, found.path[i]))
			rc = paths_add(all, found.path[i]);
	paths_free(&found);
	return rc;
}

int report_width(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col)
		return WIDTH_UNBOUNDED;
	return size.ws_col;
}

/* What is reported of one file after another. */
struct output {
	const struct report_options *options;
	FILE *out;
	json_t *processes;
	size_t nr_printed;
	size_t nr_idle;
};

static int acquired_anything(const struct data_file *f)
{
	for (size_t i = 0; i < f->nr_rows; i++)
		if (elide_row_acquired(&f->rows[i]))
			return 1;
	return f->nr_misuse > 0;
}

static int report_file(struct output *o, const struct data_file *f)
{
	const struct report_options *options = o->options;
	struct report r;
	int rc;

	if (options->format == FORMAT_TABLE && !acquired_anything(f)) {
		o->nr_idle++;
		return 0;
	}
	rc = report_build(&r, f, options->by, options->sort);
	if (rc) {
		say("%s: %s", f->path, strerror(-rc));
		return rc;
	}
	if (options->format == FORMAT_TABLE) {
		if (o->nr_printed++)
			fprintf(o->out, "\n%s\n", "----");
		table_print(&r, o->out, options->width, options->top);
	} else if (options->format == FORMAT_CSV) {
		csv_print(&r, o->out, options->top);
	} else {
		json_array_append_new(o->processes, json_report(&r, options->top));
	}
	report_free(&r);
	return 0;
}

static int finish_json(struct output *o)
{
	json_t *all = o->processes;

	if (!json_array_size(all)) {
		json_decref(all);
		return 0;
	}
	if (json_array_size(all) == 1) {
		json_t *only = json_incref(json_array_get(all, 0));

		json_decref(all);
		return json_print(only, o->out);
	}
	return json_print(json_pack("{s:i, s:o}", "schema", REPORT_SCHEMA, "processes", all),
			  o->out);
}

int report_files(const struct report_options *options, char *const *paths, size_t nr, FILE *out)
{
	struct output o = {.options = options, .out = out};
	char error[LOAD_ERROR_MAX];
	struct data_file f;
	int code = 0;

	if (options->format == FORMAT_CSV)
		csv_head(out);
	o.processes = json_array();
	for (size_t i = 0; i < nr; i++) {
		if (load(paths[i], &f, error)) {
			say("%s", error);
			code = EXIT_USAGE;
			continue;
		}
		if (load_base(&f) || report_file(&o, &f))
			code = EXIT_USAGE;
		load_free(&f);
	}
	if (options->format == FORMAT_JSON)
		return finish_json(&o) ? EXIT_USAGE : code;
	json_decref(o.processes);
	if (o.nr_idle)
		fprintf(out, "%s%zu process%s took no lock that elide can see\n",
			o.nr_printed ? "\n" : "", o.nr_idle, o.nr_idle == 1 ? "" : "es");
	if (o.nr_printed)
		fprintf(out, "\nNext: elide report --by lock, --sort wait, --json (exact); "
			     "elide-report(1) explains the columns.\n");
	return code;
}

static int parse_count(const char *option, const char *text, unsigned long most, size_t *to)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || v > most) {
		say("--%s=%s: not a number from 0 to %lu", option, text, most);
		return -EINVAL;
	}
	*to = v;
	return 0;
}

int report_by_key(const char *text, enum report_by *by)
{
	static const char *const names[] = {"lock", "site"};

	if (!strcmp(text, "lock"))
		*by = BY_LOCK;
	else if (!strcmp(text, "site"))
		*by = BY_SITE;
	else
		return say("--by=%s: nearest is %s", text, suggest(text, names, 2)), -EINVAL;
	return 0;
}

/* Applies one option that was given: 0 or -EINVAL after one line. */
static int apply(int key, struct report_options *o, int *top_given)
{
	const char *nearest;
	size_t n;

	switch (key) {
	case OPT_SORT:
		o->sort = optarg;
		if (report_sort_key(optarg, &nearest))
			return 0;
		say("--sort=%s is no column, nearest is %s", optarg, nearest);
		return -EINVAL;
	case OPT_TOP:
		*top_given = 1;
		return parse_count("top", optarg, 1000000, &o->top);
	case OPT_WIDTH:
		if (parse_count("width", optarg, WIDTH_UNBOUNDED, &n))
			return -EINVAL;
		o->width = n;
		return 0;
	case OPT_BY:
		return report_by_key(optarg, &o->by);
	case OPT_JSON:
		o->format = FORMAT_JSON;
		return 0;
	case OPT_CSV:
		o->format = FORMAT_CSV;
		return 0;
	}
	return -EINVAL;
}

/**
 * cmd_report() - elide report.
 */
int cmd_report(int argc, char **argv)
{
	struct report_options o = {.sort = "cost", .width = report_width(STDOUT_FILENO)};
	int key, children = 1, top_given = 0, rc = 0, code = EXIT_USAGE;
	struct paths given = {0}, all = {0};

	while (!rc &&
	       (key = options_next(argc, argv, options, ARRAY_SIZE(options), 0)) != OPTIONS_END) {
		if (key == 'h') {
			options_help("report [OPTION...] [FILE...]",
				     "Tells lock by lock and call site by call site what happened.",
				     options, ARRAY_SIZE(options));
			code = 0;
			goto free_paths;
		}
		if (key == 'i')
			rc = paths_add(&given, optarg);
		else if (key == OPT_NO_CHILDREN)
			children = 0;
		else
			rc = apply(key, &o, &top_given);
	}
	if (rc)
		goto free_paths;
	while (!rc && optind < argc)
		rc = paths_add(&given, argv[optind++]);
	if (!rc && !given.nr)
		rc = paths_add(&given, setting_find("OUTPUT")->def);
	for (size_t i = 0; !rc && i < given.nr; i++)
		rc = add_input(&all, given.path[i], children);
	if (rc)
		goto free_paths;
	if (!top_given)
		o.top = o.format == FORMAT_TABLE ? REPORT_TOP : 0;
	code = report_files(&o, all.path, all.nr, stdout);
free_paths:
	paths_free(&given);
	paths_free(&all);
	return code;
}

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
#include "conf.h"
#include "html.h"
#include "json.h"
#include "paths.h"
#include "perf.h"
#include "report.h"
#include "settings.h"
#include "suggest.h"
#include "views.h"

/* Width of a table that goes to a file or pipe: as wide as it is. */
#define WIDTH_UNBOUNDED 10000

/* Option keys without a letter. */
enum { OPT_SORT = 256, OPT_TOP, OPT_BY, OPT_JSON, OPT_CSV, OPT_HTML, OPT_WIDTH, OPT_NO_CHILDREN,
       OPT_FOLDED, OPT_SUGGEST, OPT_PERF };

static const struct option_desc options[] = {
	{'i', "input", "FILE", "data file to report on (elide.data); may be given again"},
	{OPT_SORT, "sort", "KEY", "order of the rows: cost (default) or a column's name"},
	{OPT_TOP, "top", "N", "print N rows, 0 for all (20 in the table, 500 on a page, else all)"},
	{OPT_BY, "by", "WHAT", "sum over: lock, or site; or show what was sampled: stack, line"},
	{OPT_JSON, "json", NULL, "exact numbers as JSON, see elide-data(5)"},
	{OPT_CSV, "csv", NULL, "exact numbers as comma-separated values"},
	{OPT_HTML, "html", "FILE", "a page for a browser that needs nothing else; - for stdout"},
	{OPT_FOLDED, "folded", "[TYPE]", "stacks for flame graphs: of abort (default), wait or block"},
	{OPT_SUGGEST, "suggest", NULL, "the settings that follow, a file for elide run"},
	{OPT_WIDTH, "width", "N", "columns of the table (those of the terminal)"},
	{OPT_NO_CHILDREN, "no-children", NULL, "leave out FILE.PID of child processes"},
	{OPT_PERF, "perf", "FILE", "join the samples of perf, as perf script prints them (- stdin)"},
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
	struct suggestion suggestion;
	size_t nr_printed;
	size_t nr_idle;
};

static int has_acquired(void *arg, const struct elide_row *row)
{
	return elide_row_acquired(row) != 0;
}

static int acquired_anything(const struct data_file *f)
{
	return load_rows(f, has_acquired, NULL) > 0 || f->nr_misuse > 0;
}

static void print_view(struct output *o, const struct report *r)
{
	const struct report_options *options = o->options;
	int lines = options->by == BY_LINE;
	json_t *json;

	switch (options->format) {
	case FORMAT_FOLDED:
		folded_print(r, o->out, options->folded);
		break;
	case FORMAT_CSV:
		(lines ? lines_csv : stacks_csv)(r, o->out, options->top);
		break;
	case FORMAT_JSON:
		json = json_head(r);
		json_object_set_new(json, lines ? "lines" : "stacks",
				    (lines ? lines_json : stacks_json)(r, options->top));
		json_array_append_new(o->processes, json);
		break;
	default:
		table_head(r, o->out);
		(lines ? lines_table : stacks_table)(r, o->out, options->top);
	}
}

static int print_rows(struct output *o, const struct report *r)
{
	const struct report_options *options = o->options;

	switch (options->format) {
	case FORMAT_SUGGEST:
		return suggestion_add(&o->suggestion, r);
	case FORMAT_CSV:
		csv_print(r, o->out, options->top);
		return 0;
	case FORMAT_JSON:
		json_array_append_new(o->processes, json_report(r, options->top));
		return 0;
	case FORMAT_HTML:
		json_array_append_new(o->processes, html_tree(r, options->top));
		return 0;
	default:
		table_print(r, o->out, options->width, options->top);
		if (options->perf)
			perf_print(r, options->perf, o->out, options->top);
		return 0;
	}
}

/* What was sampled is shown, not rows. */
static int is_view(const struct report_options *o)
{
	return o->by == BY_STACK || o->by == BY_LINE || o->format == FORMAT_FOLDED;
}

static int report_file(struct output *o, const struct data_file *f)
{
	const struct report_options *options = o->options;
	int view = is_view(options), rc;
	struct report r;

	if (options->format == FORMAT_TABLE && !acquired_anything(f)) {
		o->nr_idle++;
		return 0;
	}
	/* A view needs no rows: one is the least there is. A sample may fall into any row. */
	rc = report_build_top(&r, f, view ? BY_LOCK_AND_SITE : options->by, options->sort,
			      view ? 1 : options->perf ? 0 : options->top);
	if (rc) {
		say("%s: %s", f->path, strerror(-rc));
		return rc;
	}
	if (options->format == FORMAT_TABLE && o->nr_printed++)
		fprintf(o->out, "\n%s\n", "----");
	if (view)
		print_view(o, &r);
	else
		rc = print_rows(o, &r);
	report_free(&r);
	return rc;
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

static int finish_html(struct output *o)
{
	const char *path = o->options->html;
	int own = strcmp(path, "-") != 0, rc = 0;
	FILE *out = o->out;

	if (!json_array_size(o->processes))
		goto release;
	if (own)
		out = fopen(path, "w");
	if (!out) {
		rc = -errno;
		goto release;
	}
	html_page(o->processes, out);
	errno = 0;
	if (fflush(out) || ferror(out))
		rc = errno ? -errno : -EIO;
	if (own && fclose(out) && !rc)
		rc = -errno;
release:
	if (rc)
		say("%s cannot be written: %s", path, strerror(-rc));
	json_decref(o->processes);
	return rc;
}

int report_files(const struct report_options *options, char *const *paths, size_t nr, FILE *out)
{
	struct output o = {.options = options, .out = out};
	char error[LOAD_ERROR_MAX];
	struct data_file f;
	size_t nr_read = 0;
	int code = 0;

	if (options->format == FORMAT_CSV)
		(options->by == BY_LINE	 ? lines_csv_head :
		 options->by == BY_STACK ? stacks_csv_head :
					   csv_head)(out);
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
		nr_read++;
	}
	if (options->format == FORMAT_JSON)
		return finish_json(&o) ? EXIT_USAGE : code;
	if (options->format == FORMAT_HTML)
		return finish_html(&o) ? EXIT_USAGE : code;
	json_decref(o.processes);
	/* Of nothing that could be read nothing follows. */
	if (options->format == FORMAT_SUGGEST && nr_read)
		suggestion_print(&o.suggestion, out);
	if (o.nr_idle)
		fprintf(out, "%s%zu process%s took no lock that elide can see\n",
			o.nr_printed ? "\n" : "", o.nr_idle, o.nr_idle == 1 ? "" : "es");
	if (o.nr_printed)
		fprintf(out, "\nNext: elide report --by lock, --by line, --sort wait, --json (exact); "
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

/* What perf script printed, for the table. Return: 0 or -errno after one line. */
static int read_perf(const char *path, struct perf_samples *samples)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	int rc;

	if (!f) {
		rc = -errno;
		say("%s: %s", path, strerror(errno));
		return rc;
	}
	rc = perf_parse(f, samples);
	if (f != stdin)
		fclose(f);
	if (rc)
		say("%s: %s", path, strerror(-rc));
	else if (!samples->nr)
		say("%s: no sample in it that has an address: it takes the output of perf script",
		    path);
	return rc ? rc : samples->nr ? 0 : -EINVAL;
}

int report_by_key(const char *text, enum report_by *by)
{
	static const char *const names[] = {"lock", "site", "stack", "line"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(text, names[i]))
			continue;
		*by = BY_LOCK + i;
		return 0;
	}
	say("--by=%s: nearest is %s", text, suggest(text, names, ARRAY_SIZE(names)));
	return -EINVAL;
}

static int parse_folded(const char *text, unsigned int *type)
{
	static const char *const names[] = {"abort", "wait", "block"};

	*type = ELIDE_SAMPLE_ABORT;
	for (size_t i = 0; text && i < ARRAY_SIZE(names); i++) {
		if (strcmp(text, names[i]))
			continue;
		*type = ELIDE_SAMPLE_ABORT + i;
		return 0;
	}
	if (text)
		say("--folded=%s: nearest is %s", text, suggest(text, names, ARRAY_SIZE(names)));
	return text ? -EINVAL : 0;
}

/* Options that do not go together: 0 or -EINVAL after one line. */
static int check_options(const struct report_options *o)
{
	static const char *const views[] = {[BY_STACK] = "--by=stack", [BY_LINE] = "--by=line"};
	const char *view = o->by >= BY_STACK ? views[o->by] : NULL;

	if (o->format == FORMAT_FOLDED)
		view = "--folded";
	if (view && strcmp(o->sort, "cost")) {
		say("%s has an order of its own: --sort is for rows", view);
		return -EINVAL;
	}
	if (view && o->format == FORMAT_HTML) {
		say("%s does not go with --html: the page has what it shows", view);
		return -EINVAL;
	}
	if (o->by != BY_LOCK_AND_SITE && (o->format == FORMAT_FOLDED || o->format == FORMAT_SUGGEST)) {
		say("--by does not go with %s",
		    o->format == FORMAT_FOLDED ? "--folded" : "--suggest");
		return -EINVAL;
	}
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
	case OPT_HTML:
		o->format = FORMAT_HTML;
		o->html = optarg;
		return 0;
	case OPT_CSV:
		o->format = FORMAT_CSV;
		return 0;
	case OPT_FOLDED:
		o->format = FORMAT_FOLDED;
		return parse_folded(optarg, &o->folded);
	case OPT_SUGGEST:
		o->format = FORMAT_SUGGEST;
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
	struct perf_samples samples = {0};
	const char *perf = NULL;

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
		else if (key == OPT_PERF)
			perf = optarg;
		else
			rc = apply(key, &o, &top_given);
	}
	if (!rc)
		rc = check_options(&o);
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
	if (perf && (o.format != FORMAT_TABLE || is_view(&o))) {
		say("--perf goes with the table only");
		goto free_paths;
	}
	if (perf && read_perf(perf, &samples))
		goto free_paths;
	o.perf = perf ? &samples : NULL;
	if (!top_given)
		o.top = o.format == FORMAT_TABLE || o.format == FORMAT_SUGGEST ? REPORT_TOP :
			o.format == FORMAT_HTML ? REPORT_TOP_HTML : 0;
	code = report_files(&o, all.path, all.nr, stdout);
free_paths:
	perf_free(&samples);
	paths_free(&given);
	paths_free(&all);
	return code;
}

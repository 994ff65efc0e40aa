// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd-report.c - elide report: which files, in which format.
 *
 * Must never write to a data file.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/colour.h"
#include "../base/exit.h"
#include "../base/intern.h"
#include "../base/messages.h"
#include "../base/settings.h"
#include "../base/text.h"
#include "../live/live.h"
#include "../model/perf.h"
#include "../model/rank.h"
#include "../model/run-files.h"
#include "../print/output.h"
#include "cmd.h"

/* Option keys without a letter; those of the formats follow, in the order of report_outputs. */
enum { OPT_SORT = 256, OPT_TOP, OPT_BY, OPT_WIDTH, OPT_NO_CHILDREN, OPT_PERF, OPT_COLOUR,
       OPT_MERGE, OPT_EACH, OPT_OUTPUT, OPT_SECOND = 512 };

/* The options before those of the formats, and after them. */
static const struct option_desc first_options[] = {
	{'i', "input", "FILE", "data file to report on (elide.data); may be given again"},
	{OPT_SORT, "sort", "KEY", "order of the rows: cost (default) or a column's name",
	 report_sort_keys},
	{OPT_TOP, "top", "N", "print N rows, 0 for all (20 in the table, 500 on a page, else all)"},
	{OPT_BY, "by", "WHAT", "sum over: lock, or site; or show what was sampled: stack, line; "
	 "or thread, time, chain", report_by_words},
};

static const struct option_desc last_options[] = {
	{OPT_WIDTH, "width", "N", "columns of the table (those of the terminal)"},
	{OPT_NO_CHILDREN, "no-children", NULL, "leave out FILE.PID of child processes"},
	{OPT_MERGE, "merge", NULL, "one report for all files, their rows summed (the table's default)"},
	{OPT_EACH, "each", NULL, "a report for each process (the default of --json and --csv)"},
	{OPT_COLOUR, "color", "WHEN", "colour: auto (default, on a terminal), always, never",
	 colour_words},
	{OPT_PERF, "perf", "FILE", "join the samples of perf, as perf script prints them (- stdin)"},
	OPTION_HELP,
};

/* Fills @to, which has room for OPTIONS_MAX: the number of options. */
static size_t all_options(struct option_desc *to)
{
	size_t nr = ARRAY_SIZE(first_options);

	memcpy(to, first_options, sizeof(first_options));
	for (size_t i = 0; i < nr_report_outputs; i++) {
		if (!report_outputs[i]->option.name)
			continue;
		to[nr] = report_outputs[i]->option;
		to[nr++].key = OPT_OUTPUT + i;
		if (!report_outputs[i]->second.name)
			continue;
		to[nr] = report_outputs[i]->second;
		to[nr++].key = OPT_SECOND + i;
	}
	memcpy(to + nr, last_options, sizeof(last_options));
	return nr + ARRAY_SIZE(last_options);
}

/* A running process may not have written the time to its data file for long. */
static void set_end(struct elide_header *h)
{
	if (live_runs(h, h->pid))
		live_set_end(h);
}

/* Remembers a file by its device and inode. Return: whether it is new; -ENOMEM. */
static int is_new(struct intern *seen, const char *path)
{
	struct {
		dev_t dev;
		ino_t ino;
	} id;
	size_t before = seen->nr;
	struct stat st;
	int64_t rc;

	memset(&id, 0, sizeof(id));
	if (stat(path, &st)) {
		rc = intern(seen, path, strlen(path));
	} else {
		id.dev = st.st_dev;
		id.ino = st.st_ino;
		rc = intern(seen, &id, sizeof(id));
	}
	return rc < 0 ? -ENOMEM : seen->nr > before;
}

/* Left-out files of other runs that the message names, at most. */
#define STALE_NAMED 3

/* Reports data files FILE.PID that are left out because they are of another run than FILE. */
static void tell_stale(const char *path, uint64_t run)
{
	char list[512] = "";
	struct paths stale = {0};
	size_t len = 0;

	/* Without a launcher files have no run by which to distinguish them. */
	if (run_files_other(&stale, path, run ? run : UINT64_MAX, run_files_is_child))
		return;
	for (size_t i = 0; i < stale.nr && i < STALE_NAMED && len < sizeof(list); i++)
		len += snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "", stale.path[i]);
	if (stale.nr)
		say("%zu data file%s of other %s %s left out: %s%s", stale.nr, plural(stale.nr),
		    run ? "runs" : "processes", stale.nr == 1 ? "is" : "are", list,
		    stale.nr > STALE_NAMED ? ", ..." : "");
	paths_free(&stale);
}

/* If more files than this are given, those named like a child are not searched for children of their own. */
#define CHILDREN_OF_CHILDREN 64

/* The name without a child's ".PID" is not empty. */
static int has_name_of_child(const char *path)
{
	const char *dot = strrchr(base_name(path), '.');

	return dot && run_files_is_child(dot);
}

/*
 * Adds a file and, if @children, FILE.PID of the same run, unless they are in the list already.
 * @nr_given: number of files on the command line
 */
static int add_input(struct paths *all, struct intern *seen, const char *path, int children,
		     size_t nr_given)
{
	struct elide_header header;
	struct paths found = {0};
	int rc = is_new(seen, path);

	if (rc <= 0)
		return rc;
	rc = paths_add(all, path);
	if (nr_given > CHILDREN_OF_CHILDREN && has_name_of_child(path))
		return rc;
	if (!rc && children && !load_header(path, &header)) {
		if (header.run)
			rc = run_files(&found, path, header.run, run_files_is_child);
		tell_stale(path, header.run);
	}
	for (size_t i = 0; rc >= 0 && i < found.nr; i++) {
		rc = is_new(seen, found.path[i]);
		if (rc > 0)
			rc = paths_add(all, found.path[i]);
	}
	paths_free(&found);
	return rc;
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

/* Reads what perf script printed. Return: 0, or -errno after one line. */
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

/* Refuses options that do not go together. Return: 0, or -EINVAL after one line. */
static int check_options(const struct report_options *o, const struct report_output *second)
{
	static const char *const views[] = {
		[BY_STACK] = "--by=stack",
		[BY_LINE] = "--by=line",
		[BY_THREAD] = "--by=thread",
		[BY_TIME] = "--by=time",
		[BY_CHAIN] = "--by=chain",
	};
	const struct report_output *output = o->output;
	const char *view = o->by >= BY_STACK ? views[o->by] : NULL;

	if (second && second != output) {
		say("--%s goes with --%s only", second->second.name, second->option.name);
		return -EINVAL;
	}
	if (!output->rows)
		view = "--folded";
	if (view && strcmp(o->sort, "cost")) {
		say("%s has an order of its own: --sort is for rows", view);
		return -EINVAL;
	}
	if (o->by != BY_LOCK_AND_SITE && output->by_row_only) {
		say("--by does not go with --%s", output->option.name);
		return -EINVAL;
	}
	if (o->by >= BY_STACK && !output->views[VIEW(o->by)]) {
		say("%s does not go with --%s%s", view, output->option.name,
		    output == &output_html ? ": the page has what it shows" : "");
		return -EINVAL;
	}
	return 0;
}

/*
 * Applies one option. *@second: the format that an option requires, if there was one.
 * Return: 0, or -EINVAL after one line.
 */
static int apply(int key, struct report_options *o, int *top_given,
		 const struct report_output **second)
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
	case OPT_COLOUR:
		return colour_option(optarg);
	case OPT_MERGE:
	case OPT_EACH:
		o->merge = key == OPT_MERGE ? MERGE_ALL : MERGE_NONE;
		return 0;
	}
	if (key < OPT_OUTPUT)
		return -EINVAL;
	if (key >= OPT_SECOND) {
		*second = report_outputs[key - OPT_SECOND];
		return (*second)->second_argument(o, optarg);
	}
	o->output = report_outputs[key - OPT_OUTPUT];
	return o->output->argument ? o->output->argument(o, optarg) : 0;
}

/**
 * cmd_report() - elide report.
 */
int cmd_report(int argc, char **argv)
{
	struct report_options o = {.output = report_outputs[0], .sort = "cost", .set_end = set_end,
				   .width = report_width(STDOUT_FILENO)};
	struct option_desc options[OPTIONS_MAX];
	size_t nr_options = all_options(options);
	int key, children = 1, top_given = 0, rc = 0, code = EXIT_USAGE;
	struct paths given = {0}, all = {0};
	struct intern seen = {0};
	struct perf_samples samples = {0};
	const struct report_output *second = NULL;
	const char *perf = NULL;

	colour_set(COLOUR_AUTO, STDOUT_FILENO);
	while (!rc && (key = options_next(argc, argv, options, nr_options, 0)) != OPTIONS_END) {
		if (key == 'h') {
			options_help("report [OPTION...] [FILE...]",
				     "Reports on each lock and each call site of a run.",
				     options, nr_options);
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
			rc = apply(key, &o, &top_given, &second);
	}
	if (!rc)
		rc = check_options(&o, second);
	if (rc)
		goto free_paths;
	while (!rc && optind < argc)
		rc = paths_add(&given, argv[optind++]);
	if (!rc && !given.nr)
		rc = paths_add(&given, setting_find("OUTPUT")->def);
	for (size_t i = 0; !rc && i < given.nr; i++)
		rc = add_input(&all, &seen, given.path[i], children, given.nr);
	if (rc)
		goto free_paths;
	if (perf && (o.output != &output_table || report_is_view(&o))) {
		say("--perf goes with the table only");
		goto free_paths;
	}
	if (perf && o.merge == MERGE_ALL) {
		say("--perf does not go with --merge: its samples are of one process");
		goto free_paths;
	}
	if (perf && read_perf(perf, &samples))
		goto free_paths;
	o.perf = perf ? &samples : NULL;
	if (!top_given)
		o.top = o.output->top;
	code = report_files(&o, all.path, all.nr, stdout);
free_paths:
	intern_free(&seen);
	perf_free(&samples);
	paths_free(&given);
	paths_free(&all);
	return code;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output.c - prints data files in a format of elide report.
 *
 * Must never know what a format prints.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "../../lib/compiler.h"
#include "../base/exit.h"
#include "../base/messages.h"
#include "../base/progress.h"
#include "../model/file/faults.h"
#include "../model/merge.h"
#include "output.h"

const struct report_output *const report_outputs[] = {
	&output_table, &output_json, &output_csv, &output_html, &output_folded, &output_dot, &output_suggest,
	&output_pprof, &output_openmetrics, &output_trace,
};
const size_t nr_report_outputs = ARRAY_SIZE(report_outputs);

int report_width(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col)
		return WIDTH_UNBOUNDED;
	return size.ws_col;
}

bool report_is_view(const struct report_options *o)
{
	return o->by >= BY_STACK || !o->output->rows;
}

static int report_file(struct output *o, const struct data_file *f)
{
	const struct report_options *options = o->options;
	const struct report_output *output = options->output;
	bool view = report_is_view(options);
	struct report r;
	int rc;

	/* A view needs no rows, but at least one is built. perf's samples may fall into any row. */
	rc = report_build_top(&r, f, view ? BY_LOCK_AND_SITE : options->by, options->sort,
			      view ? 1 : options->perf ? 0 : options->top);
	if (rc) {
		say("%s: %s", f->path, strerror(-rc));
		return rc;
	}
	if (!view)
		rc = output->rows(o, &r);
	else
		rc = output->views[options->by < BY_STACK ? VIEW(BY_STACK) : VIEW(options->by)](o, &r);
	report_free(&r);
	return rc;
}

/* Should there be one report for all files? */
static bool is_merged(const struct output *o)
{
	enum report_merge merge = o->options->merge;

	if (merge != MERGE_DEFAULT || o->nr_files < 2)
		return merge == MERGE_ALL && o->nr_files > 1;
	for (size_t i = 0; i < o->nr_files; i++)
		if (!o->files[i].header.run || o->files[i].header.run != o->files[0].header.run)
			return false;
	/* The addresses of perf's samples are those of one process. */
	return o->options->output->merges && !o->options->perf;
}

static int report_merged(struct output *o)
{
	struct data_file merged;
	int rc = merge_files(&merged, o->files, o->nr_files);

	if (rc) {
		say("%s", strerror(-rc));
		return rc;
	}
	rc = report_file(o, &merged);
	merge_free(&merged);
	return rc;
}

/* Merges the rows of a library that was loaded at several addresses. */
static int report_one(struct output *o, const struct data_file *file)
{
	struct data_file merged;
	int rc;

	if (o->options->perf || !merge_has_reloads(file))
		return report_file(o, file);
	rc = merge_files(&merged, file, 1);
	if (rc) {
		say("%s", strerror(-rc));
		return rc;
	}
	merged.nr_processes = file->nr_processes;
	rc = report_file(o, &merged);
	merge_free(&merged);
	return rc;
}

static int report_all(struct output *o)
{
	bool merged = is_merged(o);
	int rc = merged ? report_merged(o) : 0;

	if (merged && (!o->options->output->each_too || o->options->merge == MERGE_ALL))
		return rc;
	for (size_t i = 0; i < o->nr_files; i++)
		rc = report_one(o, &o->files[i]) ? -EIO : rc;
	return rc;
}

/* Files that remain open, at most; others are opened each time that their rows are read. */
#define OPEN_MAX_FILES 64

/* Reports what is missing in a file. */
static void tell_faults(const struct data_file *f, int *code)
{
	char text[LOAD_ERROR_MAX];

	if (!faults_of(f, text))
		return;
	say("%s; what is left is reported", text);
	if (!*code)
		*code = EXIT_CONDITION;
}

/* Loads the files that can be read and are not left out. Prints a line for each fault, and sets *@code. */
static void load_all(struct output *o, struct data_file *files, char *const *paths, size_t nr, int *code)
{
	const struct report_output *output = o->options->output;
	char error[LOAD_ERROR_MAX];

	for (size_t i = 0; i < nr; i++) {
		struct data_file *f = &files[o->nr_files];
		int err = load(paths[i], f, error);

		progress(i, nr);

		if (err) {
			say("%s", error);
			*code = exit_unread(*code, err);
			continue;
		}
		if (o->options->set_end)
			o->options->set_end(&f->header);
		err = load_base(f);
		if (err)
			*code = EXIT_USAGE;
		else
			tell_faults(f, code);
		if (err || (output->skip && output->skip(o, f))) {
			load_free(f);
			continue;
		}
		/* Descriptors are few, files may be many. */
		if (o->nr_files++ >= OPEN_MAX_FILES)
			load_close(f);
	}
	progress(nr, nr);
}

int report_files(const struct report_options *options, char *const *paths, size_t nr, FILE *out)
{
	const struct report_output *output = options->output;
	struct data_file *files = calloc(nr + 1, sizeof(*files));
	struct output o = {.options = options, .out = out, .files = files,
			   .state = calloc(1, output->state_size + 1)};
	int code = 0;

	if (!o.state || !files) {
		say("%s", strerror(ENOMEM));
		free(o.state);
		free(files);
		return EXIT_USAGE;
	}
	if (output->begin)
		output->begin(&o);
	load_all(&o, files, paths, nr, &code);
	if (report_all(&o))
		code = EXIT_USAGE;
	if (output->end && output->end(&o))
		code = EXIT_USAGE;
	for (size_t i = 0; i < o.nr_files; i++)
		load_free(&files[i]);
	free(files);
	free(o.state);
	return code;
}

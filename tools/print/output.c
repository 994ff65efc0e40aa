// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output.c - data files in one of the formats of elide report.
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
#include "output.h"

const struct report_output *const report_outputs[] = {
	&output_table, &output_json, &output_csv, &output_html, &output_folded, &output_suggest,
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
	return o->by == BY_STACK || o->by == BY_LINE || !o->output->rows;
}

static int report_file(struct output *o, const struct data_file *f)
{
	const struct report_options *options = o->options;
	const struct report_output *output = options->output;
	bool view = report_is_view(options);
	struct report r;
	int rc;

	if (output->skip && output->skip(o, f))
		return 0;
	/* A view needs no rows: one is the least there is. A sample of perf may fall into any row. */
	rc = report_build_top(&r, f, view ? BY_LOCK_AND_SITE : options->by, options->sort,
			      view ? 1 : options->perf ? 0 : options->top);
	if (rc) {
		say("%s: %s", f->path, strerror(-rc));
		return rc;
	}
	if (!view)
		rc = output->rows(o, &r);
	else
		rc = (options->by == BY_LINE ? output->lines : output->stacks)(o, &r);
	report_free(&r);
	return rc;
}

int report_files(const struct report_options *options, char *const *paths, size_t nr, FILE *out)
{
	const struct report_output *output = options->output;
	struct output o = {.options = options, .out = out,
			   .state = calloc(1, output->state_size + 1)};
	char error[LOAD_ERROR_MAX];
	struct data_file f;
	int code = 0;

	if (!o.state) {
		say("%s", strerror(ENOMEM));
		return EXIT_USAGE;
	}
	if (output->begin)
		output->begin(&o);
	for (size_t i = 0; i < nr; i++) {
		if (load(paths[i], &f, error)) {
			say("%s", error);
			code = EXIT_USAGE;
			continue;
		}
		if (load_base(&f) || report_file(&o, &f))
			code = EXIT_USAGE;
		load_free(&f);
		o.nr_read++;
	}
	if (output->end && output->end(&o))
		code = EXIT_USAGE;
	free(o.state);
	return code;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output-suggest.c - elide report --suggest: the settings that follow from a report, a file for
 * elide run --conf.
 *
 * Must never print settings if no file could be read.
 */
#include "../../lib/compiler.h"
#include "output.h"
#include "suggestion.h"

static int rows(struct output *o, const struct report *r)
{
	return suggestion_add(o->state, r);
}

static int end(struct output *o)
{
	if (o->nr_files)
		suggestion_print(o->state, o->out);
	return 0;
}

const struct report_output output_suggest = {
	.option = {.name = "suggest", .help = "the settings that follow, a file for elide run"},
	.top = REPORT_TOP,
	.by_row_only = true,
	.state_size = sizeof(struct suggestion),
	.rows = rows,
	.end = end,
};

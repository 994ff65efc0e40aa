// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output-csv.c - elide report --csv.
 *
 * Must never round.
 */
#include "csv.h"
#include "output.h"
#include "view/view-chain.h"
#include "view/view-line.h"
#include "view/view-stack.h"
#include "view/view-thread.h"
#include "view/view-time.h"

static void begin(struct output *o)
{
	switch (o->options->by) {
	case BY_LINE:
		lines_csv_head(o->out);
		break;
	case BY_STACK:
		stacks_csv_head(o->out);
		break;
	case BY_THREAD:
		threads_csv_head(o->out);
		break;
	case BY_TIME:
		activity_csv_head(o->out);
		break;
	case BY_CHAIN:
		chain_csv_head(o->out);
		break;
	default:
		csv_head(o->out);
	}
}

static int rows(struct output *o, const struct report *r)
{
	csv_print(r, o->out, o->options->top);
	return 0;
}

static int stacks(struct output *o, const struct report *r)
{
	stacks_csv(r, o->out, o->options->top);
	return 0;
}

static int lines(struct output *o, const struct report *r)
{
	lines_csv(r, o->out, o->options->top);
	return 0;
}

static int threads(struct output *o, const struct report *r)
{
	return threads_csv(r, o->out);
}

static int times(struct output *o, const struct report *r)
{
	return activity_csv(r, o->out);
}

static int chain(struct output *o, const struct report *r)
{
	return chain_csv(r, o->out);
}

const struct report_output output_csv = {
	.option = {.name = "csv", .help = "exact numbers as comma-separated values"},
	.begin = begin,
	.rows = rows,
	.views = {
		[VIEW(BY_STACK)] = stacks,
		[VIEW(BY_LINE)] = lines,
		[VIEW(BY_THREAD)] = threads,
		[VIEW(BY_TIME)] = times,
		[VIEW(BY_CHAIN)] = chain,
	},
};

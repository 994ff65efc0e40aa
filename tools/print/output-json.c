// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output-json.c - elide report --json: one object, that of the only file or that of all.
 *
 * Must never round a counter.
 */
#include "../../lib/compiler.h"
#include "json-report.h"
#include "output.h"
#include "view-line.h"
#include "view-stack.h"
#include "view-thread.h"
#include "view-time.h"

struct state {
	json_t *processes;
};

static void begin(struct output *o)
{
	((struct state *)o->state)->processes = json_array();
}

static int add(struct output *o, json_t *process)
{
	json_array_append_new(((struct state *)o->state)->processes, process);
	return 0;
}

static int rows(struct output *o, const struct report *r)
{
	return add(o, json_report(r, o->options->top));
}

static int stacks(struct output *o, const struct report *r)
{
	json_t *json = json_head(r);

	json_object_set_new(json, "stacks", stacks_json(r, o->options->top));
	return add(o, json);
}

static int lines(struct output *o, const struct report *r)
{
	json_t *json = json_head(r);

	json_object_set_new(json, "lines", lines_json(r, o->options->top));
	return add(o, json);
}

static int threads(struct output *o, const struct report *r)
{
	json_t *json = json_head(r);

	json_object_set_new(json, "threads", threads_json(r));
	return add(o, json);
}

static int times(struct output *o, const struct report *r)
{
	json_t *json = json_head(r);

	json_object_set_new(json, "activity", activity_json(r));
	return add(o, json);
}

static int end(struct output *o)
{
	json_t *all = ((struct state *)o->state)->processes, *only;

	if (!json_array_size(all)) {
		json_decref(all);
		return 0;
	}
	if (json_array_size(all) > 1)
		return json_print(json_pack("{s:i, s:o}", "schema", REPORT_SCHEMA, "processes",
					    all),
				  o->out);
	only = json_incref(json_array_get(all, 0));
	json_decref(all);
	return json_print(only, o->out);
}

const struct report_output output_json = {
	.option = {.name = "json", .help = "exact numbers as JSON, see elide-data(5)"},
	.state_size = sizeof(struct state),
	.begin = begin,
	.rows = rows,
	.views = {
		[VIEW(BY_STACK)] = stacks,
		[VIEW(BY_LINE)] = lines,
		[VIEW(BY_THREAD)] = threads,
		[VIEW(BY_TIME)] = times,
	},
	.end = end,
};

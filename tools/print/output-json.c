// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output-json.c - elide report --json: one object, for the only file or for all.
 *
 * Must never round a counter.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/messages.h"
#include "json-report.h"
#include "output.h"
#include "view/view-chain.h"
#include "view/view-line.h"
#include "view/view-stack.h"
#include "view/view-thread.h"
#include "view/view-time.h"

/* The processes so far, as text: as objects they take seven times the memory. */
struct state {
	char **processes;
	size_t nr;
};

static int add(struct output *o, json_t *process)
{
	struct state *s = o->state;
	char *text = json_string_of(process), **grown = reallocarray(s->processes, s->nr + 1, sizeof(*grown));

	if (grown)
		s->processes = grown;
	if (!text || !grown) {
		free(text);
		say("%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	grown[s->nr++] = text;
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

static int chain(struct output *o, const struct report *r)
{
	json_t *json, *all;
	int rc = chain_json(r, &all);

	if (rc)
		return rc;
	json = json_head(r);
	json_object_set_new(json, "chain", all);
	return add(o, json);
}

/* Prints a text with all lines but the first indented by @indent spaces. */
static void print_indented(FILE *out, const char *text, int indent)
{
	for (const char *end; (end = strchr(text, '\n')); text = end + 1)
		fprintf(out, "%.*s\n%*s", (int)(end - text), text, indent, "");
	fputs(text, out);
}

static int end(struct output *o)
{
	struct state *s = o->state;

	if (s->nr > 1)
		fprintf(o->out, "{\n \"schema\": %d,\n \"processes\": [", REPORT_SCHEMA);
	for (size_t i = 0; i < s->nr; i++) {
		if (s->nr > 1)
			fprintf(o->out, "%s\n  ", i ? "," : "");
		print_indented(o->out, s->processes[i], s->nr > 1 ? 2 : 0);
		free(s->processes[i]);
	}
	if (s->nr)
		fputs(s->nr > 1 ? "\n ]\n}\n" : "\n", o->out);
	free(s->processes);
	return ferror(o->out) ? -EIO : 0;
}

const struct report_output output_json = {
	.option = {.name = "json", .help = "exact numbers as JSON, see elide-data(5)"},
	.state_size = sizeof(struct state),
	.rows = rows,
	.views = {
		[VIEW(BY_STACK)] = stacks,
		[VIEW(BY_LINE)] = lines,
		[VIEW(BY_THREAD)] = threads,
		[VIEW(BY_TIME)] = times,
		[VIEW(BY_CHAIN)] = chain,
	},
	.end = end,
};

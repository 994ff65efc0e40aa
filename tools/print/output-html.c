// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output-html.c - elide report --html: one page for all files, in a file of its own.
 *
 * Must never leave an incomplete page without saying so.
 */
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/replace.h"
#include "html/html.h"
#include "output.h"

struct state {
	json_t *parts;
};

static int argument(struct report_options *o, const char *text)
{
	o->file = text;
	return 0;
}

static void begin(struct output *o)
{
	((struct state *)o->state)->parts = json_array();
}

static int rows(struct output *o, const struct report *r)
{
	json_array_append_new(((struct state *)o->state)->parts, html_tree(r, o->options->top));
	return 0;
}

/* The user may have named the data file by mistake. */
static bool is_page(const char *head, size_t len)
{
	char within[HTML_MARK_WITHIN + 1];

	snprintf(within, sizeof(within), "%.*s", (int)len, head);
	return strstr(within, HTML_MARK) != NULL;
}

static int end(struct output *o)
{
	json_t *parts = ((struct state *)o->state)->parts;
	struct replacement file;
	int rc = 0;

	if (json_array_size(parts))
		rc = replace_begin(&file, o->options->file, "page of elide report", o->out, is_page);
	if (json_array_size(parts) && !rc) {
		html_page(parts, file.out);
		rc = replace_end(&file, 0);
	}
	json_decref(parts);
	return rc;
}

const struct report_output output_html = {
	.option = {.name = "html", .arg = "FILE",
		   .help = "a page for a browser that needs nothing else; - for stdout"},
	.top = REPORT_TOP_HTML,
	.merges = true,
	.each_too = true,
	.state_size = sizeof(struct state),
	.argument = argument,
	.begin = begin,
	.rows = rows,
	.end = end,
};

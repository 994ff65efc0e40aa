// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output-html.c - elide report --html: one page for all files, in a file of its own.
 *
 * Must never leave a page that is not whole without saying so.
 */
#include <errno.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/messages.h"
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

static int write_page(struct output *o, const json_t *parts)
{
	const char *path = o->options->file;
	int own = strcmp(path, "-") != 0, rc = 0;
	FILE *out = own ? fopen(path, "w") : o->out;

	if (!out)
		return -errno;
	html_page(parts, out);
	errno = 0;
	if (fflush(out) || ferror(out))
		rc = errno ? -errno : -EIO;
	if (own && fclose(out) && !rc)
		rc = -errno;
	return rc;
}

static int end(struct output *o)
{
	json_t *parts = ((struct state *)o->state)->parts;
	int rc = json_array_size(parts) ? write_page(o, parts) : 0;

	if (rc)
		say("%s cannot be written: %s", o->options->file, strerror(-rc));
	json_decref(parts);
	return rc;
}

const struct report_output output_html = {
	.option = {.name = "html", .arg = "FILE",
		   .help = "a page for a browser that needs nothing else; - for stdout"},
	.top = REPORT_TOP_HTML,
	.state_size = sizeof(struct state),
	.argument = argument,
	.begin = begin,
	.rows = rows,
	.end = end,
};

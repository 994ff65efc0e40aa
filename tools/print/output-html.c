// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output-html.c - elide report --html: one page for all files, in a file of its own.
 *
 * Must never leave a page that is not whole without saying so.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/*
 * Opens the file of the page. One that is there and has something in it must be an earlier page,
 * because a name given by mistake may be that of the data.
 *
 * Return: NULL, and errno set; EEXIST for a file that is no page.
 */
static FILE *open_page(const char *path)
{
	char head[HTML_MARK_WITHIN + 1];
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666), error = EEXIST;
	struct stat st;
	ssize_t n;

	/* A device or a pipe holds nothing that could be lost, and may not be readable. */
	if (fd < 0 || (!fstat(fd, &st) && !S_ISREG(st.st_mode))) {
		if (fd >= 0)
			close(fd);
		else if (errno != EACCES || stat(path, &st) || S_ISREG(st.st_mode))
			return NULL;
		return fopen(path, "we");
	}
	n = read(fd, head, sizeof(head) - 1);
	head[n > 0 ? n : 0] = '\0';
	if (n < 0 || (n && !strstr(head, HTML_MARK)) || ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET)) {
		error = n > 0 && strstr(head, HTML_MARK) ? errno : error;
		close(fd);
		errno = error;
		return NULL;
	}
	return fdopen(fd, "w");
}

static int write_page(struct output *o, const json_t *parts)
{
	const char *path = o->options->file;
	int own = strcmp(path, "-") != 0, rc = 0;
	FILE *out = own ? open_page(path) : o->out;

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

	if (rc == -EEXIST)
		say("%s is there and is no page of elide report: it is left as it is",
		    o->options->file);
	else if (rc)
		say("%s cannot be written: %s", o->options->file, strerror(-rc));
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

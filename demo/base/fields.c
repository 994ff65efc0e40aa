// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fields.c - lists of fields, printed as JSON or CSV, and a line of progress (see fields.h).
 */
#include "fields.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/** fields_add() - add a field whose value is printed by @fmt in the notation of JSON */
void fields_add(struct fields *f, const char *name, const char *fmt, ...)
{
	va_list ap;

	snprintf(f->all[f->nr].name, FIELD_NAME_LEN, "%s", name);
	va_start(ap, fmt);
	vsnprintf(f->all[f->nr++].text, FIELD_TEXT_LEN, fmt, ap);
	va_end(ap);
}

/** fields_text() - add a text without characters that JSON escapes */
void fields_text(struct fields *f, const char *name, const char *text)
{
	fields_add(f, name, "\"%s\"", text);
}

/** fields_number() - add a number */
void fields_number(struct fields *f, const char *name, uint64_t number)
{
	fields_add(f, name, "%" PRIu64, number);
}

/** fields_grouped() - add a number to a group */
void fields_grouped(struct fields *f, const char *group, const char *name, uint64_t number)
{
	char full[FIELD_NAME_LEN];

	snprintf(full, sizeof(full), "%s.%s", group, name);
	fields_number(f, full, number);
}

/* Length of the group in a field's name, 0 without a group. */
static size_t group_len(const char *name)
{
	const char *point = strchr(name, '.');

	return point ? (size_t)(point - name) : 0;
}

/**
 * fields_json() - print the fields as a JSON object
 * @f: the fields; those of a group are consecutive
 */
void fields_json(const struct fields *f)
{
	const char *group = "";
	size_t open = 0;

	putchar('{');
	for (unsigned int i = 0; i < f->nr; i++) {
		const char *name = f->all[i].name;
		size_t len = group_len(name);
		bool same = len && len == open && !strncmp(name, group, len);

		if (open && !same)
			putchar('}');
		if (i)
			putchar(',');
		if (len && !same)
			printf("\"%.*s\":{", (int)len, name);
		printf("\"%s\":%s", name + (len ? len + 1 : 0), f->all[i].text);
		group = name;
		open = len;
	}
	puts(open ? "}}" : "}");
}

/** fields_csv() - print a line of names and a line of values, separated by commas */
void fields_csv(const struct fields *f)
{
	for (unsigned int i = 0; i < f->nr; i++)
		printf("%s%s", i ? "," : "", f->all[i].name);
	putchar('\n');
	for (unsigned int i = 0; i < f->nr; i++)
		printf("%s%s", i ? "," : "", f->all[i].text);
	putchar('\n');
}

/**
 * progress_show() - show the progress of a phase on a terminal
 * @what: name of the phase
 * @done: part of @all that is done
 * @all: size of the phase, at least 1
 */
void progress_show(const char *what, uint64_t done, uint64_t all)
{
	static const char bar[] = "########################################";
	int filled = (int)((double)done / (double)all * (double)(sizeof(bar) - 1));

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%s [%-40.*s] %3d %%", what, filled, bar,
			(int)((double)done / (double)all * 100));
}

/** progress_clear() - clear the line of progress_show() at the end of a phase */
void progress_clear(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

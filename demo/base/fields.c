// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fields.c - prints results as JSON or as CSV.
 *
 * Both have the same list of fields. JSON makes an object of the part of a name before
 * its point; CSV prints the name as it is.
 */
#include "fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/**
 * field() - append a field
 * @f: the list, with room for it
 * @name: its name, "group.name" or "name"
 * @fmt: format of its value, in the notation of JSON
 */
void field(struct fields *f, const char *name, const char *fmt, ...)
{
	va_list ap;

	snprintf(f->all[f->nr].name, sizeof(f->all[0].name), "%s", name);
	va_start(ap, fmt);
	vsnprintf(f->all[f->nr++].text, sizeof(f->all[0].text), fmt, ap);
	va_end(ap);
}

/**
 * field_text() - append a text
 * @f: the list
 * @name: name of the field
 * @text: a text without characters that JSON escapes
 */
void field_text(struct fields *f, const char *name, const char *text)
{
	field(f, name, "\"%s\"", text);
}

/**
 * field_number() - append a number
 * @f: the list
 * @name: name of the field
 * @number: the number
 */
void field_number(struct fields *f, const char *name, uint64_t number)
{
	field(f, name, "%" PRIu64, number);
}

/**
 * field_grouped() - append a number to a group
 * @f: the list, whose last field is of the group or the first one of it follows
 * @group: name of the group
 * @name: name of the field in the group
 * @number: the number
 */
void field_grouped(struct fields *f, const char *group, const char *name, uint64_t number)
{
	char full[FIELD_NAME_LEN];

	snprintf(full, sizeof(full), "%s.%s", group, name);
	field_number(f, full, number);
}

/* Length of the group in a field's name, 0 without a group. */
static size_t group_len(const char *name)
{
	const char *point = strchr(name, '.');

	return point ? (size_t)(point - name) : 0;
}

/* Print the fields as a JSON object, on one line of stdout. */
static void print_json(const struct fields *f)
{
	const char *group = "";
	size_t open = 0;

	/* Fields of a group are consecutive: its object is open from its first to its last field. */
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

/**
 * fields_print() - print results on stdout as JSON or CSV
 * @f: the results; all those of a program have the same names
 * @json: print a JSON object on one line
 * @csv: print a line of values, before the first one a line of names
 *
 * Return: false if the options name neither.
 */
bool fields_print(const struct fields *f, bool json, bool csv)
{
	static bool named;

	if (json)
		print_json(f);
	for (unsigned int i = 0; csv && !named && i < f->nr; i++)
		printf("%s%c", f->all[i].name, i + 1 < f->nr ? ',' : '\n');
	for (unsigned int i = 0; csv && i < f->nr; i++)
		printf("%s%c", f->all[i].text, i + 1 < f->nr ? ',' : '\n');
	named = true;
	return json || csv;
}

/**
 * output_end() - the exit status of a program
 * @program: its name
 * @status: its status if all output was written
 *
 * An output that could not be written, as to a full disk, is an error.
 */
int output_end(const char *program, int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr, "%s: standard output: %s\n", program, strerror(errno));
	return EXIT_FAILURE;
}

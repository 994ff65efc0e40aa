// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * html-text.c - writes text and numbers into the page.
 *
 * Must never let a byte of the data file act as markup.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../base/text.h"
#include "../../names/names.h"
#include "../../names/short.h"
#include "html.h"

/* A setting must look as it is: invisible characters become question marks. */
static void escape(FILE *out, const char *text)
{
	bool hidden;
	size_t len;

	for (; text && *text; text += len) {
		len = text_char(text, &hidden);
		if (hidden || len > 1) {
			if (hidden)
				fputc('?', out);
			else
				fwrite(text, 1, len, out);
			continue;
		}
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fputc(*text, out);
		}
	}
}

void html_print(FILE *out, const char *format, ...)
{
	char spec[16];
	va_list args;

	va_start(args, format);
	for (; *format; format++) {
		size_t len = 2 + strspn(format + (*format == '%'), ".0123456789zl");

		if (*format != '%') {
			fputc(*format, out);
			continue;
		}
		snprintf(spec, sizeof(spec), "%.*s", (int)len, format);
		format += len - 1;
		switch (*format) {
		case 's':
			escape(out, va_arg(args, const char *));
			break;
		case '%':
			fputc('%', out);
			break;
		case 'f':
			fprintf(out, spec, va_arg(args, double));
			break;
		case 'u':
			if (spec[1] == 'z')
				fprintf(out, spec, va_arg(args, size_t));
			else if (spec[1] == 'l')
				fprintf(out, spec, va_arg(args, unsigned long long));
			else
				fprintf(out, spec, va_arg(args, unsigned int));
			break;
		case 'd':
			fprintf(out, spec, va_arg(args, int));
			break;
		default:
			/* A mistake in our own source; the next argument's type is unknown. */
			abort();
		}
	}
	va_end(args);
}

void html_count(FILE *out, const json_t *number)
{
	char digits[24];
	int len;

	if (!json_is_integer(number)) {
		fputc('-', out);
		return;
	}
	len = snprintf(digits, sizeof(digits), "%" JSON_INTEGER_FORMAT,
		       json_integer_value(number));
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0 && digits[i - 1] != '-')
			fputc(',', out);
		fputc(digits[i], out);
	}
}

void html_ns(FILE *out, const json_t *ns)
{
	char text[32] = "-";

	if (json_is_number(ns))
		scale_ns(text, sizeof(text), json_number_value(ns));
	fputs(text, out);
}

void html_seconds(FILE *out, double s)
{
	char text[32];

	scale_ns(text, sizeof(text), 1e9 * s);
	fputs(text, out);
}

const char *text_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

uint64_t count_of(const json_t *o, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(o, key));

	return v > 0 ? v : 0;
}

size_t list_size(const json_t *o, const char *key)
{
	return json_array_size(json_object_get(o, key));
}

void html_symbol(FILE *out, const char *symbol)
{
	char shortened[SHORT_NAME];
	const char *name = readable(shortened, sizeof(shortened), symbol);

	if (name == symbol)
		html_print(out, "<code>%s</code>", symbol);
	else
		html_print(out, "<code title=\"%s\">%s</code>", symbol, name);
}

void html_place(FILE *out, const json_t *place)
{
	const char *symbol = text_of(place, "symbol"), *file = text_of(place, "file");
	const char *object = text_of(place, "object"), *into = text_of(place, "inlined_into");

	if (!json_is_object(place)) {
		fputs("a place that is not known", out);
		return;
	}
	html_symbol(out, symbol ? symbol : "unknown");
	if (file)
		html_print(out, " <span class=at>%s:%llu</span>", base_name(file),
			   (unsigned long long)count_of(place, "line"));
	else if (object)
		html_print(out, " <span class=at>in %s</span>", object);
	if (into) {
		html_print(out, " <span class=at>inlined into</span> ");
		html_symbol(out, into);
	}
}

void html_lock_name(struct page *p, const json_t *o, const char *lock)
{
	const json_t *names = json_object_get(p->r, "names");
	const char *class = text_of(o, "class"), *name = class ? text_of(names, class) : NULL;

	if (!name && lock)
		name = text_of(names, lock);
	if (!name)
		html_symbol(p->out, lock ? lock : "any lock");
	else if (lock && strcmp(name, lock))
		html_print(p->out, "<code title=\"%s\">%s</code>", lock, name);
	else
		html_print(p->out, "<code>%s</code>", name);
}

const char *html_kind(const json_t *o)
{
	const char *kind = text_of(o, "kind");

	for (unsigned int i = 0; kind && i < ELIDE_NR_KINDS; i++)
		if (!strcmp(kind, kind_id(i)))
			return kind_name(i);
	return kind;
}

void html_lock(struct page *p, const json_t *o)
{
	const json_t *site = json_object_get(o, "site");

	html_lock_name(p, o, text_of(o, "lock"));
	html_print(p->out, " <span class=at>%s</span>", html_kind(o));
	if (!json_is_null(site)) {
		fputs(" at ", p->out);
		html_place(p->out, site);
	}
}

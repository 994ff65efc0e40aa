/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* text.c - see text.h. */
#include <stdint.h>
#include <stdbool.h>
#include <string.h>

#include "text.h"

struct text {
	char *to;
	size_t size; /* without the NUL */
	size_t len;  /* may be more than fits */
};

static void add(struct text *t, const char *s, size_t n)
{
	for (; n; n--, s++, t->len++)
		if (t->len < t->size)
			t->to[t->len] = *s;
}

static void add_number(struct text *t, unsigned long value, unsigned int base, bool negative)
{
	char digits[21], *p = digits + sizeof(digits);

	do
		*--p = "0123456789abcdef"[value % base];
	while (value /= base);
	if (negative)
		*--p = '-';
	add(t, p, digits + sizeof(digits) - p);
}

/* One conversion, after the '%'. Return: behind its letter. */
static const char *convert(struct text *t, const char *f, va_list *args)
{
	size_t most = SIZE_MAX;
	bool is_long = false;
	const char *s;
	long number;
	char c;

	if (*f == '.' && f[1] == '*') {
		most = va_arg(*args, int);
		f += 2;
	} else if (*f == '.') {
		for (f++, most = 0; *f >= '0' && *f <= '9'; f++)
			most = most * 10 + (*f - '0');
	}
	for (; *f == 'l' || *f == 'z'; f++)
		is_long = true;
	switch (*f) {
	case 's':
		s = va_arg(*args, const char *);
		add(t, s, strnlen(s, most));
		break;
	case 'c':
		c = va_arg(*args, int);
		add(t, &c, 1);
		break;
	case 'd':
		number = is_long ? va_arg(*args, long) : va_arg(*args, int);
		add_number(t, number < 0 ? -(unsigned long)number : (unsigned long)number, 10,
			   number < 0);
		break;
	case 'u':
	case 'x':
		add_number(t, is_long ? va_arg(*args, unsigned long) : va_arg(*args, unsigned int),
			   *f == 'u' ? 10 : 16, false);
		break;
	default: /* "%%" */
		add(t, f, *f != '\0');
	}
	return f + (*f != '\0');
}

int elide_text_list(char *to, size_t size, const char *format, va_list args)
{
	struct text t = {.to = to, .size = size ? size - 1 : 0};
	va_list rest;

	va_copy(rest, args);
	while (*format)
		if (*format == '%')
			format = convert(&t, format + 1, &rest);
		else
			add(&t, format++, 1);
	va_end(rest);
	if (size)
		to[t.len < t.size ? t.len : t.size] = '\0';
	return t.len;
}

int elide_text(char *to, size_t size, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = elide_text_list(to, size, format, args);
	va_end(args);
	return n;
}

const char *elide_text_error(int err)
{
	/* Untranslated: strerror() reads a catalogue of translations and may allocate. */
	return strerrordesc_np(err) ?: "unknown error";
}

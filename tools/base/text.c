// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * text.c - text that users read: numbers are short, names have no control characters.
 *
 * Must never be used where a number has to be exact.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "text.h"

/* Decimals that give a number below 1000 three significant digits. */
static int decimals(double v)
{
	if (v >= 99.95)
		return 0;
	return v >= 9.995 ? 1 : 2;
}

void scale(char *to, size_t size, double v, const char *suffix)
{
	static const char units[] = " kMGTPE";
	int unit = 0;

	/* 999.5 would print as 1000. */
	while (v >= 999.5 && unit < 6) {
		v /= 1000;
		unit++;
	}
	snprintf(to, size, "%.*f%.*s%s", unit ? decimals(v) : 0, v, unit > 0, &units[unit], suffix);
}

void scale_ns(char *to, size_t size, double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	int unit = 0;

	while (ns >= 999.5 && unit < 3) {
		ns /= 1000;
		unit++;
	}
	snprintf(to, size, "%.*f%s", unit ? decimals(ns) : 0, ns, units[unit]);
}

/* The " file:line" at the end of a name; NULL if there is none. */
static const char *place_of(const char *text)
{
	const char *place = strrchr(text, ' '), *colon = place ? strrchr(place, ':') : NULL;

	return colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")] ? place : NULL;
}

void fit(char *to, const char *text, int width)
{
	int len = strlen(text), head = (width - 2) / 2;
	const char *place = place_of(text), *outer = strstr(text, " in ");

	if (!outer)
		outer = strstr(text, " via ");
	if (len <= width)
		strcpy(to, text);
	else if (place && place - text <= width)
		sprintf(to, "%.*s", (int)(place - text), text);
	else if (outer && outer - text <= width)
		sprintf(to, "%.*s", (int)(outer - text), text);
	else
		sprintf(to, "%.*s..%s", head, text, text + len - (width - 2 - head));
	/* A character may have been cut in two. */
	text_clean(to);
}

/* Texts beyond this number are fitted, but not compared. */
#define APART_MAX 4096

/* A text and what it is fitted to. */
struct fitted {
	char *to;
	const char *text;
};

static int compare_fitted(const void *x, const void *y)
{
	const struct fitted *a = x, *b = y;
	int c = strcmp(a->to, b->to);

	return c ? c : strcmp(a->text, b->text);
}

/* Puts the number of a text, of those that are fitted to the same, behind it. */
static void put_number(char *to, size_t number, int width)
{
	char mark[24];
	int room = width - snprintf(mark, sizeof(mark), "#%zu", number), used = strlen(to);

	if (number > 1 && room > 0)
		strcpy(to + (used < room ? used : room), mark);
}

void fit_apart(char (*to)[CELL_MAX + 1], const char *const *texts, size_t nr, int width)
{
	struct fitted all[APART_MAX];
	size_t number = 0;

	for (size_t i = 0; i < nr; i++) {
		fit(to[i], texts[i], width);
		if (nr <= APART_MAX)
			all[i] = (struct fitted){to[i], texts[i]};
	}
	if (!nr || nr > APART_MAX)
		return;
	qsort(all, nr, sizeof(*all), compare_fitted);
	/* Backwards, as a number changes what the text before it is compared with. */
	for (size_t i = nr, first; i > 0; i = first) {
		for (first = i - 1; first && !strcmp(all[first - 1].to, all[i - 1].to); first--)
			;
		number = 0;
		for (size_t j = first; j < i; j++) {
			number += j == first || strcmp(all[j - 1].text, all[j].text);
			put_number(all[j].to, number, width);
		}
	}
}

/* Bytes of the character of UTF-8 at @c, whose code goes to *@code; 0 if there is none (RFC 3629). */
static size_t decode(const unsigned char *c, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 :
		     c[0] < 0xf5 ? 4 : 0;

	*code = len > 1 ? c[0] & (0x7f >> len) : c[0];
	for (size_t i = 1; i < len; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (c[i] & 0x3f);
	}
	if (len > 1 && (*code < least[len] || *code > 0x10ffff || (*code >> 11) == 0xd800 >> 11))
		return 0;
	return len;
}

/* Characters that are invisible, or change the direction of the text. */
static const struct {
	uint32_t first;
	uint32_t last;
} unseen[] = {
	{0, 0x1f}, {0x7f, 0x9f}, {0x61c, 0x61c}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
	{0xfeff, 0xfeff},
};

size_t text_char(const char *text, bool *hidden)
{
	uint32_t code;
	size_t len = decode((const unsigned char *)text, &code);

	*hidden = !len;
	for (size_t i = 0; i < sizeof(unseen) / sizeof(*unseen); i++)
		*hidden |= code >= unseen[i].first && code <= unseen[i].last;
	return len ? len : 1;
}

void text_clean(char *text)
{
	char *to = text;

	while (*text) {
		bool hidden;
		size_t len = text_char(text, &hidden);

		if (hidden)
			*to++ = '?';
		else
			to = (char *)memmove(to, text, len) + len;
		text += len;
	}
	*to = '\0';
}

void print_clean(FILE *out, const char *text)
{
	while (*text) {
		bool hidden;
		size_t len = text_char(text, &hidden);

		if (hidden)
			fputc('?', out);
		else
			fwrite(text, 1, len, out);
		text += len;
	}
}

double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

const char *plural(uint64_t nr)
{
	return nr == 1 ? "" : "s";
}

bool starts_with(const char *text, const char *start)
{
	return text && !strncmp(text, start, strlen(start));
}

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void hex_text(char *to, const uint8_t *bytes, size_t nr)
{
	*to = '\0';
	for (size_t i = 0; i < nr; i++)
		sprintf(to + 2 * i, "%02x", bytes[i]);
}

void date_text(char *to, size_t size, uint64_t realtime_ns)
{
	time_t seconds = realtime_ns / 1000000000;
	struct tm tm;

	*to = '\0';
	if (realtime_ns && gmtime_r(&seconds, &tm))
		strftime(to, size, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unique-names.c - short names that are different in all rows of a report.
 *
 * Must never change a name that is unique.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/sort.h"
#include "../base/text.h"
#include "unique-names.h"

/* A short name, and its lock or call: equal ones have the same @id. */
struct name {
	char *text; /* SHORT_NAME bytes */
	const char *whole;
	const char *id;
	uint64_t address;
	const struct place *place;
};

/* Ways to lengthen a name, the most readable first. BY_FILE: by line, or offset in the function. */
enum way { BY_FILE, BY_WHOLE, BY_ADDRESS, NR_WAYS };

static int compare_names(const void *x, const void *y)
{
	const struct name *a = x, *b = y;
	int c = strcmp(a->text, b->text);

	if (!c)
		c = strcmp(a->id, b->id);
	return c ? c : by_number(a->address, b->address);
}

static bool is_same(const struct name *a, const struct name *b)
{
	return !strcmp(a->id, b->id) && a->address == b->address;
}

static void lengthen(const struct name *n, enum way way, char *to)
{
	const struct place *p = n->place;
	char line[SHORT_NAME], whole[SHORT_NAME];

	snprintf(to, SHORT_NAME, "%s", n->text);
	snprintf(line, sizeof(line), " %s:%d", p->file ? base_name(p->file) : "", p->line);
	switch (way) {
	case BY_FILE:
		if (p->file && !strstr(n->text, line))
			snprintf(to, SHORT_NAME, "%.90s%.37s", n->text, line);
		else if (!p->file && p->symbol && p->symbol_offset)
			snprintf(to, SHORT_NAME, "%.100s+0x%llx", n->text,
				 (unsigned long long)p->symbol_offset);
		return;
	case BY_WHOLE:
		if (plain_symbol(whole, sizeof(whole), n->whole) < sizeof(whole))
			memcpy(to, whole, sizeof(whole));
		return;
	default:
		snprintf(to, SHORT_NAME, "%.100s +0x%llx", n->text, (unsigned long long)p->offset);
	}
}

/* Are names that were lengthened in one way all different? Names of the same thing are neighbours. */
static bool differ(const struct name *names, size_t nr, enum way way)
{
	char text[SHORT_NAME], before[SHORT_NAME];

	/* Few have the same name; of many, those beside each other are compared. */
	for (size_t i = 1; i < nr; i++) {
		if (is_same(&names[i - 1], &names[i]))
			continue;
		lengthen(&names[i], way, text);
		for (size_t j = i > 64 ? i - 64 : 0; j < i; j++) {
			lengthen(&names[j], way, before);
			if (!is_same(&names[j], &names[i]) && !strcmp(before, text))
				return false;
		}
	}
	return true;
}

/* Names with the same text. */
static void tell_apart(struct name *names, size_t nr)
{
	enum way way = BY_FILE;
	char text[SHORT_NAME];

	if (is_same(&names[0], &names[nr - 1]))
		return;
	while (way < BY_ADDRESS && !differ(names, nr, way))
		way++;
	for (size_t i = 0; i < nr; i++) {
		lengthen(&names[i], way, text);
		memcpy(names[i].text, text, sizeof(text));
	}
}

static void all_apart(struct name *names, size_t nr)
{
	if (nr)
		qsort(names, nr, sizeof(*names), compare_names);
	for (size_t i = 0, n; i < nr; i += n) {
		for (n = 1; i + n < nr && !strcmp(names[i].text, names[i + n].text); n++)
			;
		tell_apart(&names[i], n);
	}
}

int names_make_unique(struct report *r)
{
	struct name *names = reallocarray(NULL, r->nr_built + 1, sizeof(*names));
	size_t nr = 0;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr_built; i++) {
		struct line *l = &r->lines[i];

		/* A class of an array and that of one of its elements have the same place. */
		if (l->nr_classes == 1)
			names[nr++] = (struct name){l->short_lock, l->lock, l->class,
						    0, &l->lock_place};
	}
	all_apart(names, nr);
	nr = 0;
	for (size_t i = 0; i < r->nr_built; i++) {
		struct line *l = &r->lines[i];

		if (l->nr_sites == 1)
			names[nr++] = (struct name){l->short_site, l->site, l->site, l->sum.site,
						    &l->site_place};
	}
	all_apart(names, nr);
	free(names);
	return 0;
}

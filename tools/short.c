// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * short.c - names that fit a table: the last parts of a C++ name, without its
 * arguments. The whole names stand below the table, and in JSON and CSV.
 */
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "symbolize.h"

/* "ns::a<b::c>::f(int)" -> "a::f"; what is no plain C++ name stays as it is. */
static void short_symbol(char *to, size_t size, const char *name)
{
	size_t out = 0, last = 0, before_last = 0;
	int depth = 0;

	snprintf(to, size, "%s", name);
	if (strchr(name, '{') || strstr(name, "operator"))
		return;
	for (const char *p = name; *p && (*p != '(' || depth) && out + 1 < size; p++) {
		if (*p == '<')
			depth++;
		else if (*p == '>')
			depth--;
		else if (!depth)
			to[out++] = *p;
		if (!depth && out > 2 && to[out - 1] == ':' && to[out - 2] == ':') {
			before_last = last;
			last = out;
		}
	}
	to[out] = '\0';
	memmove(to, to + before_last, out - before_last + 1);
}

void short_place(char *to, size_t size, const struct place *p, const char *before)
{
	char symbol[256];
	const char *name = p->inlined_into ? p->inlined_into : p->symbol;

	if (!name) {
		snprintf(to, size, "%s%s+0x%llx", before, p->object ? base_name(p->object) : "?",
			 (unsigned long long)p->offset);
		return;
	}
	short_symbol(symbol, sizeof(symbol), name);
	if (p->file && !p->inlined_into)
		snprintf(to, size, "%s%s %s:%d", before, symbol, base_name(p->file), p->line);
	else
		snprintf(to, size, "%s%s", before, symbol);
}

void short_lock(char *to, size_t size, const struct elide_class *c, const char *name,
		const struct place *p)
{
	if (c->type == ELIDE_CLASS_STATIC)
		snprintf(to, size, "%s", name ? name : "");
	else
		short_place(to, size, p, c->type == ELIDE_CLASS_INIT ? "init " : "first ");
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * short.c - names that fit a table: the last parts of a C++ name, without its
 * arguments. The whole names stand below the table, and in JSON and CSV.
 */
#include <stdio.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/text.h"
#include "short.h"

/* Between two "::" of a name. */
struct part {
	char text[128];
	size_t len;
	int first; /* a type stood before it */
};

/* The end of the bracket that @open begins at @p; the end of the text if it is not closed. */
static const char *skip(const char *p, char open, char close)
{
	int depth = 0;

	for (; *p; p++) {
		if (*p == open)
			depth++;
		else if (*p == close && !--depth)
			return p + 1;
	}
	return p;
}

/* The end of an operator's name, such as operator() or operator<<; @p if there is none. */
static const char *skip_operator(const char *p)
{
	const char *end = p + strlen("operator");

	if (strncmp(p, "operator", strlen("operator")))
		return p;
	if (!strncmp(end, "()", 2))
		return end + 2;
	if (strchr("<>=!+-*/%^&|~,[]", *end))
		return end + strspn(end, "<>=!+-*/%^&|~,[]");
	return *end == ' ' || *end == '"' ? end + strcspn(end, "(") : p;
}

/* A part of a name up to the next "::", without arguments: its end. */
static const char *copy_part(struct part *to, const char *p)
{
	const char *end;

	to->len = 0;
	to->first = 0;
	while (*p && strncmp(p, "::", 2)) {
		end = p + 1;
		if (*p == '{')
			end = skip(p, '{', '}');
		else if (*p == '(' && !strncmp(p, "(anonymous namespace)", 21))
			end = p + 21;
		else if (!to->len || p[-1] == ' ' || p[-1] == ':')
			end = skip_operator(p) > p ? skip_operator(p) : end;
		if (*p == '<' && end == p + 1) {
			p = skip(p, '<', '>');
			continue;
		}
		if (*p == '(' && end == p + 1) {
			/* Arguments: the name ends, or goes on with what lies in the function. */
			p = skip(p, '(', ')');
			p += strncmp(p, " const::", 8) ? 0 : 6;
			return strncmp(p, "::", 2) ? p + strlen(p) : p;
		}
		if (*p == ' ' && end == p + 1) {
			/* Before it, the type that the function returns; or an operator's name. */
			if (p[1] != '<') {
				to->len = 0;
				to->first = 1;
			}
			p++;
			continue;
		}
		for (; p < end; p++)
			if (to->len < sizeof(to->text))
				to->text[to->len++] = *p;
	}
	return p;
}

void short_symbol(char *to, size_t size, const char *name)
{
	struct part parts[2] = {0}, next;
	const char *p = name;

	while (*p) {
		p = copy_part(&next, p);
		if (!strncmp(p, "::", 2))
			p += 2;
		if (parts[1].len && parts[1].text[0] == '{' && next.len == 10 &&
		    !strncmp(next.text, "operator()", 10))
			break;
		parts[0] = parts[1];
		if (next.first)
			parts[0].len = 0;
		parts[1] = next;
	}
	snprintf(to, size, "%.*s%s%.*s", (int)parts[0].len, parts[0].text,
		 parts[0].len ? "::" : "", (int)parts[1].len, parts[1].text);
}

const char *readable(char *to, size_t size, const char *name)
{
	if (strlen(name) <= READABLE)
		return name;
	short_symbol(to, size, name);
	return to;
}

void short_place(char *to, size_t size, const struct place *p, const char *before)
{
	char symbol[256], outer[256];
	const char *name = p->symbol;

	if (!name) {
		snprintf(to, size, "%s%s+0x%llx", before, p->object ? base_name(p->object) : "?",
			 (unsigned long long)p->offset);
		return;
	}
	short_symbol(symbol, sizeof(symbol), name);
	/* A function may be inlined into several: the outer one tells its call sites apart. */
	if (p->inlined_into)
		short_symbol(outer, sizeof(outer), p->inlined_into);
	if (p->inlined_into && strcmp(outer, symbol))
		snprintf(to, size, "%s%s in %s", before, symbol, outer);
	else if (p->file)
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

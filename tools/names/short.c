// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * short.c - names that fit a table: the last parts of a name of C++ or Rust, without its
 * arguments. The whole names stand below the table, and in JSON and CSV.
 */
#include <ctype.h>
#include <stdbool.h>
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
		/* The arrow before the type that a function of Rust returns closes nothing. */
		if (*p == '-' && p[1] == '>')
			p++;
		else if (*p == open)
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

/* Names of the standard library that the compiler writes in full, and how people write them. */
static const struct {
	const char *name;
	const char *of_char;
	const char *of_wide;
} strings[] = {
	{"basic_string<", "std::string", "std::wstring"},
	{"basic_string_view<", "std::string_view", "std::wstring_view"},
};

/* Inline namespaces of std, which a reader does not need. */
static const char *const versions[] = {"__cxx11::", "__1::"};

/* Default arguments of templates. */
static const char *const defaults[] = {
	", std::allocator<", ", std::char_traits<", ", std::less<", ", std::hash<",
	", std::equal_to<", ", std::default_delete<",
};

/* The end of "std::" with the namespace of a version, if @p begins with it; else @p. */
static const char *skip_std(const char *p)
{
	const char *end = p + 5;

	if (strncmp(p, "std::", 5))
		return p;
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		if (!strncmp(end, versions[i], strlen(versions[i])))
			return end + strlen(versions[i]);
	return end;
}

/* If a string's type begins at @p, its common name in *@name: its end; else @p. */
static const char *skip_string(const char *p, const char **name)
{
	const char *type = skip_std(p), *argument, *common;

	for (size_t i = 0; type != p && i < ARRAY_SIZE(strings); i++) {
		size_t len = strlen(strings[i].name);

		if (strncmp(type, strings[i].name, len))
			continue;
		argument = type + len;
		common = !strncmp(argument, "char,", 5)	   ? strings[i].of_char :
			 !strncmp(argument, "wchar_t,", 8) ? strings[i].of_wide :
							     NULL;
		if (!common)
			return p;
		*name = common;
		return skip(argument - 1, '<', '>');
	}
	return p;
}

/* The mark of a symbol whose type has a version. */
#define ABI_TAG "[abi:cxx11]"

/* The end of the part at @p that a reader does not need; @p if there is none. */
static const char *skip_default(const char *p)
{
	if (!strncmp(p, ABI_TAG, strlen(ABI_TAG)))
		return p + strlen(ABI_TAG);
	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++)
		if (!strncmp(p, defaults[i], strlen(defaults[i])))
			return skip(p + strlen(defaults[i]) - 1, '<', '>');
	return p;
}

size_t plain_symbol(char *to, size_t size, const char *name)
{
	const char *p = name, *end, *text;
	size_t len = 0;

	while (*p) {
		bool begins = p == name || !(isalnum((unsigned char)p[-1]) || strchr("_:", p[-1]));
		size_t n;

		end = skip_default(p);
		if (end > p) {
			/* The blank in "> >" was for the removed argument. */
			p = end + (*p == ',' && end[0] == ' ' && end[1] == '>');
			continue;
		}
		text = p;
		end = begins ? skip_string(p, &text) : p;
		n = end > p ? strlen(text) : 1;
		if (end == p && begins && skip_std(p) > p) {
			end = skip_std(p);
			n = 5;
		}
		if (len + n < size)
			memcpy(to + len, text, n);
		len += n;
		p = end > p ? end : p + 1;
		/* The blank in "> >" was for the argument of the string. */
		p += text != p - 1 && n > 1 && end[-1] == '>' && p[0] == ' ' && p[1] == '>';
	}
	if (size)
		to[len < size ? len : size - 1] = '\0';
	return len;
}

/*
 * In Rust the name of a method begins with its type, as in <T>::method or <T as Trait>::method, and
 * T is a path of its own: *@last becomes its last part. Return: the end of the bracket.
 */
static const char *copy_self_type(struct part *last, const char *p)
{
	const char *end = skip(p, '<', '>'), *at = p + 1;
	char type[PLAIN_NAME];
	struct part next;

	while (at + 1 < end && strncmp(at, " as ", 4))
		at = *at == '<' ? skip(at, '<', '>') : at + 1;
	snprintf(type, sizeof(type), "%.*s", (int)(at - p - 1), p + 1);
	for (p = type; *p; p += strncmp(p, "::", 2) ? 0 : 2) {
		p = copy_part(&next, p);
		if (next.len)
			*last = next;
	}
	return end;
}

void short_symbol(char *to, size_t size, const char *name)
{
	char plain[PLAIN_NAME];
	struct part parts[2] = {0}, next;
	const char *p = plain_symbol(plain, sizeof(plain), name) < sizeof(plain) ? plain : name;

	if (*p == '<')
		p = copy_self_type(&parts[1], p);
	while (*p) {
		p = copy_part(&next, p);
		if (!strncmp(p, "::", 2))
			p += 2;
		/* Arguments after "::", as Rust has them. */
		if (!next.len)
			continue;
		/* A closure in a closure: the function that both are in says more than the outer one. */
		if (next.text[0] == '{' && parts[1].len && parts[1].text[0] == '{') {
			parts[1] = next;
			continue;
		}
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
	size_t len = plain_symbol(to, size, name);

	if (len > READABLE || len >= size)
		short_symbol(to, size, name);
	return strcmp(to, name) ? to : name;
}

void short_place(char *to, size_t size, const struct place *p)
{
	char symbol[256], outer[256];
	const char *name = p->symbol;

	if (!name) {
		snprintf(to, size, "%s+0x%llx", p->object ? base_name(p->object) : "?",
			 (unsigned long long)p->offset);
		return;
	}
	short_symbol(symbol, sizeof(symbol), name);
	/* A function may be inlined into several: the outer one distinguishes its call sites. */
	if (p->inlined_into)
		short_symbol(outer, sizeof(outer), p->inlined_into);
	if (p->inlined_into && strcmp(outer, symbol))
		snprintf(to, size, "%s in %s", symbol, outer);
	else if (p->file)
		snprintf(to, size, "%s %s:%d", symbol, base_name(p->file), p->line);
	else
		snprintf(to, size, "%s", symbol);
}

void short_lock(char *to, size_t size, const struct elide_class *c, const char *name,
		const struct place *p)
{
	if (c->type == ELIDE_CLASS_BEYOND)
		snprintf(to, size, "(beyond the limits)");
	else if (c->type == ELIDE_CLASS_STATIC)
		plain_symbol(to, size, name ? name : "");
	else if (c->type == ELIDE_CLASS_FIRST && name && !starts_with(name, "used in "))
		short_symbol(to, size, name);
	else
		short_place(to, size, p);
}

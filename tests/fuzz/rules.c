// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rules.c - the input is the text of ELIDE_LOCKS, a NUL, and a symbol's name.
 *
 * Besides, the text as a pattern must match the name exactly if a slower,
 * obvious matcher says so.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../lib/base/log.h"
#include "../../lib/state/modules.h"
#include "../../lib/state/registry.h"
#include "../../lib/state/rules.h"
#include "../../lib/state/symbol.h"
#include "fuzz.h"

/* Longest pattern and name that the obvious matcher gets: it is slow. */
#define MAX_MATCH 64

static const char *symbol;

/* In place of the rest of the engine. */
void elide_log(const char *format, ...)
{
	must(format != NULL);
}

const struct elide_module *elide_module_of(const void *address)
{
	static const struct elide_module module = {.path = "/usr/lib/libobject.so"};

	return (uintptr_t)address & 1 ? &module : NULL;
}

const struct elide_module *elide_module_of_past(uint64_t recorded)
{
	return elide_module_of((const void *)recorded);
}

int elide_symbol_find(const char *path, uint64_t address, char *name, size_t size)
{
	snprintf(name, size, "%s", symbol);
	return 0;
}

/* Whether the first @n of the name match what of the pattern was seen, for all n at once. */
static bool matches(const char *pattern, const char *name)
{
	bool now[MAX_MATCH + 1] = {true}, next[MAX_MATCH + 1];
	size_t len = strlen(name);

	for (; *pattern; pattern++) {
		next[0] = *pattern == '*' && now[0];
		for (size_t n = 1; n <= len; n++)
			next[n] = *pattern == '*' ? now[n] || next[n - 1]
						  : now[n - 1] && (*pattern == '?' ||
								   *pattern == name[n - 1]);
		memcpy(now, next, sizeof(now));
	}
	return now[len];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elide_class info = {.type = ELIDE_CLASS_STATIC, .kind = ELIDE_KIND_MUTEX};
	char *text = malloc(size + 2);
	enum elide_ruling ruling;

	must(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = text[size + 1] = '\0';
	symbol = text + strlen(text) + 1;
	elide_rules_parse(text);
	for (info.address = 0; info.address < 4; info.address++) {
		info.type = info.address < 2 ? ELIDE_CLASS_STATIC : ELIDE_CLASS_INIT;
		ruling = elide_rules_match(&info, (const void *)0x1000);
		must(ruling <= ELIDE_RULING_PROFILE);
	}
	if (strlen(text) <= MAX_MATCH && strlen(symbol) <= MAX_MATCH)
		must(elide_rules_glob(text, symbol) == matches(text, symbol));
	free(text);
	return 0;
}

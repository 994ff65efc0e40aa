// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tunables.c - the input is an environment: strings, each ended by a NUL.
 *
 * Whatever it says, every tunable must be left within its bounds.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../../lib/base/log.h"
#include "../../lib/state/tunables.h"
#include "fuzz.h"

#define MAX_STRINGS 64

/* In place of lib/base/log.c: a warning is one line. */
void elide_log(const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	must(vsnprintf(line, sizeof(line), format, args) > 0);
	va_end(args);
}

static unsigned int nr_words(const char *values)
{
	unsigned int nr = 1;

	for (; *values; values++)
		nr += *values == '|';
	return nr;
}

static void check(const struct elide_tunables *t)
{
#define ELIDE_UINT(name, NAME, scope, min, max, def, unit, help) \
	must((unsigned long)t->name + 1 > (unsigned long)(min) && t->name <= (max));
#define ELIDE_ENUM(name, NAME, scope, values, def, help) must(t->name < nr_words(values));
#define ELIDE_SET(name, NAME, scope, values, def, help)  must(!(t->name >> nr_words(values)));
#define ELIDE_STR(name, NAME, scope, def, help) \
	must(strnlen(t->name, sizeof(t->name)) < sizeof(t->name));
#include "../../lib/tunables.def"
#undef ELIDE_UINT
#undef ELIDE_ENUM
#undef ELIDE_SET
#undef ELIDE_STR
	for (unsigned int i = 0; i < ELIDE_NR_POLICY_NUMBERS; i++)
		must(t->policy_numbers[i] >= elide_policy_numbers[i].min &&
		     t->policy_numbers[i] <= elide_policy_numbers[i].max);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *strings[MAX_STRINGS + 1], *text = malloc(size + 1), message[64];
	unsigned int nr = 0;

	must(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	for (size_t at = 0; at <= size && nr < MAX_STRINGS; at += strlen(text + at) + 1)
		strings[nr++] = text + at;
	strings[nr] = NULL;
	elide_tunables_read(strings);
	check(&elide_tunables);
	/* Once more as a caller with little room for the message, name by name. */
	for (unsigned int i = 0; i < nr; i++) {
		char *equal = strchr(strings[i], '=');

		if (!equal)
			continue;
		*equal = '\0';
		elide_tunables_parse(&elide_tunables, strings[i], equal + 1, message,
				     sizeof(message));
		must(strnlen(message, sizeof(message)) < sizeof(message));
		check(&elide_tunables);
	}
	free(text);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * settings.c - the tunables of lib/tunables.def as a table, and what is a valid value.
 *
 * The warnings are those of the library, which reads the same variables. Must never list a
 * tunable: the table is generated.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../lib/compiler.h"
#include "../../lib/policy-numbers.h"
#include "settings.h"
#include "suggest.h"

const struct setting settings[] = {
#define ELIDE_UINT(name, NAME, scope, min, max, def, unit, help)                                   \
	{#NAME, SETTING_UINT, SETTING_##scope, min, max, NULL, #def, unit, help},
#define ELIDE_ENUM(name, NAME, scope, values, def, help)                                           \
	{#NAME, SETTING_ENUM, SETTING_##scope, 0, 0, values, def, NULL, help},
#define ELIDE_SET(name, NAME, scope, values, def, help)                                            \
	{#NAME, SETTING_SET, SETTING_##scope, 0, 0, values, def, NULL, help},
#define ELIDE_STR(name, NAME, scope, def, help)                                                    \
	{#NAME, SETTING_STR, SETTING_##scope, 0, 0, NULL, def, NULL, help},
#include "../../lib/tunables.def"
#undef ELIDE_UINT
#undef ELIDE_ENUM
#undef ELIDE_SET
#undef ELIDE_STR
};

const size_t nr_settings = ARRAY_SIZE(settings);

enum {
#define ELIDE_UINT(name, NAME, scope, min, max, def, unit, help) BOUND_##NAME = max,
#define ELIDE_ENUM(name, NAME, scope, values, def, help)
#define ELIDE_SET(name, NAME, scope, values, def, help)
#define ELIDE_STR(name, NAME, scope, def, help)
#include "../../lib/tunables.def"
#undef ELIDE_UINT
#undef ELIDE_ENUM
#undef ELIDE_SET
#undef ELIDE_STR
};

const unsigned long long settings_file_max = BOUND_FILE_MAX;

const struct setting *setting_find(const char *name)
{
	if (!strncasecmp(name, "ELIDE_", 6))
		name += 6;
	for (const struct setting *s = settings; s < settings + nr_settings; s++)
		if (!strcasecmp(s->name, name))
			return s;
	return NULL;
}

const char *setting_why_unknown(const char *name, char *text, size_t size)
{
	static const struct {
		const char *name, *instead;
	} gone[] = {
#define ELIDE_GONE(NAME, instead) {#NAME, instead},
#include "../../lib/gone.def"
#undef ELIDE_GONE
	};
	const char *names[ARRAY_SIZE(settings)];

	if (!strncasecmp(name, "ELIDE_", 6))
		name += 6;
	for (size_t i = 0; i < ARRAY_SIZE(gone); i++) {
		if (strcasecmp(gone[i].name, name))
			continue;
		snprintf(text, size, "is gone (%s)", gone[i].instead);
		return text;
	}
	for (size_t i = 0; i < nr_settings; i++)
		names[i] = settings[i].name;
	snprintf(text, size, "is unknown, nearest is ELIDE_%s", suggest(name, names, nr_settings));
	return text;
}

static int check_uint(const struct setting *s, const char *value, char *message, size_t size)
{
	size_t digits = strspn(value, "0123456789");
	unsigned long long number;

	if (!digits || value[digits]) {
		snprintf(message, size, "ELIDE_%s=%.40s is not a number, using %s", s->name, value,
			 s->def);
		return -EINVAL;
	}
	number = strtoull(value, NULL, 10); /* ULLONG_MAX on overflow: out of every range */
	if (number >= s->min && number <= s->max)
		return 0;
	snprintf(message, size, "ELIDE_%s=%.40s is out of range, nearest is %llu, using %s",
		 s->name, value, number < s->min ? s->min : s->max, s->def);
	return -EINVAL;
}

static bool is_policy(const struct setting *s)
{
	return !strcmp(s->name, "POLICY");
}

static int check_words(const struct setting *s, const char *value, char *message, size_t size)
{
	char all[256], given[256], *save = NULL;
	char nearest[SUGGEST_WORDS];
	const char *words[32];
	size_t nr = 0;

	snprintf(all, sizeof(all), "%s", s->values);
	for (char *w = strtok_r(all, "|", &save); w && nr < ARRAY_SIZE(words);
	     w = strtok_r(NULL, "|", &save))
		words[nr++] = w;
	snprintf(given, sizeof(given), "%s", value);
	if (is_policy(s))
		given[strcspn(given, ":")] = '\0';
	if (s->type == SETTING_SET && !*value)
		return 0; /* the empty set */
	for (char *next = given, *word; next;) {
		size_t i = 0;

		word = s->type == SETTING_SET ? strsep(&next, ",") : next;
		if (s->type != SETTING_SET)
			next = NULL;
		while (i < nr && strcmp(words[i], word))
			i++;
		if (i < nr)
			continue;
		snprintf(message, size, "ELIDE_%s=%.40s is not one of %s%s, using %s", s->name,
			 value, s->values,
			 suggest_words(word, "", words, nr, nearest, sizeof(nearest)), s->def);
		return -EINVAL;
	}
	return 0;
}

/* Checks the numbers after the name of the policy, which is valid. */
static int check_policy(const struct setting *s, const char *value, char *message, size_t size)
{
	uint32_t numbers[ELIDE_NR_POLICY_NUMBERS];
	size_t len = strcspn(value, ":");
	char why[160];

	if (!value[len] || elide_policy_parse(value, len, value + len + 1, numbers, why, sizeof(why)))
		return 0;
	snprintf(message, size, "ELIDE_%s=%.40s: %s, using %s", s->name, value, why, s->def);
	return -EINVAL;
}

int setting_check(const struct setting *s, const char *value, char *message, size_t size)
{
	int rc;

	switch (s->type) {
	case SETTING_UINT:
		return check_uint(s, value, message, size);
	case SETTING_ENUM:
	case SETTING_SET:
		rc = check_words(s, value, message, size);
		return rc || !is_policy(s) ? rc : check_policy(s, value, message, size);
	case SETTING_STR:
		break;
	}
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tunables.c - parse the environment against tunables.def.
 *
 * Runs in the library's constructor, before the host's: it must not allocate.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "../base/log.h"
#include "../base/text.h"
#include "../compiler.h"
#include "tunables.h"

struct elide_tunables elide_tunables;

enum type { TYPE_UINT, TYPE_ENUM, TYPE_SET, TYPE_STR };

struct tunable {
	const char *name;
	enum type type;
	size_t offset;
	unsigned long min, max;
	const char *values; /* of an enumeration or set, separated by | */
	const char *initial;
};

#define AT(name) offsetof(struct elide_tunables, name)

static const struct tunable table[] = {
#define ELIDE_UINT(name, NAME, scope, min, max, def, unit, help) \
	{#NAME, TYPE_UINT, AT(name), min, max, NULL, #def},
#define ELIDE_ENUM(name, NAME, scope, values, def, help) \
	{#NAME, TYPE_ENUM, AT(name), 0, 0, values, def},
#define ELIDE_SET(name, NAME, scope, values, def, help) \
	{#NAME, TYPE_SET, AT(name), 0, 0, values, def},
#define ELIDE_STR(name, NAME, scope, def, help) {#NAME, TYPE_STR, AT(name), 0, 0, NULL, def},
#include "../tunables.def"
#undef ELIDE_UINT
#undef ELIDE_ENUM
#undef ELIDE_SET
#undef ELIDE_STR
};

/* Removed settings. */
static const struct {
	const char *name, *instead;
} gone[] = {
#define ELIDE_GONE(NAME, instead) {#NAME, instead},
#include "../gone.def"
#undef ELIDE_GONE
};

/* Longest word for the distance below. */
#define WORD_MAX 32

/* Levenshtein's distance of two words (Wagner & Fischer 1974), one row of the table at a time. */
static unsigned int distance(const char *a, size_t la, const char *b, size_t lb)
{
	unsigned int row[WORD_MAX + 1];

	if (la > WORD_MAX || lb > WORD_MAX)
		return WORD_MAX;
	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		unsigned int diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned int cost = diagonal + ((a[i - 1] | 32) != (b[j - 1] | 32));

			diagonal = row[j];
			if (row[j] + 1 < cost)
				cost = row[j] + 1;
			if (row[j - 1] + 1 < cost)
				cost = row[j - 1] + 1;
			row[j] = cost;
		}
	}
	return row[lb];
}

/* Index of @word (of @len bytes) in the |-separated @values, or -1; *@nearest is always set. */
static int find_value(const char *values, const char *word, size_t len, const char **nearest,
		      size_t *nearest_len)
{
	unsigned int best = ~0u;
	int index = 0;

	for (const char *v = values;; index++) {
		size_t n = strcspn(v, "|");
		unsigned int d = distance(v, n, word, len);

		if (n == len && !memcmp(v, word, n))
			return index;
		if (d < best) {
			best = d;
			*nearest = v;
			*nearest_len = n;
		}
		if (!v[n])
			return -1;
		v += n + 1;
	}
}

static int parse_uint(const struct tunable *u, uint32_t *member, const char *value, char *message,
		      unsigned int size)
{
	unsigned long number = 0;
	const char *p = value;

	while (*p >= '0' && *p <= '9' && number <= u->max)
		number = number * 10 + (unsigned long)(*p++ - '0');
	if (p == value || (*p && number <= u->max)) {
		elide_text(message, size,
			   "ELIDE_%s=%.40s is not a number, using %s", u->name, value,
			 u->initial);
		return -EINVAL;
	}
	if (number < u->min || number > u->max) {
		elide_text(message, size, "ELIDE_%s=%.40s is out of range, nearest is %lu, using %s",
			 u->name, value, number < u->min ? u->min : u->max, u->initial);
		return -EINVAL;
	}
	*member = number;
	return 0;
}

static int parse_words(const struct tunable *u, uint32_t *member, const char *value, char *message,
		       unsigned int size)
{
	const char *ends = u->type == TYPE_SET ? "," : u->offset == AT(policy) ? ":" : "";
	uint32_t bits = 0;
	const char *nearest = u->values;
	size_t nearest_len = 0;

	for (const char *v = value;;) {
		size_t n = strcspn(v, ends);
		int index = find_value(u->values, v, n, &nearest, &nearest_len);

		if (u->type == TYPE_SET && !*value)
			break; /* the empty set */
		if (index < 0) {
			elide_text(message, size, "ELIDE_%s=%.40s is not one of %s, nearest is %.*s, using %s",
				 u->name, value, u->values, (int)nearest_len, nearest, u->initial);
			return -EINVAL;
		}
		bits = u->type == TYPE_SET ? bits | 1u << index : (uint32_t)index;
		if (u->type != TYPE_SET || !v[n])
			break;
		v += n + 1;
	}
	*member = bits;
	return 0;
}

/* NAME[:NUMBER=VALUE,...] */
static int parse_policy(const struct tunable *u, struct elide_tunables *t, const char *value,
			char *message, unsigned int size)
{
	uint32_t policy, numbers[ELIDE_NR_POLICY_NUMBERS];
	size_t len = strcspn(value, ":");
	char why[160];
	int err = parse_words(u, &policy, value, message, size);

	if (err)
		return err;
	elide_policy_defaults(numbers);
	if (value[len] && !elide_policy_parse(value, len, value + len + 1, numbers, why, sizeof(why))) {
		elide_text(message, size, "ELIDE_%s=%.40s: %s, using %s", u->name, value, why,
			   u->initial);
		return -EINVAL;
	}
	t->policy = policy;
	memcpy(t->policy_numbers, numbers, sizeof(numbers));
	return 0;
}

static int parse(const struct tunable *u, struct elide_tunables *t, const char *value, char *message,
		 unsigned int size)
{
	char *member = (char *)t + u->offset;

	if (u->type == TYPE_UINT)
		return parse_uint(u, (uint32_t *)member, value, message, size);
	if (u->offset == AT(policy))
		return parse_policy(u, t, value, message, size);
	if (u->type != TYPE_STR)
		return parse_words(u, (uint32_t *)member, value, message, size);
	if (strlen(value) >= ELIDE_TUNABLE_TEXT) {
		elide_text(message, size, "ELIDE_%s is longer than %d bytes, using \"%s\"", u->name,
			 ELIDE_TUNABLE_TEXT - 1, u->initial);
		return -EINVAL;
	}
	strcpy(member, value);
	return 0;
}

int elide_tunables_parse(struct elide_tunables *t, const char *name, const char *value,
			 char *message, unsigned int size)
{
	const struct tunable *nearest = table;
	unsigned int best = ~0u;

	message[0] = '\0';
	for (unsigned int i = 0; i < ARRAY_SIZE(gone); i++) {
		if (strcmp(gone[i].name, name))
			continue;
		elide_text(message, size, "ELIDE_%s is gone (%s), ignored", name, gone[i].instead);
		return -ENOENT;
	}
	for (const struct tunable *u = table; u < table + ARRAY_SIZE(table); u++) {
		unsigned int d = distance(u->name, strlen(u->name), name, strlen(name));

		if (!strcmp(u->name, name))
			return parse(u, t, value, message, size);
		if (d < best) {
			best = d;
			nearest = u;
		}
	}
	elide_text(message, size, "ELIDE_%.40s is unknown, nearest is ELIDE_%s, ignored", name,
		 nearest->name);
	return -ENOENT;
}

void elide_tunables_read(char *const *environ)
{
	char message[256];

	for (const struct tunable *u = table; u < table + ARRAY_SIZE(table); u++)
		parse(u, &elide_tunables, u->initial, message, sizeof(message));
	if (!environ)
		return;
	for (; *environ; environ++) {
		const char *name = *environ + 6, *equal;
		char copy[WORD_MAX + 1];

		if (strncmp(*environ, "ELIDE_", 6) || !(equal = strchr(name, '=')))
			continue;
		/* ELIDE_DEPS belongs to the build. */
		if (!strncmp(name, "DEPS=", 5))
			continue;
		elide_text(copy, sizeof(copy), "%.*s", (int)(equal - name), name);
		if (elide_tunables_parse(&elide_tunables, copy, equal + 1, message, sizeof(message)))
			elide_log("%s", message);
	}
}

void elide_tunables_word(const char *name, uint32_t index, char *text, unsigned int size)
{
	const char *v = "";

	for (const struct tunable *u = table; u < table + ARRAY_SIZE(table); u++)
		if (!strcmp(u->name, name) && u->values)
			v = u->values;
	while (index--)
		v += strcspn(v, "|") + 1;
	elide_text(text, size, "%.*s", (int)strcspn(v, "|"), v);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * policy-numbers.h - parse the numbers of a policy: NAME[:NUMBER=VALUE,...].
 *
 * Shared by the library and the tools, so that both report the same errors. Must never allocate.
 */
#ifndef ELIDE_POLICY_NUMBERS_H
#define ELIDE_POLICY_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum elide_policy_number {
#define ELIDE_POLICY_NUMBER(name, min, max, def, unit, policies, help) ELIDE_POLICY_##name,
#include "policy.def"
#undef ELIDE_POLICY_NUMBER
	ELIDE_NR_POLICY_NUMBERS
};

/* A number of policy.def; @range: its bounds and unit as text. */
struct elide_policy_number_info {
	const char *name, *policies, *range;
	uint32_t min, max, initial;
};

static const struct elide_policy_number_info elide_policy_numbers[ELIDE_NR_POLICY_NUMBERS] = {
#define ELIDE_POLICY_NUMBER(name, min, max, def, unit, policies, help) \
	{#name, policies, #min " to " #max " " unit, min, max, def},
#include "policy.def"
#undef ELIDE_POLICY_NUMBER
};

/* Is the text of @len bytes one of the |-separated @words? */
static inline bool elide_is_word_of(const char *words, const char *text, size_t len)
{
	for (;; words++) {
		size_t n = strcspn(words, "|");

		if (n == len && !memcmp(words, text, n))
			return true;
		words += n;
		if (!*words)
			return false;
	}
}

/** elide_policy_has() - does the policy, whose name has @len bytes, have number @nr? */
static inline bool elide_policy_has(const char *policy, size_t len, unsigned int nr)
{
	return elide_is_word_of(elide_policy_numbers[nr].policies, policy, len);
}

/* Append at most @max bytes of @text to the text in @why, as far as there is room. */
static inline void elide_why_add(char *why, size_t size, const char *text, size_t max)
{
	size_t used = strlen(why), room = size - used - 1;
	size_t len = strnlen(text, max < room ? max : room);

	memcpy(why + used, text, len);
	why[used + len] = '\0';
}

/* Write "fixed has conflict|busy=N, not 'confl=3'", or "glibc has no numbers". Return: false. */
static inline bool elide_policy_lacks(const char *policy, size_t policy_len, const char *text,
				      size_t len, char *why, size_t size)
{
	const char *between = " has ";

	elide_why_add(why, size, policy, policy_len);
	for (unsigned int i = 0; i < ELIDE_NR_POLICY_NUMBERS; i++) {
		if (!elide_policy_has(policy, policy_len, i))
			continue;
		elide_why_add(why, size, between, SIZE_MAX);
		elide_why_add(why, size, elide_policy_numbers[i].name, SIZE_MAX);
		between = "|";
	}
	if (*between != '|') {
		elide_why_add(why, size, " has no numbers", SIZE_MAX);
		return false;
	}
	elide_why_add(why, size, "=N, not '", SIZE_MAX);
	elide_why_add(why, size, text, len < 40 ? len : 40);
	elide_why_add(why, size, "'", SIZE_MAX);
	return false;
}

/* elide_policy_parse() for one NUMBER=VALUE of @len bytes. */
static inline bool elide_policy_parse_one(const char *policy, size_t policy_len, const char *text,
					  size_t len, uint32_t *values, char *why, size_t size)
{
	const char *equal = memchr(text, '=', len), *p;
	const struct elide_policy_number_info *info;
	uint64_t value = 0;
	unsigned int i = 0;

	while (equal && i < ELIDE_NR_POLICY_NUMBERS &&
	       (!elide_policy_has(policy, policy_len, i) ||
		!elide_is_word_of(elide_policy_numbers[i].name, text, equal - text)))
		i++;
	if (!equal || i == ELIDE_NR_POLICY_NUMBERS)
		return elide_policy_lacks(policy, policy_len, text, len, why, size);
	info = &elide_policy_numbers[i];
	for (p = equal + 1; p < text + len && *p >= '0' && *p <= '9' && value <= info->max; p++)
		value = value * 10 + (uint64_t)(*p - '0');
	if (p == text + len && p > equal + 1 && value >= info->min && value <= info->max) {
		values[i] = value;
		return true;
	}
	elide_why_add(why, size, info->name, SIZE_MAX);
	elide_why_add(why, size, " is ", SIZE_MAX);
	elide_why_add(why, size, info->range, SIZE_MAX);
	return false;
}

/**
 * elide_policy_parse() - read the numbers of a policy.
 * @policy: its valid name, of @len bytes
 * @text: NUMBER=VALUE,... from behind the colon
 * @values: by enum elide_policy_number; those that are named are set
 * @why: @size bytes, filled with what is wrong and what would be right
 *
 * Return: true if all of it is right; if not, some of @values may be set.
 */
static inline bool elide_policy_parse(const char *policy, size_t len, const char *text,
				      uint32_t *values, char *why, size_t size)
{
	*why = '\0';
	for (;; text++) {
		size_t n = strcspn(text, ",");

		if (!elide_policy_parse_one(policy, len, text, n, values, why, size))
			return false;
		text += n;
		if (!*text)
			return true;
	}
}

/** elide_policy_defaults() - set @values to the defaults of policy.def. */
static inline void elide_policy_defaults(uint32_t *values)
{
	for (unsigned int i = 0; i < ELIDE_NR_POLICY_NUMBERS; i++)
		values[i] = elide_policy_numbers[i].initial;
}

#endif

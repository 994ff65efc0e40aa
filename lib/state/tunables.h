/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tunables.h - the settings of this process, read once from the environment.
 *
 * Must never fail: a bad value is one warning and the default.
 */
#ifndef ELIDE_TUNABLES_H
#define ELIDE_TUNABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "../policy-numbers.h"

#pragma GCC visibility push(hidden)

enum elide_mode {
	ELIDE_MODE_AUTO,
	ELIDE_MODE_ELIDE,
	ELIDE_MODE_PROFILE,
	ELIDE_MODE_OFF,
};

/* Values of ELIDE_PMU, in the order of tunables.def. */
enum elide_pmu_mode {
	ELIDE_PMU_NO,
	ELIDE_PMU_STAT,
	ELIDE_PMU_ABORT,
};

/* Bits of the set "mutex|rwlock|spin", in that order. */
#define ELIDE_KINDS_MUTEX  1u
#define ELIDE_KINDS_RWLOCK 2u
#define ELIDE_KINDS_SPIN   4u

/* Longest text of a string tunable, terminating NUL included. */
#define ELIDE_TUNABLE_TEXT 1024

/**
 * struct elide_tunables - one member per line of tunables.def.
 *
 * Enumerations hold the index of the value, sets a bit per value; @policy_numbers: by enum
 * elide_policy_number.
 */
struct elide_tunables {
#define ELIDE_UINT(name, NAME, scope, min, max, def, unit, help) uint32_t name;
#define ELIDE_ENUM(name, NAME, scope, values, def, help)         uint32_t name;
#define ELIDE_SET(name, NAME, scope, values, def, help)          uint32_t name;
#define ELIDE_STR(name, NAME, scope, def, help)                  char name[ELIDE_TUNABLE_TEXT];
#include "../tunables.def"
#undef ELIDE_UINT
#undef ELIDE_ENUM
#undef ELIDE_SET
#undef ELIDE_STR
	uint32_t policy_numbers[ELIDE_NR_POLICY_NUMBERS];
};

/* The one instance; constant after elide_tunables_read(). */
extern struct elide_tunables elide_tunables;

/**
 * elide_tunables_read() - fill elide_tunables from an environment.
 * @environ: "NAME=VALUE" strings, NULL for all defaults (a setuid program)
 *
 * Warns once, on standard error, of each unknown ELIDE_ name and bad value, naming the nearest valid one, and
 * of each removed setting, saying what to write instead. Not thread-safe: called once at the start.
 */
void elide_tunables_read(char *const *environ);

/**
 * elide_tunables_parse() - set one tunable by name.
 * @t: where to set it
 * @name: without the ELIDE_ prefix
 * @value: text
 * @message: filled with the warning if there is one, else made empty
 * @size: bytes of @message
 *
 * Return: 0; -ENOENT for an unknown name or a removed setting; -EINVAL for a bad value, which changes
 * nothing.
 */
int elide_tunables_parse(struct elide_tunables *t, const char *name, const char *value,
			 char *message, unsigned int size);

/**
 * elide_tunables_word() - text of the value of an enumeration.
 * @name: without the ELIDE_ prefix
 * @index: of the value
 * @text: filled
 * @size: bytes of @text
 */
void elide_tunables_word(const char *name, uint32_t index, char *text, unsigned int size);

#pragma GCC visibility pop

#endif

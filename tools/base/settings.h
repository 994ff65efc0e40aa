/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * settings.h - the tunables of lib/tunables.def as a table, and what is a valid value.
 *
 * Must never list a tunable: the table is generated.
 */
#ifndef ELIDE_SETTINGS_H
#define ELIDE_SETTINGS_H

#include <stddef.h>

enum setting_type { SETTING_UINT, SETTING_ENUM, SETTING_SET, SETTING_STR };

enum setting_scope {
	SETTING_LIB, /* read by the preloaded library */
	SETTING_EMU, /* an option of the emulator */
	SETTING_RUN, /* set by the launcher, not by people */
};

/**
 * struct setting - a tunable.
 * @name:   without the ELIDE_ prefix
 * @values: of an enumeration or set, separated by '|'
 * @def:    default, as text
 */
struct setting {
	const char *name;
	enum setting_type type;
	enum setting_scope scope;
	unsigned long long min, max;
	const char *values;
	const char *def;
	const char *unit;
	const char *help;
};

extern const struct setting settings[];
extern const size_t nr_settings;

/* Largest data file there can be, MiB: the bound of FILE_MAX. */
extern const unsigned long long settings_file_max;

/**
 * setting_find() - by name, with or without ELIDE_, in any case; NULL if there is none.
 */
const struct setting *setting_find(const char *name);

/**
 * setting_why_unknown() - the message for a name that setting_find() does not find.
 * @text: @size bytes, filled with "is unknown, nearest is ELIDE_NAME", or for a removed setting
 *        "is gone (what to write)"
 *
 * Return: @text.
 */
const char *setting_why_unknown(const char *name, char *text, size_t size);

/**
 * setting_check() - is @value valid for @s?
 * @message: filled with the warning if not, naming the nearest valid value
 *
 * Return: 0 or -EINVAL.
 */
int setting_check(const struct setting *s, const char *value, char *message, size_t size);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rules.h - the user's rules on which locks to elide (tunable LOCKS).
 *
 * Looks names up in the objects' own symbol tables, only if there are rules, and never inside a transaction.
 */
#ifndef ELIDE_RULES_H
#define ELIDE_RULES_H

#include "../datafile.h"

enum elide_ruling {
	ELIDE_RULING_NONE,
	ELIDE_RULING_ON,
	ELIDE_RULING_OFF,
	ELIDE_RULING_PROFILE,
};

/**
 * elide_rules_parse() - read the rules.
 * @text: "PATTERN=on|off|profile,..."
 *
 * Leaves out a malformed rule, with one line on standard error.
 */
void elide_rules_parse(const char *text);

/** elide_rules_any() - are there rules? */
bool elide_rules_any(void);

/**
 * elide_rules_match() - the first rule that matches.
 * @info: class of the lock
 * @site: return address of the lock call
 *
 * Return: what it says, ELIDE_RULING_NONE if none matches.
 */
enum elide_ruling elide_rules_match(const struct elide_class *info, const void *site);

/**
 * elide_rules_glob() - does @name match @pattern with the wildcards * and ?
 */
int elide_rules_glob(const char *pattern, const char *name);

#endif

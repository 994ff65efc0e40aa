/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* rules.c - see rules.h. */
#include <string.h>

#include "../base/log.h"
#include "../base/text.h"
#include "../compiler.h"
#include "modules.h"
#include "registry.h"
#include "rules.h"
#include "symbol.h"
#include "tunables.h"

#define MAX_RULES 64

static struct {
	const char *pattern; /* inside text */
	enum elide_ruling ruling;
} rules[MAX_RULES];
static unsigned int nr_rules;
static char text[ELIDE_TUNABLE_TEXT];

static const struct {
	const char *word;
	enum elide_ruling ruling;
} words[] = {
	{"on", ELIDE_RULING_ON},
	{"off", ELIDE_RULING_OFF},
	{"profile", ELIDE_RULING_PROFILE},
};

static void parse_one(char *rule)
{
	char *equal = strrchr(rule, '=');

	for (unsigned int i = 0; equal && equal != rule && i < ARRAY_SIZE(words); i++) {
		if (strcmp(equal + 1, words[i].word))
			continue;
		if (nr_rules == MAX_RULES) {
			elide_log("ELIDE_LOCKS: more than %d rules, \"%s\" ignored", MAX_RULES, rule);
			return;
		}
		*equal = '\0';
		rules[nr_rules].pattern = rule;
		rules[nr_rules++].ruling = words[i].ruling;
		return;
	}
	elide_log("ELIDE_LOCKS: \"%s\" is not PATTERN=on|off|profile, ignored", rule);
}

void elide_rules_parse(const char *rules_text)
{
	char *next;

	nr_rules = 0;
	elide_text(text, sizeof(text), "%s", rules_text);
	for (char *rule = text; rule; rule = next) {
		next = strchr(rule, ',');
		if (next)
			*next++ = '\0';
		if (*rule)
			parse_one(rule);
	}
}

/* Greedy matching with one backtracking point (Kirk Krauss, Dr. Dobb's 2008). */
int elide_rules_glob(const char *pattern, const char *name)
{
	const char *star = NULL, *back = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = pattern++;
			back = name;
		} else if (*pattern == '?' || *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++back;
		} else {
			return 0;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

/* Write "object!symbol" of an address of object @m, or "object!" if no symbol covers it. */
static void name_of(const struct elide_module *m, uint64_t address, char *buffer, size_t size)
{
	const char *base = m ? strrchr(m->path, '/') : NULL;
	char symbol[256] = "";

	if (m)
		elide_symbol_find(m->path, (uintptr_t)elide_at_run_time(address) - m->base, symbol,
				  sizeof(symbol));
	elide_text(buffer, size, "%s!%s", m ? base ? base + 1 : m->path : "?", symbol);
}

bool elide_rules_any(void)
{
	return nr_rules;
}

enum elide_ruling elide_rules_match(const struct elide_class *info, const void *site)
{
	/* Static: thread stacks may be small. Callers hold the engine's lock. */
	static char lock[768], call[768];
	uint64_t address = info->address, from = (uintptr_t)site - 1;
	const char *symbol;
	bool names_lock;

	/* Locks without a place have no name. */
	if (!nr_rules || info->type == ELIDE_CLASS_BEYOND)
		return ELIDE_RULING_NONE;
	/* Of two calls that lock a lock without an initialisation, chance decides which is the first. */
	names_lock = info->type != ELIDE_CLASS_FIRST;
	/* A return address may already be in the next function. */
	if (info->type != ELIDE_CLASS_STATIC)
		address--;
	name_of(elide_module_of_past(address), address, lock, sizeof(lock));
	name_of(elide_module_of((const void *)from), from, call, sizeof(call));
	symbol = strchr(lock, '!') + 1;
	for (unsigned int i = 0; i < nr_rules; i++)
		if ((names_lock && (elide_rules_glob(rules[i].pattern, lock) ||
				    elide_rules_glob(rules[i].pattern, symbol))) ||
		    elide_rules_glob(rules[i].pattern, call))
			return rules[i].ruling;
	return ELIDE_RULING_NONE;
}

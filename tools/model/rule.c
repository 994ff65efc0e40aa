// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rule.c - the rule of ELIDE_LOCKS that switches elision off for a row, and for no other.
 *
 * Must never suggest a rule that matches a row for which elision is not known to be useless.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute.h"
#include "rule.h"
#include "sums.h"

/* Replaces characters that would end a rule, a line or the shell's quotes by '?', which matches any. */
static void make_pattern(char *to, size_t size, const char *object, const char *symbol)
{
	snprintf(to, size, "%s%s%s", object ? object : "", object ? "!" : "", symbol);
	for (char *c = to; *c; c++)
		if (*c == ',' || *c == '=' || *c == '\'' || *c == '#' || *c == '*' ||
		    (unsigned char)*c <= ' ')
			*c = '?';
}

/* Does a pattern of make_pattern() match a name, as in the library? */
static int fits(const char *pattern, const char *name)
{
	while (*pattern && *name && (*pattern == '?' || *pattern == *name)) {
		pattern++;
		name++;
	}
	return !*pattern && !*name;
}

/* Symbols of one name, at most: a rule that matches more is not suggested. */
#define SAME_NAME_MAX 64

/* What a rule matches: classes, by the place in their name, and the code of functions. */
struct rule_hits {
	unsigned char *class;
	struct symbol_range code[SAME_NAME_MAX];
	size_t nr;
};

static bool is_in(const struct rule_hits *rule, uint64_t address)
{
	for (size_t i = 0; i < rule->nr; i++)
		if (address >= rule->code[i].start && address < rule->code[i].end)
			return true;
	return false;
}

/* Finds the classes and the code that a rule matches. False: too many of one name, or no memory. */
static bool rule_hits(const struct report *r, struct rule_hits *rule, const char *object,
		      const char *symbol)
{
	const struct data_file *f = r->file;
	struct place place;

	rule->class = calloc(f->nr_classes + 1, 1);
	rule->nr = object ? symbolize_ranges(r->symbols, object, fits, symbol, rule->code,
					     SAME_NAME_MAX) : 0;
	if (!rule->class || rule->nr > SAME_NAME_MAX)
		return false;
	for (size_t i = 0; i < f->nr_classes; i++) {
		const struct elide_class *c = &f->classes[i];
		/* A return address may be the first byte of the next function. */
		uint64_t address = c->address - (c->type != ELIDE_CLASS_STATIC);

		/* A rule matches the calls that lock such a lock, not its name. */
		if (c->type == ELIDE_CLASS_FIRST)
			continue;
		rule->class[i] = is_in(rule, address);
		if (object)
			continue;
		symbolize_data(r->symbols, address, &place);
		rule->class[i] = place.elf_symbol && fits(symbol, place.elf_symbol);
	}
	return true;
}

/* Is it right to switch elision off for a row? */
static bool may_be_off(const struct report *r, const struct sum *s)
{
	struct line l;

	if (class_is_quiet(r, s->class_index))
		return true;
	sum_line(r, s, &l);
	l.nr_classes = l.nr_sites = 1;
	return r->elides && line_verdict(r, &l) == VERDICT_HURTS;
}

/*
 * Would a rule match a row that should be elided, or for which that is unknown? A function may
 * have many call sites, including those of functions that are inlined into it.
 * @object: NULL in a rule for a lock
 */
static bool hits_others(const struct report *r, const struct line *l, const char *object,
			const char *symbol)
{
	struct rule_hits rule;
	bool others = !rule_hits(r, &rule, object, symbol);

	for (size_t i = 0; !others && i < r->sums->nr; i++) {
		const struct sum *s = &r->sums->sum[i];

		others = (rule.class[s->class_index] || is_in(&rule, s->site - 1)) &&
			 report_line(r, s->class_index, s->site, s->kind) != l &&
			 !may_be_off(r, s);
	}
	free(rule.class);
	return others;
}

void rule_pattern(const struct report *r, const struct line *l, char *to, size_t size)
{
	const struct place *lock = &l->lock_place, *site = &l->site_place;

	/* The library matches names of symbol tables. */
	if (l->nr_classes == 1 && l->class_type == ELIDE_CLASS_STATIC && lock->elf_symbol) {
		make_pattern(to, size, NULL, lock->elf_symbol);
		if (!hits_others(r, l, NULL, to))
			return;
	}
	if (l->nr_sites == 1 && site->elf_symbol && site->object) {
		make_pattern(to, size, site->object, site->elf_symbol);
		if (!hits_others(r, l, site->object, to + strlen(site->object) + 1))
			return;
	}
	*to = '\0';
}

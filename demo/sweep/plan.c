// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * plan.c - the variants of a sweep: those of --vary, else those that the program names for --list.
 *
 * Lines of --list are "OPTION VALUE DESCRIPTION", "variant INDEX SCHEME, SCHEME...", "role ROLE KIND" and
 * "kind KIND". Must never run a variant.
 */
#include "sweep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The most --vary. */
#define VARY_MAX 8

/* struct axis - an option and its values; NAME=VALUE,VALUE... of --vary, with '\0' for '=' and ',' */
struct axis {
	char *name;
	char *value[VARIANTS_MAX];
	unsigned int nr;
};

static struct axis axes[VARY_MAX];
static unsigned int nr_axes;

/* Split a text at commas. Returns the number of parts, 0 if there are more than @max or one is empty. */
static unsigned int split(char *text, char **parts, unsigned int max)
{
	unsigned int nr = 0;

	for (char *part; (part = strsep(&text, ","));) {
		if (nr == max || !*part)
			return 0;
		parts[nr++] = part;
	}
	return nr;
}

/**
 * plan_vary() - take a --vary
 * @text: NAME=VALUE,VALUE...
 *
 * Return: 0, or -EINVAL after one line on stderr.
 */
int plan_vary(const char *text)
{
	char *copy = strdup(text), *values = copy ? strchr(copy, '=') : NULL;
	struct axis *axis = &axes[nr_axes];

	if (nr_axes == VARY_MAX) {
		fprintf(stderr, PROGRAM ": --vary: at most %d\n", VARY_MAX);
		free(copy);
		return -EINVAL;
	}
	if (values && values > copy)
		axis->nr = split(values + 1, axis->value, VARIANTS_MAX);
	if (!axis->nr) {
		fprintf(stderr, PROGRAM ": --vary=%s: must be NAME=VALUE,VALUE...\n", text);
		free(copy);
		return -EINVAL;
	}
	*values = '\0';
	axis->name = copy;
	if (!strcmp(copy, "threads")) {
		fputs(PROGRAM ": --vary=threads: use --threads\n", stderr);
		return -EINVAL;
	}
	nr_axes++;
	return 0;
}

static int compare_groups(const void *x, const void *y)
{
	const struct group *a = x, *b = y;

	return (a->threads > b->threads) - (a->threads < b->threads);
}

/**
 * plan_threads() - take --threads
 * @s: receives a group for each number, the least first
 * @text: N,N..., or NULL: one group, the program has its number
 *
 * Return: 0, or -EINVAL after one line on stderr.
 */
int plan_threads(struct sweep *s, const char *text)
{
	char *copy = text ? strdup(text) : NULL, *part[THREADS_MAX];
	unsigned int nr = copy ? split(copy, part, THREADS_MAX) : 0;

	s->nr_groups = text ? nr : 1;
	for (unsigned int i = 0; i < nr; i++) {
		char *end;
		unsigned long n = strtoul(part[i], &end, 10);

		if (part[i][0] < '0' || part[i][0] > '9' || *end || !n || n > 1024)
			nr = s->nr_groups = 0;
		else
			s->groups[i].threads = (unsigned int)n;
	}
	free(copy);
	qsort(s->groups, s->nr_groups, sizeof(*s->groups), compare_groups);
	for (unsigned int i = 1; i < nr; i++)
		if (s->groups[i].threads == s->groups[i - 1].threads)
			s->nr_groups = 0;
	if (s->nr_groups)
		return 0;
	fprintf(stderr,
		PROGRAM ": --threads=%s: must be up to %d different numbers from 1 to 1024, with commas\n",
		text, THREADS_MAX);
	return -EINVAL;
}

/*
 * Does the list describe the value of an option as a lock of pthreads, by its name or in words? Such locks
 * are those that the library can elide.
 */
static bool is_pthread(const char *list, const char *option, const char *value)
{
	const char *kind = strrchr(value, '=');
	size_t option_len = strlen(option), len = strlen(value);
	char name[64], of[64];
	int at;

	if (strstr(kind ? kind : value, "pthread"))
		return true;
	for (const char *line = list; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (sscanf(line, "%63s %63s%n", of, name, &at) == 2 && strlen(of) == option_len &&
		    !strcmp(of, option) && strlen(name) == len && !strcmp(name, value) &&
		    memmem(line + at, strcspn(line + at, "\n"), "pthread", 7))
			return true;
	return false;
}

/* Add an option --NAME=VALUE to a variant, and its value to the name of it. */
static int add(struct variant *v, const char *name, const char *value, bool named)
{
	char *longer;

	if (v->nr_added == ADDED_MAX || asprintf(&v->added[v->nr_added], "--%s=%s", name, value) < 0)
		return -ENOMEM;
	v->nr_added++;
	if (!named)
		return 0;
	if (asprintf(&longer, "%s%s%s", v->name ? v->name : "", v->name ? " " : "", value) < 0)
		return -ENOMEM;
	free(v->name);
	v->name = longer;
	return 0;
}

static struct variant *next(struct sweep *s)
{
	if (s->nr_variants < VARIANTS_MAX)
		return &s->variants[s->nr_variants++];
	fprintf(stderr, PROGRAM ": more than %d variants\n", VARIANTS_MAX);
	return NULL;
}

/* The value of --NAME=VALUE on the program's command line, or NULL. */
static const char *fixed(const struct sweep *s, const char *name)
{
	size_t len = strlen(name);
	const char *value = NULL;

	for (char **arg = s->command + 1; *arg; arg++)
		if (!strncmp(*arg, "--", 2) && !strncmp(*arg + 2, name, len) && (*arg)[2 + len] == '=')
			value = *arg + 3 + len;
	return value;
}

/* A variant of the default ones, unless the command line has another value of the option. */
static bool wanted(const struct sweep *s, const char *name, const char *value)
{
	const char *is = fixed(s, name);

	return !is || !strcmp(is, value);
}

/*
 * call_lines() - call a function with the first two words of each line of a list, and the rest of it
 *
 * Return: 0, or what the function returned if that is not 0
 */
typedef int (*line_fn)(struct sweep *s, const char *list, const char *first, const char *second, char *rest);

static int call_lines(struct sweep *s, const char *list, line_fn fn)
{
	char *copy = strdup(list), *all = copy;
	int err = copy ? 0 : -ENOMEM;

	for (char *line; !err && (line = strsep(&copy, "\n"));) {
		char first[64], second[64];
		int at = 0;

		if (sscanf(line, "%63s %63s %n", first, second, &at) == 2)
			err = fn(s, list, first, second, at ? line + at : line + strlen(line));
	}
	free(all);
	return err;
}

/* variant INDEX SCHEME, SCHEME...: those that are right with several threads, which "none" is not */
static int take_variant(struct sweep *s, const char *list, const char *first, const char *index,
			char *schemes)
{
	int err = 0;

	(void)list;
	if (strcmp(first, "variant") || !wanted(s, "index", index))
		return 0;
	for (char *scheme; !err && (scheme = strsep(&schemes, ","));) {
		struct variant *v;

		scheme += strspn(scheme, " ");
		if (!strcmp(scheme, "none") || !wanted(s, "scheme", scheme))
			continue;
		v = next(s);
		err = !v ? -EINVAL : add(v, "index", index, true) ?: add(v, "scheme", scheme, true);
	}
	return err;
}

/* role ROLE KIND: one role of the latches of the newest variant, whose kind is its name */
static int take_role(struct sweep *s, const char *list, const char *first, const char *role, char *kind)
{
	struct variant *v = &s->variants[s->nr_variants - 1];
	char value[160];

	(void)list;
	if (strcmp(first, "role") || !strcmp(kind, "none"))
		return 0;
	snprintf(value, sizeof(value), "%s=%s", role, v->name);
	return add(v, "latch", value, false);
}

/* kind KIND: all latches are of this kind */
static int take_kind(struct sweep *s, const char *list, const char *first, const char *kind, char *rest)
{
	struct variant *v;

	(void)rest;
	if (strcmp(first, "kind") || !strcmp(kind, "none"))
		return 0;
	v = next(s);
	if (!v)
		return -EINVAL;
	v->name = strdup(kind);
	return v->name ? call_lines(s, list, take_role) : -ENOMEM;
}

/* latch LATCH */
static int take_latch(struct sweep *s, const char *list, const char *first, const char *latch, char *rest)
{
	struct variant *v;

	(void)list;
	(void)rest;
	if (strcmp(first, "latch") || !wanted(s, "latch", latch))
		return 0;
	v = next(s);
	return v ? add(v, "latch", latch, true) : -EINVAL;
}

/* The variants that a program has by itself. */
static int plan_default(struct sweep *s, const char *list)
{
	static const line_fn takers[] = {take_variant, take_kind, take_latch};
	int err = 0;

	for (unsigned int i = 0; !err && !s->nr_variants && i < sizeof(takers) / sizeof(*takers); i++) {
		err = call_lines(s, list, takers[i]);
		if (!err && s->nr_variants && takers[i] == take_kind) {
			struct variant *v = next(s);

			if (!v || !(v->name = strdup("as they are")))
				err = -ENOMEM;
		}
	}
	if (!err && !s->nr_variants) {
		fprintf(stderr,
			PROGRAM ": %s: has no variants of its own here; use --vary=NAME=VALUE,VALUE...\n",
			s->command[0]);
		err = -EINVAL;
	}
	return err;
}

/* Is the value, of an option whose values the list has, one of them? Else says which there are. */
static int check_value(const char *list, const char *name, const char *value)
{
	char *copy = strdup(list), *all = copy, *known = NULL;
	size_t size;
	FILE *f = open_memstream(&known, &size);
	bool found = false;

	for (char *line; copy && f && (line = strsep(&copy, "\n"));) {
		char of[64], one[64];

		if (sscanf(line, "%63s %63s", of, one) != 2 || strcmp(of, name))
			continue;
		found |= !strcmp(one, value);
		fprintf(f, "%s%s", ftell(f) ? ", " : "", one);
	}
	if (f)
		fclose(f);
	found |= !known || !*known;
	if (!found)
		fprintf(stderr, PROGRAM ": --vary=%s=%s: must be one of %s\n", name, value, known);
	free(known);
	free(all);
	return found ? 0 : -EINVAL;
}

/* Each combination of the values of all --vary, the last one varies fastest. */
static int plan_product(struct sweep *s, const char *list)
{
	unsigned int at[VARY_MAX] = {0}, i = nr_axes;

	for (unsigned int a = 0; a < nr_axes; a++)
		for (unsigned int k = 0; k < axes[a].nr; k++)
			if (check_value(list, axes[a].name, axes[a].value[k]))
				return -EINVAL;
	while (i) {
		struct variant *v = next(s);

		if (!v)
			return -EINVAL;
		for (unsigned int a = 0; a < nr_axes; a++)
			if (add(v, axes[a].name, axes[a].value[at[a]], true))
				return -ENOMEM;
		for (i = nr_axes; i && ++at[i - 1] == axes[i - 1].nr; i--)
			at[i - 1] = 0;
	}
	return 0;
}

/* After each variant that has a lock of pthreads, one that is the same, with the library. */
static int plan_elided(struct sweep *s, const char *list)
{
	unsigned int nr = s->nr_variants;

	for (unsigned int i = 0; i < nr; i++) {
		struct variant plain = s->variants[i], *v;
		bool can = false;

		for (unsigned int k = 0; k < plain.nr_added; k++) {
			char *name = strdup(plain.added[k] + 2), *value = name ? strchr(name, '=') : NULL;

			if (value) {
				*value = '\0';
				can |= is_pthread(list, name, value + 1);
			}
			free(name);
		}
		if (!can)
			continue;
		v = next(s);
		if (!v)
			return -EINVAL;
		*v = plain;
		v->elide = true;
		if (asprintf(&v->name, "%s, elided", plain.name) < 0)
			return -ENOMEM;
	}
	if (nr == s->nr_variants) {
		fputs(PROGRAM ": --elide: no variant has a lock of pthreads by the program's --list\n",
		      stderr);
		return -EINVAL;
	}
	return 0;
}

/**
 * plan_variants() - determine the variants, and make room for their runs
 * @s: has command, program, groups and rounds
 * @elide: also with the library
 *
 * Return: 0, or a negative value after one line on stderr, but for a lack of memory.
 */
int plan_variants(struct sweep *s, bool elide)
{
	char *argv[] = {s->program, "--list", NULL}, *error;
	int status, err;
	char *list = run_output(argv, &status, &error);

	/* A program without --list has the variants of --vary. */
	if (status && list)
		*list = '\0';
	err = !list ? -ENOMEM : nr_axes ? plan_product(s, list) : plan_default(s, list);
	if (!err && elide)
		err = plan_elided(s, list);
	free(list);
	free(error);
	for (unsigned int g = 0; !err && g < s->nr_groups; g++) {
		struct group *group = &s->groups[g];

		group->cells = calloc(s->nr_variants, sizeof(*group->cells));
		group->order = calloc(s->nr_variants, sizeof(*group->order));
		if (!group->cells || !group->order)
			return -ENOMEM;
		for (unsigned int i = 0; i < s->nr_variants; i++)
			group->cells[i].variant = &s->variants[i];
	}
	return err;
}

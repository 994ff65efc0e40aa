// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * models.c - the machines that rtmgrind simulates: their names and numbers.
 *
 * Must never hold a machine or a number: these are in rtmgrind's models.def and
 * model.def. Nor decide whether numbers go together: rtmgrind does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/suggest.h"
#include "models.h"

static const struct number {
	const char *name;
	const char *unit;
	long long min, max, initial;
	const char *help;
} numbers[] = {
#define PARAM(name, unit, min, max, initial, help) {#name, unit, min, max, initial, help},
#include "../rtmgrind/model.def"
#undef PARAM
};

/**
 * struct line - a line of models.def.
 * @model: a machine begins here; NULL: the line belongs to the one above
 * @base: the machine from which it inherits numbers; NULL: flat
 * @text: a description of @model, or the source of the number
 * @number: is set to @value
 */
static const struct line {
	const char *model;
	const char *base;
	const char *text;
	const char *number;
	long long value;
} lines[] = {
#define MODEL(name, what)          {#name, NULL, what, NULL, 0},
#define LIKE(name, other, what)    {#name, #other, what, NULL, 0},
#define SET(number, value, source) {NULL, NULL, source, #number, value},
#include "../rtmgrind/models.def"
#undef MODEL
#undef LIKE
#undef SET
};

static const struct line *find_model(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (lines[i].model && !strcmp(lines[i].model, name))
			return &lines[i];
	return NULL;
}

static const struct number *find_number(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!strcmp(numbers[i].name, name))
			return &numbers[i];
	return NULL;
}

const char *models_names(size_t nth)
{
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (lines[i].model && !nth--)
			return lines[i].model;
	return NULL;
}

const char *models_numbers(size_t nth)
{
	return nth < ARRAY_SIZE(numbers) ? numbers[nth].name : NULL;
}

static int no_model(const char *name, char *why, size_t size)
{
	const char *names[ARRAY_SIZE(lines)];
	char nearest[SUGGEST_WORDS];
	size_t nr = 0, len;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (lines[i].model)
			names[nr++] = lines[i].model;
	len = snprintf(why, size, "there is no machine '%.40s'%s; there are", name,
		       suggest_words(name, "", names, nr, nearest, sizeof(nearest)));
	for (size_t i = 0; i < nr && len < size; i++)
		len += snprintf(why + len, size - len, "%s %s", i ? "," : "", names[i]);
	return -EINVAL;
}

static int no_number(const char *name, char *why, size_t size)
{
	const char *names[ARRAY_SIZE(numbers)];

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		names[i] = numbers[i].name;
	snprintf(why, size, "the machine has no number '%.40s', nearest is %s", name,
		 suggest(name, names, ARRAY_SIZE(numbers)));
	return -EINVAL;
}

int models_check_number(const char *name, const char *value, char *why, size_t size)
{
	const struct number *n = find_number(name);
	long long v;
	char *end;

	if (!n)
		return no_number(name, why, size);
	errno = 0;
	v = strtoll(value, &end, 10);
	if (end == value || *end) {
		snprintf(why, size, "%s=%.40s is not a number", name, value);
		return -EINVAL;
	}
	if (!errno && v >= n->min && v <= n->max)
		return 0;
	snprintf(why, size, "%s=%.40s is impossible, nearest is %lld", name, value,
		 v < n->min ? n->min : n->max);
	return -EINVAL;
}

int models_check(const char *spec, char *why, size_t size)
{
	char text[1024], *next, *name;
	int rc = 0;

	if (strlen(spec) >= sizeof(text)) {
		snprintf(why, size, "that is longer than %zu bytes", sizeof(text) - 1);
		return -EINVAL;
	}
	strcpy(text, spec);
	next = strchr(text, ':');
	if (next)
		*next++ = '\0';
	if (!find_model(text))
		return no_model(text, why, size);
	while (!rc && (name = strsep(&next, ","))) {
		char *value = strchr(name, '=');

		if (!value) {
			snprintf(why, size, "'%.40s' is not NUMBER=VALUE", name);
			return -EINVAL;
		}
		*value++ = '\0';
		rc = models_check_number(name, value, why, size);
	}
	return rc;
}

void models_print(FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (lines[i].model)
			fprintf(out, "%-16s %s\n", lines[i].model, lines[i].text);
}

/* The line that sets a number for a machine, or for its base; NULL if there is none. */
static const struct line *find_setting(const struct line *model, const char *number)
{
	for (const struct line *l = model + 1; l < lines + ARRAY_SIZE(lines) && !l->model; l++)
		if (!strcmp(l->number, number))
			return l;
	return model->base ? find_setting(find_model(model->base), number) : NULL;
}

int models_print_one(const char *name, FILE *out, char *why, size_t size)
{
	const struct line *model = find_model(name);

	if (!model)
		return no_model(name, why, size);
	fprintf(out, "%s: %s\n", name, model->text);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		const struct number *n = &numbers[i];
		const struct line *set = find_setting(model, n->name);

		fprintf(out, "%-14s %8lld %-12s %s", n->name, set ? set->value : n->initial,
			n->unit, n->help);
		if (set && *set->text)
			fprintf(out, " [%s]", set->text);
		fputc('\n', out);
	}
	return 0;
}

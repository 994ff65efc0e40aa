// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * options.c - command lines: one list of options for parsing and for --help.
 *
 * Must never act on an option.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "messages.h"
#include "options.h"
#include "suggest.h"

static void say_unknown(const char *arg, const struct option_desc *options, size_t nr)
{
	const char *names[OPTIONS_MAX];
	char word[64], nearest[SUGGEST_WORDS];

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(arg + 2, "="), arg + 2);
	for (size_t i = 0; i < nr; i++)
		names[i] = options[i].name;
	say("unknown option --%s%s", word,
	    suggest_words(word, "--", names, nr, nearest, sizeof(nearest)));
}

/* The lists getopt wants: @shorts has room for 3 * OPTIONS_MAX + 3 bytes, @longs for one more. */
static void fill(const struct option_desc *options, size_t nr, int stop_early, char *shorts,
		 struct option *longs)
{
	/* With the colon getopt distinguishes a missing argument from an unknown option. */
	shorts += sprintf(shorts, stop_early ? "+:" : ":");
	for (size_t i = 0; i < nr; i++) {
		const struct option_desc *o = &options[i];
		int has_arg = no_argument;

		if (o->arg)
			has_arg = *o->arg == '[' ? optional_argument : required_argument;
		longs[i] = (struct option){o->name, has_arg, NULL, o->key};
		if (o->key < 256)
			shorts += sprintf(shorts, "%c%.*s", o->key, has_arg, "::");
	}
	longs[nr] = (struct option){0};
}

int options_next(int argc, char **argv, const struct option_desc *options, size_t nr,
		 int stop_early)
{
	char shorts[3 * OPTIONS_MAX + 3];
	struct option longs[OPTIONS_MAX + 1];
	int at = optind ? optind : 1, key;

	fill(options, nr, stop_early, shorts, longs);
	opterr = 0;
	key = getopt_long(argc, argv, shorts, longs, NULL);
	if (key != '?' && key != ':')
		return key;
	at = optind > at ? optind - 1 : at;
	if (key == ':')
		say("option %s needs an argument", argv[at]);
	else if (!strncmp(argv[at], "--", 2) && !optopt)
		say_unknown(argv[at], options, nr);
	else if (!strncmp(argv[at], "--", 2))
		say("option %s takes no argument", argv[at]);
	else
		say("unknown option -%c, see --help", optopt);
	return OPTIONS_BAD;
}

/* Called with what --help would print, unless NULL. */
static void (*describe)(const char *usage, const struct option_desc *options, size_t nr);

void options_describe(void (*to)(const char *usage, const struct option_desc *options, size_t nr))
{
	describe = to;
}

void options_help(const char *usage, const char *about, const struct option_desc *options,
		  size_t nr)
{
	if (describe) {
		describe(usage, options, nr);
		return;
	}
	printf("usage: elide %s\n%s\n\n", usage, about);
	for (size_t i = 0; i < nr; i++) {
		const struct option_desc *o = &options[i];
		char left[64];
		int len = 0;

		len += sprintf(left, o->key < 256 ? "-%c, " : "    ", o->key);
		len += snprintf(left + len, sizeof(left) - len, "--%s", o->name);
		if (o->arg && *o->arg == '[')
			snprintf(left + len, sizeof(left) - len, "[=%.*s]", (int)strlen(o->arg) - 2,
				 o->arg + 1);
		else if (o->arg)
			snprintf(left + len, sizeof(left) - len, "=%s", o->arg);
		printf("  %-26s %s\n", left, o->help);
	}
}

int option_number(const char *option, const char *text, double least, double most, double *to)
{
	char *end;

	*to = strtod(text, &end);
	if (*text >= '0' && *text <= '9' && !*end && *to >= least && *to <= most)
		return 0;
	say("--%s=%s: not a number from %g to %g", option, text, least, most);
	return -EINVAL;
}

int option_time(const char *option, const char *text, const char *range, double least_ms, double most_ms,
		uint64_t *ms)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = {{"", 1e3}, {"ms", 1}, {"s", 1e3}, {"m", 60e3}, {"h", 3600e3}};
	char *end;
	double v = strtod(text, &end);

	for (size_t i = 0; i < ARRAY_SIZE(units) && *text >= '0' && *text <= '9'; i++) {
		double time = v * units[i].ms;

		if (strcmp(end, units[i].unit) || !(time >= least_ms && time <= most_ms))
			continue;
		*ms = (uint64_t)time;
		return 0;
	}
	say("--%s=%s: not a time from %s", option, text, range);
	return -EINVAL;
}

int option_word(const char *option, const char *text, option_values *values, size_t *to)
{
	char nearest[SUGGEST_WORDS], list[256];
	const char *words[OPTION_WORDS_MAX];
	size_t len = 0, nr = 0;

	while (nr < OPTION_WORDS_MAX && values(nr)) {
		words[nr] = values(nr);
		nr++;
	}
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(text, words[i]))
			continue;
		*to = i;
		return 0;
	}
	suggest_words(text, "", words, nr, nearest, sizeof(nearest));
	if (*nearest) {
		say("--%s=%s: %s", option, text, nearest + strlen(", "));
		return -EINVAL;
	}
	/* No word is near: name all. */
	for (size_t i = 0; i < nr; i++)
		len += snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "", words[i]);
	say("--%s=%s: there are %s", option, text, list);
	return -EINVAL;
}

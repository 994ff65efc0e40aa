// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * options.c - reads the command line by the table of options.def.
 *
 * Says what is wrong in one line that names the option and what it allows;
 * never guesses and never exits.
 */
#include "options.h"

#include "variants.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum opt_type {
	CHOICE,
	UINT,
	FLAG,
};

/* struct opt - a row of options.def; @def is the number of the default choice, or the value */
struct opt {
	const char *name;
	const char *help;
	enum opt_type type;
	const struct choice *choices;
	uint64_t min, max, def;
	size_t offset;
};

static const struct opt table[] = {
#define OPT_CHOICE(field, name, choices, def, help)                                                \
	{ name, help, CHOICE, choices, 0, 0, def, offsetof(struct options, field) },
#define OPT_UINT(field, name, min, max, def, help)                                                 \
	{ name, help, UINT, NULL, min, max, def, offsetof(struct options, field) },
#define OPT_FLAG(field, name, help)                                                                \
	{ name, help, FLAG, NULL, 0, 0, 0, offsetof(struct options, field) },
#include "options.def"
#undef OPT_CHOICE
#undef OPT_UINT
#undef OPT_FLAG
};

#define NR_OPTS (sizeof(table) / sizeof(table[0]))

/* What getopt_long() returns for the first row: past all characters, which are short options. */
#define FIRST_LONG 256

static void set(struct options *opts, const struct opt *opt, uint64_t value)
{
	void *field = (char *)opts + opt->offset;

	switch (opt->type) {
	case CHOICE:
		*(unsigned int *)field = (unsigned int)value;
		break;
	case UINT:
		*(uint64_t *)field = value;
		break;
	case FLAG:
		*(bool *)field = value;
		break;
	}
}

static int parse_choice(const struct opt *opt, const char *text, uint64_t *value)
{
	for (*value = 0; opt->choices[*value].name; ++*value)
		if (!strcmp(opt->choices[*value].name, text))
			return 0;
	fprintf(stderr, "index_bench: --%s=%s: must be one of", opt->name, text);
	for (const struct choice *c = opt->choices; c->name; c++)
		fprintf(stderr, "%s %s", c == opt->choices ? "" : ",", c->name);
	fputc('\n', stderr);
	return -EINVAL;
}

static int parse_uint(const struct opt *opt, const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	/* strtoull() would take blanks, signs and, with them, negative numbers. */
	if (*text >= '0' && *text <= '9' && !*end && !errno && *value >= opt->min &&
	    *value <= opt->max)
		return 0;
	fprintf(stderr, "index_bench: --%s=%s: must be a number from %" PRIu64 " to %" PRIu64 "\n",
		opt->name, text, opt->min, opt->max);
	return -EINVAL;
}

static int parse_one(struct options *opts, const struct opt *opt, const char *text)
{
	uint64_t value = 1;
	int err = 0;

	if (opt->type == CHOICE)
		err = parse_choice(opt, text, &value);
	else if (opt->type == UINT)
		err = parse_uint(opt, text, &value);
	if (!err)
		set(opts, opt, value);
	return err;
}

/* After getopt_long() returned @c and set optopt: an option it could not take. */
static void complain(int c, const char *arg)
{
	if (c == ':')
		fprintf(stderr, "index_bench: %s: needs a value\n", arg);
	else if (optopt >= FIRST_LONG)
		fprintf(stderr, "index_bench: --%s: takes no value\n",
			table[optopt - FIRST_LONG].name);
	else if (optopt)
		fprintf(stderr, "index_bench: -%c: no such option; see --help\n", optopt);
	else
		fprintf(stderr, "index_bench: %s: no such option; see --help\n", arg);
}

/**
 * options_parse() - read a command line
 * @opts: receives a value for every option
 * @argc: as main() has it
 * @argv: as main() has it
 *
 * Return: 0, or -EINVAL after one line on stderr.
 */
int options_parse(struct options *opts, int argc, char **argv)
{
	struct option longopts[NR_OPTS + 1] = { 0 };
	int c, i;

	for (i = 0; i < (int)NR_OPTS; i++) {
		set(opts, &table[i], table[i].def);
		longopts[i].name = table[i].name;
		longopts[i].has_arg = table[i].type == FLAG ? no_argument : required_argument;
		longopts[i].val = FIRST_LONG + i;
	}
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":", longopts, NULL)) != -1) {
		if (c < FIRST_LONG) {
			complain(c, argv[optind - 1]);
			return -EINVAL;
		}
		if (parse_one(opts, &table[c - FIRST_LONG], optarg))
			return -EINVAL;
	}
	if (optind < argc) {
		fprintf(stderr, "index_bench: %s: not an option; see --help\n", argv[optind]);
		return -EINVAL;
	}
	return 0;
}

/** options_help() - print every option with its values and default to stdout */
void options_help(void)
{
	puts("Usage: index_bench [OPTION]...\n"
	     "Runs threads on an index and checks that nothing was lost.\n");
	for (const struct opt *opt = table; opt < table + NR_OPTS; opt++) {
		char left[32];

		snprintf(left, sizeof(left), "--%s%s", opt->name,
			 opt->type == CHOICE ? "=NAME" : opt->type == UINT ? "=N" : "");
		printf("  %-16s %s", left, opt->help);
		if (opt->type == UINT)
			printf(" [%" PRIu64 "]", opt->def);
		if (opt->type == CHOICE) {
			for (const struct choice *c = opt->choices; c->name; c++)
				printf("%s%s", c == opt->choices ? ": " : ", ", c->name);
			printf(" [%s]", opt->choices[opt->def].name);
		}
		putchar('\n');
	}
	puts("\nExit status: 0 nothing was lost, 1 something was or memory ran out, 2 bad usage.");
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * options.c - parses the command line by the tables of all options.def.
 *
 * An error is one line that names the option and the values that it allows. The parser
 * never guesses and never exits.
 */
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct choice keys_choices[NR_KEYS + 1] = {
#define KEYS(id, name, help) { name, help },
#include "options.def"
};

const struct choice deal_choices[NR_DEALS + 1] = {
#define DEAL(id, name, help) { name, help },
#include "options.def"
};

#define OPTIONS_ROWS
#include "../base/options.h"

/* The program as its messages name it. */
#define PROGRAM "index_bench"

/* Maximum number of options: those of options.def and of all indexes. */
#define OPTIONS_MAX (NR_OPTIONS + NR_INDEXES * TREE_OPTIONS_MAX)

_Static_assert(OPTIONS_MAX <= OPTION_WALK_MAX, "option_walk() takes all options");

/*
 * struct parser - state of options_parse()
 * @opts: receives the values
 * @row: the options by their number on the command line, each name once
 * @text: value of each option of an index that was given, parsed after @index is known
 * @nr: number of options
 */
struct parser {
	struct options *opts;
	const struct option_row *row[OPTIONS_MAX];
	const char *text[OPTIONS_MAX];
	unsigned int nr;
};

static const struct option_row *find(const struct option_row *table, const char *name)
{
	for (; table->name; table++)
		if (!strcmp(table->name, name))
			return table;
	return NULL;
}

/*
 * The options of @owner that @index has not, and the indexes that have @given: "--a, --b
 * and --c: --index=btree has none of them; possible with --index=delta".
 */
static int refuse_foreign(const struct option_row *owner, unsigned int index, const char *given)
{
	const struct option_row *own = index_options(index), *last = NULL;
	const char *separator = "";

	fputs("index_bench: ", stderr);
	for (const struct option_row *row = owner; row->name; row++)
		last = find(own, row->name) ? last : row;
	for (const struct option_row *row = owner; row->name; row++) {
		if (find(own, row->name))
			continue;
		fprintf(stderr, "%s--%s", row == last && *separator ? " and " : separator,
			row->name);
		separator = ", ";
	}
	fprintf(stderr, ": --index=%s has none of them; possible with --index=",
		index_choices[index].name);
	separator = "";
	for (unsigned int i = 0; i < NR_INDEXES; i++) {
		if (!find(index_options(i), given))
			continue;
		fprintf(stderr, "%s%s", separator, index_choices[i].name);
		separator = ", ";
	}
	fputc('\n', stderr);
	return -EINVAL;
}

/* Parse an option that @opts->index has not: its default may be given, no other value. */
static int parse_foreign(const struct options *opts, const char *name, const char *text)
{
	unsigned int i = 0;
	const struct option_row *row;
	uint64_t value;

	while (!(row = find(index_options(i), name)))
		i++;
	if (option_value(PROGRAM, row, text, &value))
		return -EINVAL;
	return value == row->def ? 0 : refuse_foreign(index_options(i), opts->index, name);
}

/* Parse the options of the index, after the others. */
static int parse_index_options(struct options *opts, const struct parser *parser)
{
	const struct option_row *own = index_options(opts->index);

	for (unsigned int i = 0; own[i].name; i++)
		opts->of_index[i] = own[i].def;
	for (unsigned int i = NR_OPTIONS; i < parser->nr; i++) {
		const char *name = parser->row[i]->name, *text = parser->text[i];
		const struct option_row *row = find(own, name);

		if (!text)
			continue;
		if (row ? option_value(PROGRAM, row, text, &opts->of_index[row - own]) :
			  parse_foreign(opts, name, text))
			return -EINVAL;
	}
	return 0;
}

/* All options: those of options.def, then those of the indexes, each name once. */
static void parser_init(struct parser *parser)
{
	*parser = (struct parser){ .nr = NR_OPTIONS };
	for (unsigned int i = 0; i < NR_OPTIONS; i++)
		parser->row[i] = &option_rows[i];
	for (unsigned int index = 0; index < NR_INDEXES; index++) {
		for (const struct option_row *row = index_options(index); row->name; row++) {
			unsigned int i = 0;

			while (i < parser->nr && strcmp(parser->row[i]->name, row->name))
				i++;
			if (i == parser->nr)
				parser->row[parser->nr++] = row;
		}
	}
}

/* Parse an option of the driver; keep the text of one of the indexes. */
static int take(void *ctx, unsigned int nr, const char *text)
{
	struct parser *parser = ctx;

	if (nr >= NR_OPTIONS) {
		parser->text[nr] = text ? text : "";
		return 0;
	}
	parser->opts->given[nr] = true;
	return option_value(PROGRAM, &option_rows[nr], text, &parser->opts->value[nr]);
}

/**
 * options_parse() - parse a command line
 * @opts: receives a value for each option
 * @argc: argument of main()
 * @argv: argument of main()
 *
 * Return: 0, or -EINVAL after one line on stderr.
 */
int options_parse(struct options *opts, int argc, char **argv)
{
	struct parser parser;

	parser_init(&parser);
	parser.opts = opts;
	for (unsigned int i = 0; i < NR_OPTIONS; i++) {
		opts->value[i] = option_rows[i].def;
		opts->given[i] = false;
	}
	if (option_walk(PROGRAM, parser.row, parser.nr, argc, argv, take, &parser))
		return -EINVAL;
	return parse_index_options(opts, &parser);
}

/**
 * option_name() - the name of an option of the driver
 * @id: the option
 */
const char *option_name(enum option_id id)
{
	return option_rows[id].name;
}

/** options_help() - print each option with its values and its default to stdout */
void options_help(void)
{
	puts("Usage: index_bench [OPTION]...\n"
	     "Runs threads on an index and verifies its structure and its content.\n");
	for (unsigned int i = 0; i < NR_OPTIONS; i++) {
		option_help(&option_rows[i], NULL);
		for (unsigned int index = 0; i == OPTION_ID_scheme && index < NR_INDEXES; index++)
			for (const struct option_row *r = index_options(index); r->name; r++)
				option_help(r, index_choices[index].name);
	}
	puts("\nExit status: 0 no fault found, 1 a fault found or out of memory, 2 bad usage.");
}

/** options_list() - print the names that options take, and each index with its schemes */
void options_list(void)
{
	char schemes[256];

	option_list(option_rows);
	for (unsigned int index = 0; index < NR_INDEXES; index++) {
		schemes_allowed(schemes, sizeof(schemes), index, 1, true);
		printf("%-10s %-10s %s\n", "variant", index_choices[index].name, schemes);
	}
	for (unsigned int index = 0; index < NR_INDEXES; index++)
		option_list(index_options(index));
}

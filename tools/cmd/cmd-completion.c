// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd-completion.c - elide completion: a table of all commands, options and their values, and the
 * functions of a shell that read it, which are completion/elide.bash and completion/elide.zsh.
 *
 * The table has a line for each, with fields that are separated by tabs and never empty:
 *
 *	command NAME HELP
 *	operands COMMAND KIND...
 *	option COMMAND --NAME -LETTER ARGUMENT KIND VALUES HELP
 *	tunable NAME - - - KIND VALUES HELP
 *	policy NAME NUMBER
 *	model NAME, number NAME
 *
 * ARGUMENT is no, optional or required. VALUES are separated by '|'. KIND says what an argument is:
 * word, one of VALUES; policy, one of them with its numbers; set, several of them with commas; data, a
 * data file; file, dir; pid; program, a program and its arguments; executable, a program alone; command,
 * tunable, model; setting, NAME=VALUE; text, of which nothing is known.
 *
 * Must never hold a list of its own: options and operands come from the commands' --help, values from
 * the options, tunables and machines from their lists.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../../lib/policy-numbers.h"
#include "../base/exit.h"
#include "../base/messages.h"
#include "../base/options.h"
#include "../base/settings.h"
#include "../run/models.h"
#include "cmd.h"

/* Made from the files by tools/build.mk. */
extern const char completion_bash[];
extern const char completion_zsh[];

static const struct option_desc own_options[] = {OPTION_HELP};

static const struct {
	const char *name;
	const char *functions;
} shells[] = {
	{"bash", completion_bash},
	{"zsh", completion_zsh},
};

/* The name of the command whose options are being described. */
static const char *described;

/* Text inside of single quotes, which both shells take literally, except for a quote. */
static void print_quoted(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			printf("'\\''");
		else
			putchar(*text == '\t' || *text == '\n' ? ' ' : *text);
	}
}

static const char *setting_kind(const struct setting *s)
{
	if (s->type == SETTING_ENUM)
		return strcmp(s->name, "POLICY") ? "word" : "policy";
	if (s->type == SETTING_SET)
		return "set";
	return !strcmp(s->name, "MODEL") ? "model" : "text";
}

/* The tunable that an option sets. */
static const struct setting *option_tunable(const struct option_desc *o)
{
	return o->arg ? setting_find(o->name) : NULL;
}

/* Kinds of arguments and operands by their word in --help. */
static const char *word_kind(const char *word, size_t len)
{
	static const struct {
		const char *word, *kind;
	} kinds[] = {
		{"FILE", "file"},       {"DIR", "dir"},      {"PID", "pid"},
		{"NAME=VALUE", "setting"}, {"MODEL", "model"}, {"COMMAND", "command"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strlen(kinds[i].word) == len && !strncmp(kinds[i].word, word, len))
			return kinds[i].kind;
	return "text";
}

static void print_option(const struct option_desc *o)
{
	const struct setting *s = option_tunable(o);
	const char *argument = "no", *kind = "text", *values = NULL, *arg = o->arg;

	if (arg) {
		bool is_optional = *arg == '[';

		argument = is_optional ? "optional" : "required";
		arg += is_optional;
		kind = word_kind(arg, strcspn(arg, "]"));
		if (!strcmp(kind, "file") && !strcmp(o->name, "input"))
			kind = "data";
	}
	if (o->values) {
		kind = "word";
	} else if (s && s->values) {
		kind = setting_kind(s);
		values = s->values;
	}
	printf("option\t%s\t--%s\t", described, o->name);
	printf(o->key < 256 ? "-%c" : "-", o->key);
	printf("\t%s\t%s\t%s", argument, kind, values ? values : o->values ? "" : "-");
	for (size_t i = 0; o->values && o->values(i); i++)
		printf("%s%s", i ? "|" : "", o->values(i));
	putchar('\t');
	print_quoted(o->help);
	putchar('\n');
}

/* The kind of an operand, which is a word of the usage line without its brackets. */
static void print_operand(const char *word, size_t len, bool has_arguments)
{
	const char *kind = word_kind(word, len);

	if (memchr(word, '|', len))
		printf("\tword:%.*s", (int)len, word);
	else if (len == 7 && !strncmp(word, "PROGRAM", len))
		printf("\t%s", has_arguments ? "program" : "executable");
	else if (len == 4 && !strncmp(word, "NAME", len))
		printf("\ttunable");
	else
		printf("\t%s", strcmp(kind, "text") && strcmp(kind, "file") ? kind : "data");
}

/* "ctl [OPTION...] PID off|on": what is not an option, a pair of brackets or dots. */
static void print_operands(const char *usage)
{
	bool has_arguments = strstr(usage, "[ARGUMENT...]");
	const char *at = usage + strcspn(usage, " ");
	const char *last = usage + strlen(usage);

	printf("operands\t%s", described);
	while (*(at += strspn(at, " ["))) {
		size_t len = strcspn(at, " ].");

		if (*at != '-' && strncmp(at, "OPTION", 6) && strncmp(at, "ARGUMENT", 8))
			print_operand(at, len, has_arguments);
		at += len + strcspn(at + len, " ");
	}
	/* The last one may be repeated. */
	printf("\t%s\n", !has_arguments && strstr(last - (last - usage > 4 ? 4 : 0), "...") ? "more" :
	       "end");
}

static void print_command(const char *usage, const struct option_desc *options, size_t nr)
{
	print_operands(usage);
	for (size_t i = 0; i < nr; i++)
		print_option(&options[i]);
}

/* A line for each number of each policy. */
static void print_policies(const char *policies)
{
	for (const char *p = policies;; p++) {
		size_t len = strcspn(p, "|");

		for (unsigned int i = 0; i < ELIDE_NR_POLICY_NUMBERS; i++)
			if (elide_policy_has(p, len, i))
				printf("policy\t%.*s\t%s\n", (int)len, p, elide_policy_numbers[i].name);
		p += len;
		if (!*p)
			return;
	}
}

static void print_lists(void)
{
	print_policies(setting_find("POLICY")->values);
	for (size_t i = 0; i < nr_settings; i++) {
		const struct setting *s = &settings[i];

		if (s->scope == SETTING_RUN)
			continue;
		printf("tunable\t%s\t-\t-\t-\t%s\t%s\t", s->name, setting_kind(s),
		       s->values ? s->values : "-");
		print_quoted(s->help);
		putchar('\n');
	}
	for (size_t i = 0; models_names(i); i++)
		printf("model\t%s\n", models_names(i));
	for (size_t i = 0; models_numbers(i); i++)
		printf("number\t%s\n", models_numbers(i));
}

static void print_table(const struct command *commands, size_t nr)
{
	options_describe(print_command);
	for (size_t i = 0; i < nr; i++) {
		static char help[] = "--help";
		char *argv[] = {(char *)commands[i].name, help, NULL};

		described = commands[i].name;
		printf("command\t%s\t", described);
		print_quoted(commands[i].help);
		putchar('\n');
		/* Resets getopt. */
		optind = 0;
		commands[i].run(2, argv);
	}
	options_describe(NULL);
	print_lists();
}

int cmd_completion(const struct command *commands, size_t nr, int argc, char **argv)
{
	int key;

	while ((key = options_next(argc, argv, own_options, ARRAY_SIZE(own_options), 0)) !=
	       OPTIONS_END) {
		if (key != 'h')
			return EXIT_USAGE;
		options_help("completion bash|zsh",
			     "Prints the completion of elide for a shell, as for: source <(elide "
			     "completion bash)", own_options, ARRAY_SIZE(own_options));
		return 0;
	}
	for (size_t i = 0; argc - optind == 1 && i < ARRAY_SIZE(shells); i++) {
		if (strcmp(argv[optind], shells[i].name))
			continue;
		/* zsh reads a file that begins with this line by itself. */
		printf(strcmp(shells[i].name, "zsh") ? "" : "#compdef elide\n");
		printf("# Made by elide completion %s.\n_elide_table='", shells[i].name);
		print_table(commands, nr);
		printf("'\n\n%s", shells[i].functions);
		return 0;
	}
	say("completion: needs the name of a shell, bash or zsh");
	return EXIT_USAGE;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * elide.c - finds and runs a command. bin/elide, which is front.c, executes this for all but run.
 *
 * Must never do a command's work.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/exit.h"
#include "../base/messages.h"
#include "../base/options.h"
#include "../base/suggest.h"
#include "cmd.h"

static int cmd_help(int argc, char **argv);
static int cmd_version(int argc, char **argv);
static int complete(int argc, char **argv);

static const struct command commands[] = {
	{"run", cmd_run, "run a program with its locks elided, or profiled"},
	{"report", cmd_report, "report on each lock and each call site of a run"},
	{"top", cmd_top, "the report of a running process, as it changes"},
	{"stacks", cmd_stacks, "what each thread of a running process waits for and holds now"},
	{"attach", cmd_attach, "profile a process that runs already"},
	{"detach", cmd_detach, "end what elide attach has begun"},
	{"diff", cmd_diff, "the differences between two runs, lock by lock"},
	{"merge", cmd_merge, "join the data files of many runs and hosts"},
	{"compare", cmd_compare, "run a program plain and elided: does elision pay?"},
	{"what-if", cmd_what_if, "what a program gains if the sections of a lock take less time"},
	{"doctor", cmd_doctor, "can locks be elided on this machine, in this program?"},
	{"ctl", cmd_ctl, "elision off and on in a running process, snapshot, reset"},
	{"tunables", cmd_tunables, "print every setting"},
	{"completion", complete, "print the completion of elide for bash or zsh"},
	{"help", cmd_help, "print this"},
	{"version", cmd_version, "print the version"},
};

static void print_usage(FILE *out)
{
	fprintf(out, "usage: elide COMMAND [ARGUMENT...]\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
	fprintf(out, "\nelide COMMAND --help prints its options, elide(1) has the rest.\n");
}

static int complete(int argc, char **argv)
{
	return cmd_completion(commands, ARRAY_SIZE(commands), argc, argv);
}

/* help and version have no option except --help: prints that text if it is given. */
static bool wants_help(int argc, char **argv, const char *usage, const char *about)
{
	static const struct option_desc options[] = {OPTION_HELP};

	if (argc < 2 || (strcmp(argv[1], "--help") && strcmp(argv[1], "-h")))
		return false;
	options_help(usage, about, options, ARRAY_SIZE(options));
	return true;
}

static int cmd_version(int argc, char **argv)
{
	if (wants_help(argc, argv, "version", "Prints the release, or the commit it was built from."))
		return 0;
	printf("elide %s\n", ELIDE_VERSION);
	return 0;
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int say_unknown(const char *name)
{
	const char *names[ARRAY_SIZE(commands)];
	char nearest[SUGGEST_WORDS];

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i].name;
	say("unknown command %s%s", name,
	    suggest_words(name, "", names, ARRAY_SIZE(names), nearest, sizeof(nearest)));
	return EXIT_USAGE;
}

static int cmd_help(int argc, char **argv)
{
	static char *help[] = {NULL, "--help", NULL};
	const struct command *c;

	if (wants_help(argc, argv, "help [COMMAND]", "Prints the commands, or the options of one."))
		return 0;
	if (argc < 2) {
		print_usage(stdout);
		return 0;
	}
	c = find(argv[1]);
	if (!c)
		return say_unknown(argv[1]);
	if (c->run == cmd_help)
		return cmd_help(0, NULL);
	help[0] = argv[1];
	return c->run(2, help);
}

int main(int argc, char **argv)
{
	const struct command *c;
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!name) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	else if (!strcmp(name, "--version") || !strcmp(name, "-V"))
		name = "version";
	c = find(name);
	return c ? exit_flushed(c->run(argc - 1, argv + 1)) : say_unknown(name);
}

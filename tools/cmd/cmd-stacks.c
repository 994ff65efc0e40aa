// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd-stacks.c - elide stacks: what the threads of a process wait for and hold now.
 *
 * Must never leave the process stopped.
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../lib/compiler.h"
#include "../base/exit.h"
#include "../base/messages.h"
#include "../base/options.h"
#include "../live/capture.h"
#include "../print/stacks-json.h"
#include "../print/stacks-print.h"
#include "cmd.h"

enum { OPT_JSON = 256 };

static const struct option_desc options[] = {
	{OPT_JSON, "json", NULL, "print JSON"},
	OPTION_HELP,
};

static void warn(const char *line)
{
	say("stacks: %s", line);
}

static int show(long pid, bool json)
{
	struct stacks stacks;
	char why[CAPTURE_WHY];
	int code = EXIT_USAGE;

	if (capture(pid, &stacks, warn, why)) {
		say("stacks: process %ld %s", pid, why);
	} else {
		code = stacks.nr_cycles ? EXIT_CONDITION : 0;
		if (!json)
			stacks_print(&stacks, stdout);
		else if (stacks_print_json(&stacks, stdout))
			code = EXIT_USAGE;
	}
	stacks_free(&stacks);
	return code;
}

/**
 * cmd_stacks() - elide stacks.
 */
int cmd_stacks(int argc, char **argv)
{
	bool json = false;
	char *end;
	long pid;
	int key;

	while ((key = options_next(argc, argv, options, ARRAY_SIZE(options), 0)) != OPTIONS_END) {
		switch (key) {
		case OPT_JSON:
			json = true;
			break;
		case 'h':
			options_help("stacks [OPTION...] PID",
				     "Prints what each thread of a running process waits for and holds, "
				     "with its stack.",
				     options, ARRAY_SIZE(options));
			return 0;
		default:
			return EXIT_USAGE;
		}
	}
	if (argc - optind != 1) {
		say("stacks: needs a process id");
		return EXIT_USAGE;
	}
	errno = 0;
	pid = strtol(argv[optind], &end, 10);
	if (*end || end == argv[optind] || errno || pid <= 0) {
		say("stacks: %s is not a process id", argv[optind]);
		return EXIT_USAGE;
	}
	return show(pid, json);
}

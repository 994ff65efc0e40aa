// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * front.c - bin/elide: `elide run` alone, so that it starts without the libraries for debug
 * information, terminals and JSON. All other commands are in libexec/elide/elide.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "../base/exit.h"
#include "../base/messages.h"
#include "../base/program.h"
#include "cmd.h"

int main(int argc, char **argv)
{
	char path[PATH_MAX];
	int err;

	if (argc > 1 && !strcmp(argv[1], "run"))
		return exit_flushed(cmd_run(argc - 1, argv + 1));
	err = product_path("libexec/elide/elide", path);
	if (!err) {
		execv(path, argv);
		err = -errno;
	}
	say("libexec/elide/elide, which has all commands but run: %s", strerror(-err));
	return EXIT_USAGE;
}

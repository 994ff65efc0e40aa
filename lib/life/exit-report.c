/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exit-report.c - see exit-report.h. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/datafile-writer.h"
#include "../base/log.h"
#include "../base/syscalls.h"
#include "exit-report.h"

/* bin/elide of the directory that holds lib/THIS-LIBRARY, or lib/ARCHITECTURE/THIS-LIBRARY. */
static int find_command(char *command, size_t size)
{
	static const char *const places[] = {"../bin/elide", "../../bin/elide"};
	char library[PATH_MAX], *slash;
	Dl_info info;

	if (!dladdr(elide_exit_report, &info) || !realpath(info.dli_fname, library))
		return -ENOENT;
	slash = strrchr(library, '/');
	*slash = '\0';
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(command, size, "%s/%s", library, places[i]);
		if (!access(command, X_OK))
			return 0;
	}
	return -ENOENT;
}

/* The environment without what would preload us into the command too. */
static char *const command_environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", NULL};

static int run(const char *command, const char *where)
{
	char *const argv[] = {(char *)command, "report", "--no-children", "-i",
			      (char *)elide_data_path(), NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int err;

	err = posix_spawn_file_actions_init(&actions);
	if (err)
		return err;
	if (strcmp(where, "stderr"))
		err = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, where,
						       O_WRONLY | O_CREAT | O_TRUNC, 0600);
	else
		err = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	if (!err)
		err = posix_spawn(&pid, command, &actions, NULL, argv, command_environment);
	posix_spawn_file_actions_destroy(&actions);
	if (err)
		return err;
	while (sys_waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

void elide_exit_report(const char *where)
{
	char command[PATH_MAX + 32];
	int err;

	if (!elide_data_path()) {
		elide_log("no data file, so there is no report");
		return;
	}
	err = find_command(command, sizeof(command));
	if (!err)
		err = run(command, where);
	if (err)
		elide_log("cannot print the report to %s: %s", where, strerror(err < 0 ? -err : err));
}

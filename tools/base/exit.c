// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * exit.c - exit codes of programs that were run.
 *
 * Must never end a process.
 */
#include "exit.h"

#include "messages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

int exit_code(int status)
{
	if (status < 0)
		return -1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int exit_unread(int code, int err)
{
	return code != EXIT_USAGE && err == -EBADMSG ? EXIT_CONDITION : EXIT_USAGE;
}

int exit_flushed(int code)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	say("standard output: %s", errno ? strerror(errno) : "not all could be written");
	return code ? code : EXIT_USAGE;
}

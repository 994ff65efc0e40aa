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

const char *exit_words(int status, char to[EXIT_WORDS])
{
	const char *signal = status < 0 || !WIFSIGNALED(status) ? NULL : sigabbrev_np(WTERMSIG(status));

	*to = '\0';
	if (signal)
		snprintf(to, EXIT_WORDS, "killed by SIG%s", signal);
	else if (status >= 0 && WIFSIGNALED(status))
		snprintf(to, EXIT_WORDS, "killed by signal %d", WTERMSIG(status));
	else if (status >= 0)
		snprintf(to, EXIT_WORDS, "exit code %d", WEXITSTATUS(status));
	return to;
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

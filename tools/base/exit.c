// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * exit.c - exit codes of programs that were run.
 *
 * Must never end a process.
 */
#include "exit.h"

#include <sys/wait.h>

int exit_code(int status)
{
	if (status < 0)
		return -1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

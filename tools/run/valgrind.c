// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * valgrind.c - is rtmgrind installed, and does it work with this valgrind?
 *
 * rtmgrind is built from valgrind's static libraries, reads its internal structures and needs its
 * other files; emulator-check.c finds out whether these match. Must never run a program in it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/program.h"
#include "emulator-check.h"
#include "valgrind.h"

/* The first line that `valgrind --version` prints, without "valgrind-". */
static int ask_version(const char *valgrind, char *to, size_t size)
{
	int pipes[2], status;
	ssize_t n;
	pid_t pid;

	if (pipe(pipes))
		return -errno;
	pid = fork();
	if (!pid) {
		char *args[] = {(char *)valgrind, "--version", NULL};

		dup2(pipes[1], STDOUT_FILENO);
		close(pipes[0]);
		unsetenv("LD_PRELOAD");
		execv(valgrind, args);
		_exit(127);
	}
	close(pipes[1]);
	n = pid < 0 ? -1 : read(pipes[0], to, size - 1);
	close(pipes[0]);
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || n <= 0 || status)
		return -ENOEXEC;
	to[n] = '\0';
	to[strcspn(to, "\n")] = '\0';
	if (strncmp(to, "valgrind-", 9))
		return -ENOEXEC;
	memmove(to, to + 9, strlen(to + 9) + 1);
	return 0;
}

int emulator_find(struct emulator *e, char *why, size_t size)
{
	char valgrind[PATH_MAX], tool[PATH_MAX];
	size_t len;

	memset(e, 0, sizeof(*e));
	if (program_find("valgrind", valgrind) ||
	    ask_version(valgrind, e->version, sizeof(e->version))) {
		e->version[0] = '\0';
		snprintf(why, size, "valgrind is not installed");
		return -ENOENT;
	}
	if (product_path("libexec/elide", e->lib) ||
	    product_path("libexec/elide/rtmgrind-amd64-linux", tool) ||
	    product_path("libexec/elide/launch", e->launch)) {
		snprintf(why, size, "rtmgrind is not installed with this elide");
		return -ENOENT;
	}
	len = snprintf(why, size, "rtmgrind does not work with this valgrind, %s: ", e->version);
	return emulator_check(e, valgrind, why + len, size - len);
}

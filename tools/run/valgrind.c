// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * valgrind.c - is rtmgrind here, and does it know this valgrind?
 *
 * rtmgrind is built from valgrind's static libraries and reads its internal
 * structures: only versions it was built and tried with will do. Must never
 * run a program in it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/program.h"
#include "valgrind.h"

static const char *const supported[] = {"3.19.0", "3.24.0"};

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

static void list_supported(char *to, size_t size)
{
	size_t len = 0;

	*to = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(supported) && len < size; i++)
		len += snprintf(to + len, size - len, "%s%s", i ? ", " : "", supported[i]);
}

int emulator_find(struct emulator *e, char *why, size_t size)
{
	char valgrind[PATH_MAX], known[64];

	memset(e, 0, sizeof(*e));
	list_supported(known, sizeof(known));
	if (program_find("valgrind", valgrind) ||
	    ask_version(valgrind, e->version, sizeof(e->version))) {
		e->version[0] = '\0';
		snprintf(why, size, "valgrind is not installed; the emulator needs version %s",
			 known);
		return -ENOENT;
	}
	for (size_t i = 0;; i++) {
		if (i == ARRAY_SIZE(supported)) {
			snprintf(why, size, "valgrind %s is not known to the emulator, only %s",
				 e->version, known);
			return -ENOTSUP;
		}
		if (!strcmp(e->version, supported[i]))
			break;
	}
	if (product_path("libexec/elide", e->lib) ||
	    product_path("libexec/elide/rtmgrind-amd64-linux", valgrind) ||
	    product_path("libexec/elide/launch", e->launch)) {
		snprintf(why, size, "rtmgrind is not installed with this elide");
		return -ENOENT;
	}
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * exit-report.c - see exit-report.h.
 *
 * If the command were a child of the program, its SIGCHLD handler or wait(-1) would find it. So there is
 * a process between the two which raises no signal when it ends, and which wait(2) finds with __WCLONE
 * only. That process must not exec: then it would raise SIGCHLD.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/datafile-writer.h"
#include "../base/log.h"
#include "../base/syscalls.h"
#include "../compiler.h"
#include "exit-report.h"

/* bin/elide of the directory that holds lib/THIS-LIBRARY, or lib/ARCHITECTURE/THIS-LIBRARY. */
static int find_command(char *command, size_t size)
{
	static const char *const places[] = {"../bin/elide", "../../bin/elide"};
	char library[PATH_MAX], *slash;
	Dl_info info;

	if (!dladdr(elide_exit_report, &info) || sys_realpath(info.dli_fname, library, sizeof(library)))
		return -ENOENT;
	slash = strrchr(library, '/');
	*slash = '\0';
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(command, size, "%s/%s", library, places[i]);
		if (!sys_access(command, X_OK))
			return 0;
	}
	return -ENOENT;
}

/* Open what the report is printed to. Return: a descriptor or -errno. */
static int open_output(const char *where)
{
	static const struct {
		const char *name;
		int fd;
	} streams[] = {
		{"stderr", STDERR_FILENO},
		{"/dev/stderr", STDERR_FILENO},
		{"/dev/stdout", STDOUT_FILENO},
	};
	int fd, flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

	for (size_t i = 0; i < ARRAY_SIZE(streams); i++)
		if (!strcmp(where, streams[i].name)) {
			fd = sys_fcntl(streams[i].fd, F_DUPFD_CLOEXEC, (void *)(STDERR_FILENO + 1l));
			return fd < 0 ? -errno : fd;
		}
	/*
	 * O_NOFOLLOW, as another user who can write to the directory could place a link there to a file of
	 * this user. Links in the two folders lead to what the program has open: append to that.
	 */
	if (!strncmp(where, "/dev/fd/", 8) || !strncmp(where, "/proc/self/fd/", 14))
		flags |= O_APPEND;
	else
		flags |= O_CREAT | O_TRUNC | O_NOFOLLOW;
	fd = sys_open(where, flags, 0600);
	if (fd < 0)
		return -errno;
	sys_fcntl(fd, F_SETFL, 0);
	return fd;
}

/* Without LD_PRELOAD, which would load this library into the command, too. */
static char *const command_environment[] = {"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", NULL};

/*
 * In the process between: it has a copy of the program's memory, in which any lock may be held. Runs the
 * command with all signals as they are by default. Return: 0 or an error.
 */
static int run(const char *command, const char *data, int out)
{
	char *const argv[] = {(char *)command, "report", "--no-children", "-i", (char *)data, NULL};
	posix_spawnattr_t attributes;
	sigset_t signals;
	pid_t pid;
	int err;

	if (syscall(SYS_dup2, out, STDOUT_FILENO) < 0)
		return errno;
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	sigemptyset(&signals);
	posix_spawnattr_setsigmask(&attributes, &signals);
	sigfillset(&signals);
	posix_spawnattr_setsigdefault(&attributes, &signals);
	err = posix_spawn(&pid, command, NULL, &attributes, argv, command_environment);
	while (!err && sys_waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return err;
}

/* Run the process between, and wait for it. Return: 0 or an error. */
static int run_apart(const char *command, const char *data, int out)
{
	static const uint64_t all = ~0ull;
	uint64_t signals;
	int status = 0;
	pid_t pid;

	/* No signal handler of the program runs in the process between. */
	sys_sigmask(&all, &signals);
	/* As fork(), without a signal at the end; no handler of pthread_atfork() is called. */
	pid = syscall(SYS_clone, 0ul, 0ul, 0ul, 0ul, 0ul);
	if (!pid) {
		syscall(SYS_exit_group, run(command, data, out));
		__builtin_unreachable();
	}
	sys_sigmask(&signals, NULL);
	if (pid < 0)
		return errno;
	while (sys_waitpid(pid, &status, __WCLONE) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

void elide_exit_report(const char *where)
{
	const char *data = elide_data_path();
	char command[PATH_MAX + 32];
	int err, out;

	if (!data) {
		elide_log("no data file, so there is no report");
		return;
	}
	err = -find_command(command, sizeof(command));
	if (err)
		goto failed;
	out = open_output(where);
	err = out < 0 ? -out : run_apart(command, data, out);
	if (out >= 0)
		sys_close(out);
	if (!err)
		return;
failed:
	elide_log("cannot print the report to %s: %s", where,
		  err == ELOOP ? "symbolic links are not followed" : strerror(err));
}

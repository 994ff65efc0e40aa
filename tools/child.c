// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * child.c - run the program, and find what it left.
 *
 * Must never change how the program behaves.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/compiler.h"
#include "child.h"
#include "load.h"

/* Signals that would end this process and that people send to stop or steer the program. */
static const int handed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

/* In the child: execute, as execvp(3) does with a file that is no program: by the shell. */
static void execute(const char *path, char **argv, const char *preload, int report_fd)
{
	int rc;

	if (preload && setenv("LD_PRELOAD", preload, 1))
		_exit(127);
	execv(path, argv);
	if (errno == ENOEXEC) {
		size_t nr = 0;
		char **shell;

		while (argv[nr])
			nr++;
		shell = calloc(nr + 2, sizeof(*shell));
		if (shell) {
			shell[0] = "sh";
			shell[1] = (char *)path;
			memcpy(&shell[2], &argv[1], nr * sizeof(*shell));
			execv("/bin/sh", shell);
		}
	}
	rc = errno;
	if (write(report_fd, &rc, sizeof(rc)) < 0)
		_exit(126);
	_exit(127);
}

/* Waits for the child's end; signals arrive here because they are blocked. */
static void wait_for(pid_t pid, const sigset_t *set, int *status)
{
	siginfo_t info;
	pid_t ended;

	for (;;) {
		int sig = sigwaitinfo(set, &info);

		if (sig == SIGCHLD) {
			ended = waitpid(pid, status, WNOHANG);
			if (ended == pid || (ended < 0 && errno != EINTR))
				return;
		} else if (sig > 0 && info.si_code <= 0) {
			/* Sent by a process, to us. What the terminal sends has si_code above 0
			 * and has gone to the program as well.
			 */
			kill(pid, sig);
		}
	}
}

int child_run(const char *path, char **argv, const char *preload, pid_t *pid, int *status)
{
	struct sigaction default_action = {.sa_handler = SIG_DFL}, chld;
	sigset_t set, old;
	int pipes[2], rc = 0;

	if (pipe2(pipes, O_CLOEXEC))
		return -errno;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(handed_on); i++)
		sigaddset(&set, handed_on[i]);
	/* An ignored SIGCHLD would have the kernel reap the child. */
	sigaction(SIGCHLD, &default_action, &chld);
	sigprocmask(SIG_BLOCK, &set, &old);
	fflush(NULL);
	*pid = fork();
	if (!*pid) {
		sigaction(SIGCHLD, &chld, NULL);
		sigprocmask(SIG_SETMASK, &old, NULL);
		execute(path, argv, preload, pipes[1]);
	}
	if (*pid < 0)
		rc = -errno;
	close(pipes[1]);
	if (!rc) {
		int error;

		wait_for(*pid, &set, status);
		if (read(pipes[0], &error, sizeof(error)) == sizeof(error))
			rc = -error;
	}
	close(pipes[0]);
	sigprocmask(SIG_SETMASK, &old, NULL);
	sigaction(SIGCHLD, &chld, NULL);
	return rc;
}

/* The file of the program itself to the front; without one the shortest name stays there. */
static void main_file_first(struct paths *f, pid_t pid)
{
	struct elide_header h;

	for (size_t i = 0; i < f->nr; i++) {
		char *path = f->path[i];

		if (load_header(path, &h) || h.pid != (uint32_t)pid)
			continue;
		memmove(f->path + 1, f->path, i * sizeof(*f->path));
		f->path[0] = path;
		return;
	}
}

int find_files(struct paths *f, const char *output, uint64_t run, pid_t pid)
{
	char stem[PATH_MAX];
	int rc;

	snprintf(stem, sizeof(stem), "%.*s", (int)strcspn(output, "%"), output);
	rc = paths_of_run(f, stem, run, NULL);
	if (!rc && f->nr)
		main_file_first(f, pid);
	return rc;
}

void write_exit_status(const char *path, pid_t pid, int status)
{
	int32_t value = status;
	struct elide_header h;
	int fd;

	if (load_header(path, &h) || h.pid != (uint32_t)pid)
		return;
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	if (pwrite(fd, &value, sizeof(value), offsetof(struct elide_header, exit_status)) < 0)
		perror("elide: data file");
	close(fd);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * child.c - run the program, and find what it left.
 *
 * Must never change how the program behaves.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/compiler.h"
#include "child.h"
#include "load.h"
#include "report.h"

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

static int add_file(struct found_files *f, const char *path)
{
	char **grown = reallocarray(f->path, f->nr + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	f->path = grown;
	grown[f->nr] = strdup(path);
	return grown[f->nr] ? (f->nr++, 0) : -ENOMEM;
}

static int compare_names(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

/*
 * The file of the program itself to the front: that of its pid, or, because an
 * emulated program sees another pid, the one with the shortest name.
 */
static void main_file_first(struct found_files *f, pid_t pid)
{
	struct elide_header h;
	size_t best = 0;

	for (size_t i = 0; i < f->nr; i++) {
		if (!load_header(f->path[i], &h) && h.pid == (uint32_t)pid) {
			best = i;
			break;
		}
		if (strlen(f->path[i]) < strlen(f->path[best]))
			best = i;
	}
	if (best) {
		char *main_file = f->path[best];

		memmove(f->path + 1, f->path, best * sizeof(*f->path));
		f->path[0] = main_file;
	}
}

int find_files(struct found_files *f, const char *output, uint64_t run, pid_t pid)
{
	const char *name = base_name(output);
	size_t dir_len = name - output, prefix = strcspn(name, "%");
	char dir[4096], full[4096 + 256];
	struct elide_header h;
	struct dirent *entry;
	int rc = 0;
	DIR *d;

	memset(f, 0, sizeof(*f));
	if (dir_len >= sizeof(dir))
		return 0;
	snprintf(dir, sizeof(dir), "%.*s", (int)dir_len, output);
	d = opendir(dir_len ? dir : ".");
	if (!d)
		return 0;
	while (!rc && (entry = readdir(d))) {
		if (strncmp(entry->d_name, name, prefix))
			continue;
		snprintf(full, sizeof(full), "%s%s", dir, entry->d_name);
		if (!load_header(full, &h) && h.run == run)
			rc = add_file(f, full);
	}
	closedir(d);
	qsort(f->path, f->nr, sizeof(*f->path), compare_names);
	main_file_first(f, pid);
	return rc;
}

void found_files_free(struct found_files *f)
{
	for (size_t i = 0; i < f->nr; i++)
		free(f->path[i]);
	free(f->path);
}

void write_exit_status(const char *path, int status)
{
	int32_t value = status;
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return;
	if (pwrite(fd, &value, sizeof(value), offsetof(struct elide_header, exit_status)) < 0)
		perror("elide: data file");
	close(fd);
}

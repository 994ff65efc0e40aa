// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * metrics.c - a file of metrics that is rewritten while a program runs: elide run --metrics.
 *
 * The report runs in a process of its own, of lowest priority, so that it takes no time from the
 * program, and its memory is free when it ends. Must never delay the program.
 */
#include "metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/messages.h"
#include "../base/program.h"
#include "child.h"

/* Lowest of all priorities: setpriority(2). */
#define NICE_MOST 19

/*
 * In the child: executes the report, in a group of its own, as signals of the terminal are for the program.
 */
static void execute(const struct metrics *m, const char *path, char **argv)
{
	sigset_t none;
	int fd;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpriority(PRIO_PROCESS, 0, NICE_MOST);
	fd = open("/dev/null", O_RDWR);
	if (fd >= 0)
		dup2(fd, STDIN_FILENO);
	if (fd >= 0 && m->said)
		dup2(fd, STDERR_FILENO);
	execv(path, argv);
	_exit(127);
}

static void start(struct metrics *m, const struct paths *f)
{
	char **argv = calloc(2 * f->nr + 8, sizeof(*argv)), path[PATH_MAX];
	size_t nr = 0;

	if (!argv || product_path("libexec/elide/elide", path)) {
		free(argv);
		return;
	}
	argv[nr++] = "elide";
	argv[nr++] = "report";
	argv[nr++] = "--no-children";
	argv[nr++] = "--merge";
	argv[nr++] = "--openmetrics";
	argv[nr++] = (char *)m->file;
	for (size_t i = 0; i < f->nr; i++) {
		argv[nr++] = "-i";
		argv[nr++] = f->path[i];
	}
	/* If a silent writer failed, the next one says why. */
	m->writer = fork();
	if (!m->writer)
		execute(m, path, argv);
	if (m->writer < 0)
		m->writer = 0;
	m->said = true;
	m->nr++;
	free(argv);
}

/* Has the writer ended, or is there none? @options: as of waitpid(2). */
static bool reap(struct metrics *m, int options)
{
	bool failed;
	int status;
	pid_t pid;

	if (!m->writer)
		return true;
	do
		pid = waitpid(m->writer, &status, options);
	while (pid < 0 && errno == EINTR);
	if (!pid)
		return false;
	failed = pid < 0 || status != 0;
	if (failed && !m->failed && m->nr > 1)
		m->said = false;
	m->failed = failed;
	m->writer = 0;
	return true;
}

void metrics_tick(void *arg, pid_t pid)
{
	struct metrics *m = arg;
	struct child_files f = {0};

	if (reap(m, WNOHANG) && !find_files(&f, m->output, m->run, pid) && f.paths.nr)
		start(m, &f.paths);
	find_files_free(&f);
}

void metrics_end(struct metrics *m, const struct paths *files)
{
	if (!m->file)
		return;
	reap(m, 0);
	if (!files->nr)
		return;
	start(m, files);
	reap(m, 0);
}

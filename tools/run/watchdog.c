// SPDX-License-Identifier: GPL-2.0-or-later
/* watchdog.c - see watchdog.h. */
#include "watchdog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/clock.h"
#include "../base/data-open.h"
#include "../base/exit.h"
#include "../base/messages.h"
#include "../base/program.h"
#include "../base/text.h"
#include "../model/load.h"
#include "child.h"

/* A wait is noticed late by a quarter of the limit at most; the bounds of that time are chosen. */
#define LOOKS        4
#define EVERY_MS_MIN 10
#define EVERY_MS_MAX 1000

uint64_t watchdog_every_ms(const struct watchdog *w)
{
	uint64_t ms = w->limit_ms / LOOKS;

	return ms < EVERY_MS_MIN ? EVERY_MS_MIN : ms > EVERY_MS_MAX ? EVERY_MS_MAX : ms;
}

static size_t count_threads(uint32_t pid)
{
	char path[64];
	size_t nr = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	d = opendir(path);
	for (struct dirent *entry; d && (entry = readdir(d));)
		nr += *entry->d_name != '.';
	if (d)
		closedir(d);
	return nr;
}

/**
 * struct found - the waits of a process that have lasted for longer than the limit.
 * @nr: threads that wait
 * @first: time-stamp counter when the longest of these waits began
 */
struct found {
	size_t nr;
	uint64_t first;
};

/* The waits that began before @limit. @locks: only those for locks */
static struct found find_waits(const struct data_file *f, uint64_t limit, bool locks)
{
	struct found found = {0};

	for (size_t i = 0; i < f->nr_waiting; i++) {
		const struct elide_thread_record *t = &f->threads[f->waiting[i]];
		uint64_t since = t->waits_since;

		if (since >= limit || (locks && !elide_kind_is_lock(t->waits_kind)))
			continue;
		if (!found.nr++ || since < found.first)
			found.first = since;
	}
	return found;
}

/* The entry of a process; NULL: it has none. */
static struct watched *find(const struct watchdog *w, const struct elide_header *h)
{
	for (size_t i = 0; i < w->nr; i++)
		if (w->all[i].pid == h->pid && w->all[i].started == h->pid_start)
			return &w->all[i];
	return NULL;
}

/*
 * In the child: executes elide stacks, in a group of its own, as signals of the terminal are for the program.
 * @fd: for its output
 */
static void execute(const char *path, uint32_t pid, int fd)
{
	char text[16];
	char *argv[] = {"elide", "stacks", text, NULL};
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	snprintf(text, sizeof(text), "%u", pid);
	dup2(fd, STDOUT_FILENO);
	execv(path, argv);
	_exit(127);
}

/* Begins to write the stacks of process @pid. @anew: the file may be there, but of another run */
static void start(struct watchdog *w, uint32_t pid, bool anew)
{
	char path[PATH_MAX];
	int fd, err = product_path("libexec/elide/elide", path);

	fd = err ? err : open(w->file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY |
					       (anew ? O_TRUNC : 0), 0600);
	if (fd < 0) {
		say("%s; no stacks in %s: %s", w->what, w->file, strerror(err ? -err : errno));
		return;
	}
	dprintf(fd, "%s%s:\n\n", anew ? "" : "\n", w->what);
	w->writer = fork();
	if (!w->writer)
		execute(path, pid, fd);
	if (w->writer < 0)
		w->writer = 0;
	close(fd);
}

/* Reaps the writer. Return: it has ended, or there is none. @options: as of waitpid(2) */
static bool reap(struct watchdog *w, int options)
{
	int status;
	pid_t pid;

	if (!w->writer)
		return true;
	do
		pid = waitpid(w->writer, &status, options);
	while (pid < 0 && errno == EINTR);
	if (!pid)
		return false;
	w->writer = 0;
	/* It has said why it failed. EXIT_CONDITION: it has found a deadlock. */
	if (pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status) > EXIT_CONDITION)
		say("%s", w->what);
	else if (!w->quiet)
		say("%s; the stacks are in %s", w->what, w->file);
	return true;
}

/* Return: the process hangs, and its stacks are being written. */
static bool look_at(struct watchdog *w, const struct data_file *f)
{
	const struct elide_header *h = &f->header;
	uint64_t now = cycles_now(), ns = now_ns() - h->start_ns, cycles = now - h->start_cycles, limit;
	double allowed = ns ? (double)w->limit_ms * 1e6 * (double)cycles / (double)ns : 0;
	struct watched *known = find(w, h), *grown;
	struct found found;
	char waited[32];
	bool locks;

	if (h->state != ELIDE_FILE_LIVE || data_started(h->pid) != h->pid_start || allowed >= (double)cycles)
		return false;
	limit = now - (uint64_t)allowed;
	found = find_waits(f, limit, true);
	locks = found.nr;
	if (!locks)
		found = find_waits(f, limit, false);
	if (!found.nr || (!locks && found.nr != count_threads(h->pid)) ||
	    (known && find_waits(f, known->limit, false).nr))
		return false;
	if (!known) {
		grown = reallocarray(w->all, w->nr + 1, sizeof(*grown));
		if (!grown)
			return false;
		w->all = grown;
		known = &grown[w->nr++];
		*known = (struct watched){h->pid, h->pid_start, 0};
	}
	scale_ns(waited, sizeof(waited), (double)(now - found.first) * (double)ns / (double)cycles);
	snprintf(w->what, sizeof(w->what), "process %u hangs: %s %s", h->pid,
		 locks ? "a thread has waited for a lock for" : "all its threads wait, for", waited);
	snprintf(w->file, sizeof(w->file), "%s%s", f->path, WATCHDOG_SUFFIX);
	start(w, h->pid, !known->limit);
	known->limit = limit;
	return true;
}

void watchdog_tick(struct watchdog *w, pid_t pid)
{
	struct child_files files = {0};
	char error[LOAD_ERROR_MAX];
	struct elide_header h;
	struct data_file f;
	bool busy = !reap(w, WNOHANG);

	if (!busy)
		find_files(&files, w->output, w->run, pid);
	for (size_t i = 0; i < files.paths.nr && !busy; i++) {
		/* A run may have the files of thousands of processes that have ended. */
		if (load_header(files.paths.path[i], &h) || h.state != ELIDE_FILE_LIVE ||
		    load(files.paths.path[i], &f, error))
			continue;
		busy = look_at(w, &f);
		load_free(&f);
	}
	find_files_free(&files);
}

void watchdog_end(struct watchdog *w)
{
	reap(w, 0);
	free(w->all);
}

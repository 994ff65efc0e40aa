// SPDX-License-Identifier: GPL-2.0-or-later
/* measured.c - see measured.h. */
#include "measured.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/exit.h"
#include "../base/messages.h"
#include "../base/signals.h"
#include "child.h"

/* Removes the files of a run, and after the last run their directory. */
static void clear_directory(const struct measured *m, bool last)
{
	DIR *d = opendir(m->dir);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	if (last)
		rmdir(m->dir);
}

/* Kills the processes that a run has left; as a subreaper this process is their parent. */
static void end_leftovers(void)
{
	char path[64];
	int pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	for (;;) {
		f = fopen(path, "re");
		if (!f)
			return;
		if (fscanf(f, "%d", &pid) != 1)
			pid = 0;
		fclose(f);
		if (!pid)
			return;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/*
 * Sets the environment of a run. The names and the lengths of the values are the same in each run, so
 * that the stack of an emulated program begins at the same address.
 */
static void set_environment(const struct measured *m, const char *mode, uint64_t seed)
{
	char text[128];

	run_mark();
	snprintf(text, sizeof(text), "%s/data", m->dir);
	setenv("ELIDE_OUTPUT", text, 1);
	setenv("ELIDE_MODE", mode, 1);
	if (!m->request.emulate)
		return;
	snprintf(text, sizeof(text), "%s/counters.%%p", m->dir);
	setenv("ELIDE_COUNTERS", text, 1);
	snprintf(text, sizeof(text), "%010llu", (unsigned long long)seed);
	setenv("ELIDE_SEED", text, 1);
}

/* Reads the elapsed time and the processor time of a process on the emulated machine. */
static int read_counters(const char *path, uint64_t *elapsed_ns, uint64_t *cpu_ns)
{
	FILE *f = fopen(path, "re");
	unsigned long long v;
	char name[128];
	int found = 0;

	if (!f)
		return -errno;
	while (fscanf(f, "%127s %llu", name, &v) == 2) {
		if (!strcmp(name, "time.elapsed_ns")) {
			*elapsed_ns = v;
			found++;
		} else if (!strcmp(name, "time.cpu_ns")) {
			*cpu_ns = v;
			found++;
		}
	}
	fclose(f);
	return found == 2 ? 0 : -ENODATA;
}

/* The elapsed time of the longest process, as each has its own clock; the CPU time of all. */
static int read_virtual_times(const struct measured *m, struct run_result *r)
{
	DIR *d = opendir(m->dir);
	struct dirent *entry;
	int err = -ENOENT;

	*r = (struct run_result){.exit = r->exit};
	while (d && (entry = readdir(d))) {
		char path[sizeof(m->dir) + sizeof(entry->d_name) + 1];
		uint64_t elapsed = 0, cpu = 0;

		snprintf(path, sizeof(path), "%s/%s", m->dir, entry->d_name);
		if (strncmp(entry->d_name, "counters.", 9) || read_counters(path, &elapsed, &cpu))
			continue;
		if ((double)elapsed / 1e9 > r->elapsed_s)
			r->elapsed_s = (double)elapsed / 1e9;
		r->cpu_s += (double)cpu / 1e9;
		err = 0;
	}
	if (d)
		closedir(d);
	return err;
}

/* Standard input is rewound for each run; if it cannot be, the runs get /dev/null. */
static int run_input(const struct measured *m)
{
	if (lseek(STDIN_FILENO, 0, SEEK_SET) == 0)
		return STDIN_FILENO;
	return m->null;
}

int measured_begin(struct measured *m)
{
	const char *parent = getenv("TMPDIR");

	if (!parent || strlen(parent) > sizeof(m->dir) - 32)
		parent = "/tmp";
	snprintf(m->dir, sizeof(m->dir), "%s/elide-runs.XXXXXX", parent);
	m->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (m->null < 0 || !mkdtemp(m->dir)) {
		say("%s: %s", m->dir, strerror(errno));
		return -EIO;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signals_note();
	return 0;
}

int measured_once(struct measured *m, const char *mode, uint64_t seed, bool show,
		  void (*look)(void *arg, const char *data), void *arg, struct run_result *r)
{
	struct child child = {.in = run_input(m), .out = show ? 0 : m->null, .bound = true};
	char data[sizeof(m->dir) + 8];
	int rc;

	set_environment(m, mode, seed);
	child.argv = run_command(&m->request, &m->program, &child.path);
	if (!child.argv)
		return -ENOMEM;
	/* Natively a program that is not to be elided runs without the library. */
	if (strcmp(mode, "off") || m->request.emulate)
		child.preload = m->program.preload;
	rc = child_measure(&child);
	end_leftovers();
	if (rc) {
		say("%s: %s", m->request.argv[0], strerror(-rc));
		return rc;
	}
	if (child.signal)
		signal_noted = child.signal;
	if (signal_noted)
		return 1;
	*r = (struct run_result){child.elapsed_ns / 1e9, child.cpu_ns / 1e9,
				 exit_code(child.status)};
	snprintf(data, sizeof(data), "%s/data", m->dir);
	if (look)
		look(arg, data);
	if (m->request.emulate && read_virtual_times(m, r)) {
		say("the emulator told no time of %s: exit code %d", m->request.argv[0], r->exit);
		rc = -ENODATA;
	}
	clear_directory(m, false);
	return rc;
}

void measured_end(const struct measured *m)
{
	clear_directory(m, true);
}

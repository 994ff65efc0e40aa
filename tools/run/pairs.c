// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pairs.c - runs a program plain and elided, in pairs, and measures its time.
 *
 * A plain run is without the library; on an emulated machine it is with the library switched off,
 * on the same machine. Must never leave a process or a file behind.
 */
#include "pairs.h"

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

#include "../../lib/compiler.h"
#include "../base/exit.h"
#include "../base/messages.h"
#include "../base/signals.h"
#include "../model/file/faults.h"
#include "../model/report.h"
#include "child.h"

/* Removes the files of a run, and after the last run their directory. */
static void clear_directory(const struct pairs *p, bool last)
{
	DIR *d = opendir(p->dir);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	if (last)
		rmdir(p->dir);
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
static void set_environment(const struct pairs *p, int side, uint64_t seed)
{
	char text[128];

	run_mark();
	snprintf(text, sizeof(text), "%s/data", p->dir);
	setenv("ELIDE_OUTPUT", text, 1);
	if (side == PLAIN)
		setenv("ELIDE_MODE", "off", 1);
	else if (p->mode)
		setenv("ELIDE_MODE", p->mode, 1);
	else
		setenv("ELIDE_MODE", "auto", 1);
	if (!p->request.emulate)
		return;
	snprintf(text, sizeof(text), "%s/counters.%%p", p->dir);
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
static int read_virtual_times(const struct pairs *p, struct run_result *r)
{
	DIR *d = opendir(p->dir);
	struct dirent *entry;
	int err = -ENOENT;

	*r = (struct run_result){.exit = r->exit};
	while (d && (entry = readdir(d))) {
		char path[sizeof(p->dir) + sizeof(entry->d_name) + 1];
		uint64_t elapsed = 0, cpu = 0;

		snprintf(path, sizeof(path), "%s/%s", p->dir, entry->d_name);
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

/* Reads the elision of a run from the program's data file, not from those of its children. */
static void read_elision(const struct pairs *p, pid_t pid, struct elision *e)
{
	char path[sizeof(p->dir) + 8], error[LOAD_ERROR_MAX];
	struct elide_header header;
	struct data_file f;
	struct report r;

	*e = (struct elision){0};
	snprintf(path, sizeof(path), "%s/data", p->dir);
	if (load_header(path, &header) || load(path, &f, error))
		return;
	e->known = true;
	e->mode = header.mode;
	e->rtm = header.rtm;
	snprintf(e->why, sizeof(e->why), "%s", header.why);
	if (!report_build(&r, &f, BY_LOCK, "cost")) {
		e->acquired = r.total.acquired;
		e->elided = r.total.elided;
		report_free(&r);
	}
	if (faults_of(&f, error))
		say("%s", error);
	load_free(&f);
}

/* Standard input is rewound for each run; if it cannot be, the runs get /dev/null. */
static int run_input(const struct pairs *p)
{
	if (lseek(STDIN_FILENO, 0, SEEK_SET) == 0)
		return STDIN_FILENO;
	return p->null;
}

/* Return: 0; 1 if a signal ends the command; -errno after one line. */
static int run_once(struct pairs *p, struct comparison *c, int side, uint64_t seed, bool show,
		    struct run_result *r)
{
	struct child child = {.in = run_input(p), .out = show ? 0 : p->null, .bound = true};
	int rc;

	set_environment(p, side, seed);
	child.argv = run_command(&p->request, &p->program, &child.path);
	if (!child.argv)
		return -ENOMEM;
	if (side == ELIDED || p->request.emulate)
		child.preload = p->program.preload;
	rc = child_measure(&child);
	end_leftovers();
	if (rc) {
		say("%s: %s", p->request.argv[0], strerror(-rc));
		return rc;
	}
	if (child.signal)
		signal_noted = child.signal;
	if (signal_noted)
		return 1;
	*r = (struct run_result){child.elapsed_ns / 1e9, child.cpu_ns / 1e9,
				 exit_code(child.status)};
	if (side == ELIDED)
		read_elision(p, child.pid, &c->elision);
	if (p->request.emulate && read_virtual_times(p, r)) {
		say("the emulator told no time of %s: exit code %d", p->request.argv[0], r->exit);
		rc = -ENODATA;
	}
	clear_directory(p, false);
	return rc;
}

/* A linear congruential generator with the constants of Knuth's MMIX. */
static unsigned int draw(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static int run_all(struct pairs *p, struct comparison *c)
{
	/* The first runs warm caches; on an emulated machine there are none to warm. */
	size_t warm_up = p->request.emulate ? 0 : 1;
	uint64_t state = c->seed, seed = c->seed;
	int rc = 0;

	for (size_t i = 0; !rc && i < p->nr + warm_up; i++) {
		struct run_pair pair = {.first = draw(&state) >> 30};

		for (int turn = 0; !rc && turn < NR_SIDES; turn++) {
			int side = turn ^ pair.first;
			bool show = p->shown == SHOW_ALL || (p->shown == SHOW_FIRST && !i && !turn);

			rc = run_once(p, c, side, seed, show, &pair.run[side]);
		}
		if (rc || i < warm_up)
			continue;
		c->pairs[c->nr++] = pair;
		seed++;
	}
	return rc;
}

/* Makes the directory for the files of the runs, and opens /dev/null for their input and output. */
static int prepare(struct pairs *p)
{
	const char *parent = getenv("TMPDIR"), *mode = getenv("ELIDE_MODE");

	if (!parent || strlen(parent) > sizeof(p->dir) - 32)
		parent = "/tmp";
	snprintf(p->dir, sizeof(p->dir), "%s/elide-compare.XXXXXX", parent);
	p->mode = mode ? strdup(mode) : NULL;
	p->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (p->null < 0 || !mkdtemp(p->dir)) {
		say("%s: %s", p->dir, strerror(errno));
		return -EIO;
	}
	return 0;
}

int pairs_run(struct pairs *p, struct comparison *c)
{
	int rc = prepare(p);

	if (!rc) {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		signals_note();
		rc = run_all(p, c);
		clear_directory(p, true);
	}
	free(p->mode);
	return rc;
}

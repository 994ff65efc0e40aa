// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * live.c - the data file of a process that runs.
 *
 * Must never send anything to the process, nor write to its file.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/data-open.h"
#include "../model/load.h"
#include "live.h"

/* The number of the process in its own pid namespace, which its data file has. */
static long inner_pid(long pid)
{
	char path[64], line[256];
	long inner = pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/status", pid);
	f = fopen(path, "re");
	if (!f)
		return pid;
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, "NSpid:", 6)) /* outermost first */
			inner = strtol(strrchr(line, '\t') + 1, NULL, 10);
	fclose(f);
	return inner;
}

static bool is_file_of(long pid, const char *path)
{
	struct elide_header header;

	return !load_header(path, &header) && header.pid == (uint32_t)inner_pid(pid) &&
	       header.pid_start == data_started(pid) && header.state == ELIDE_FILE_LIVE;
}

/*
 * Open the directory of the file of a process that has a root directory of its own, in a container
 * for instance. It is opened with RESOLVE_IN_ROOT, so that a symbolic link there does not lead out
 * of the container, and stays open until this process ends.
 */
static int enter_root(long pid, struct target *t)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	char *base = strrchr(t->name, '/'), name[PATH_MAX];
	int root, dir, n;

	snprintf(name, sizeof(name), "/proc/%ld/root", pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	snprintf(name, sizeof(name), "%.*s", (int)(base - t->name + 1), t->name);
	dir = syscall(SYS_openat2, root, name, &how, sizeof(how));
	close(root);
	if (dir < 0)
		return -errno;
	snprintf(t->path, sizeof(t->path), "/proc/self/fd/%d%s", dir, base);
	n = snprintf(name, sizeof(name), "/proc/%ld/root%s", pid, t->name);
	if (n >= (int)sizeof(name) || !is_file_of(pid, t->path)) {
		close(dir);
		return -ENOENT;
	}
	strcpy(t->name, name);
	return 0;
}

int live_find(long pid, struct target *t)
{
	char maps[64], line[PATH_MAX + 128];
	int err = -ENOENT;
	FILE *f;

	snprintf(maps, sizeof(maps), "/proc/%ld/maps", pid);
	f = fopen(maps, "re");
	if (!f)
		return -errno;
	while (err && fgets(line, sizeof(line), f)) {
		char *name = strchr(line, '/');

		if (!name || !strstr(line, " rw-s "))
			continue;
		name[strcspn(name, "\n")] = '\0';
		snprintf(t->name, sizeof(t->name), "%s", name);
		strcpy(t->path, t->name);
		err = is_file_of(pid, t->path) ? 0 : enter_root(pid, t);
	}
	fclose(f);
	elide_final_name(t->name);
	return err;
}

/* Is the text in a file of /proc that may have null bytes? */
static bool proc_has(long pid, const char *file, const char *text)
{
	char path[64], *line = NULL;
	size_t size = 0;
	bool has = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/%s", pid, file);
	f = fopen(path, "re");
	while (f && !has && getdelim(&line, &size, strcmp(file, "environ") ? '\n' : '\0', f) > 0)
		has = strstr(line, text) != NULL;
	free(line);
	if (f)
		fclose(f);
	return has;
}

const char *live_missing(long pid, int err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld", pid);
	if (err != -ENOENT)
		return strerror(-err);
	if (access(path, F_OK))
		return "is not there";
	if (!proc_has(pid, "maps", "/libelide"))
		return "has not loaded the library: start it with elide run, or with LD_PRELOAD";
	if (proc_has(pid, "environ", "ELIDE_MODE=off"))
		return "was started with ELIDE_MODE=off: it counts nothing and cannot be switched on; start it with another mode";
	return "writes no data file: it has taken no lock yet, or none can be written";
}

/* Of two that began at the same time the higher number is newer, as numbers count up. */
static bool is_newer(const struct elide_header *a, long pid, const struct elide_header *b,
		     long best)
{
	if (a->start_realtime_ns != b->start_realtime_ns)
		return a->start_realtime_ns > b->start_realtime_ns;
	return pid > best;
}

int live_newest(long *pid, struct target *t)
{
	struct elide_header header, newest = {0};
	struct target found;
	struct dirent *entry;
	int err = -ENOENT;
	DIR *d = opendir("/proc");

	if (!d)
		return -errno;
	*pid = 0;
	while ((entry = readdir(d))) {
		long at = isdigit((unsigned char)entry->d_name[0]) ?
				  strtol(entry->d_name, NULL, 10) : 0;

		if (at <= 0 || live_find(at, &found) || load_header(found.path, &header) ||
		    (!err && !is_newer(&header, at, &newest, *pid)))
			continue;
		newest = header;
		*t = found;
		*pid = at;
		err = 0;
	}
	closedir(d);
	return err;
}

bool live_runs(const struct elide_header *h, long pid)
{
	uint64_t start = data_started(pid);

	return h->state == ELIDE_FILE_LIVE && start && start == h->pid_start;
}

void live_set_end(struct elide_header *h)
{
	struct timespec ts;

	if (h->rtm == ELIDE_RTM_EMULATED || h->state != ELIDE_FILE_LIVE)
		return; /* its clock is that of an emulated machine */
	clock_gettime(CLOCK_MONOTONIC, &ts);
	h->end_cycles = cycles_now();
	h->end_ns = ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

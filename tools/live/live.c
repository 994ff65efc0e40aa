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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../../lib/live-name.h"
#include "../base/data-open.h"
#include "../base/unseen.h"
#include "../model/load.h"
#include "live.h"

/* The id of the process in its own pid namespace, which its data file has. */
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

/* A writable shared mapping of a file, from a line of /proc/PID/maps. */
struct mapping {
	dev_t dev;
	ino_t ino;
	char *name;
};

/* Parses a line. Return: false if it is another kind of mapping. */
static bool parse_mapping(char *line, struct mapping *m)
{
	unsigned int major, minor;
	unsigned long long ino;
	char rights[5];

	m->name = strchr(line, '/');
	if (!m->name || sscanf(line, "%*s %4s %*s %x:%x %llu", rights, &major, &minor, &ino) != 4 ||
	    strcmp(rights, "rw-s"))
		return false;
	m->name[strcspn(m->name, "\n")] = '\0';
	m->dev = makedev(major, minor);
	m->ino = ino;
	return true;
}

/* Does the process have the rights of this user? */
static bool has_owner(long pid, uid_t owner)
{
	unsigned int uid = 0;
	char path[64], line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/status", pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "Uid: %*u %u", &uid) == 1;
	if (f)
		fclose(f);
	return found && uid == owner;
}

/*
 * Is the open file the one that the process has mapped? Compares device and inode. On overlayfs those in
 * /proc/PID/maps differ from those of fstat(): there a file of the same user suffices, which the process
 * may write anyway.
 */
static bool is_file_of(long pid, int fd, const struct mapping *m)
{
	struct elide_header header;
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       ((st.st_dev == m->dev && st.st_ino == m->ino) || has_owner(pid, st.st_uid)) &&
	       !load_header(path, &header) && header.pid == (uint32_t)inner_pid(pid) &&
	       header.pid_start == data_started(pid) && header.state == ELIDE_FILE_LIVE;
}

void live_close(struct target *t)
{
	if (t->fd >= 0)
		close(t->fd);
	if (t->folder >= 0)
		close(t->folder);
	t->fd = t->folder = -1;
}

/*
 * Open the file and its folder below @root. A path in /proc/PID/maps has no links: if there is one,
 * somebody has put it there since.
 */
static int open_below(int root, long pid, const struct mapping *m, struct target *t)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS,
	};
	const char *base = strrchr(m->name, '/');
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%.*s", (int)(base - m->name + 1), m->name);
	t->fd = -1;
	t->folder = syscall(SYS_openat2, root, folder, &how, sizeof(how));
	if (t->folder >= 0)
		t->fd = openat(t->folder, base + 1,
			       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (t->fd < 0 || !is_file_of(pid, t->fd, m)) {
		live_close(t);
		return -ENOENT;
	}
	snprintf(t->path, sizeof(t->path), "/proc/self/fd/%d%s", t->folder, base);
	return 0;
}

/* Find the file below our root directory, or below that of the process, in a container for instance. */
static int open_target(long pid, const struct mapping *m, struct target *t)
{
	char proc_root[64];
	int root, err;

	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	err = open_below(root, pid, m, t);
	close(root);
	if (!err) {
		snprintf(t->name, sizeof(t->name), "%s", m->name);
		return 0;
	}
	snprintf(proc_root, sizeof(proc_root), "/proc/%ld/root", pid);
	root = open(proc_root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	err = open_below(root, pid, m, t);
	close(root);
	if (!err && snprintf(t->name, sizeof(t->name), "%s%s", proc_root, m->name) >=
			    (int)sizeof(t->name)) {
		live_close(t);
		err = -ENOENT;
	}
	return err;
}

int live_find(long pid, struct target *t)
{
	char maps[64], line[PATH_MAX + 128];
	int err = -ENOENT;
	FILE *f;

	t->fd = t->folder = -1;
	snprintf(maps, sizeof(maps), "/proc/%ld/maps", pid);
	f = fopen(maps, "re");
	if (!f)
		return -errno;
	while (err && fgets(line, sizeof(line), f)) {
		struct mapping m;

		if (!parse_mapping(line, &m))
			continue;
		err = open_target(pid, &m, t);
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
	static char why[UNSEEN_SENTENCE];
	char path[64], exe[PATH_MAX];
	enum unseen u;

	snprintf(path, sizeof(path), "/proc/%ld", pid);
	if (err != -ENOENT)
		return strerror(-err);
	if (access(path, F_OK))
		return "is not there";
	u = unseen_in(unseen_of_process((pid_t)pid, exe, sizeof(exe)), UNSEEN_PROGRAM);
	if (u != NR_UNSEEN) {
		snprintf(why, sizeof(why), "is %s; use %s", unseen_text(u), unseen_use(u));
		return why;
	}
	if (proc_has(pid, "environ", "ELIDE_MODE=off"))
		return "was started with ELIDE_MODE=off: it counts nothing and cannot be switched on; start it with another mode";
	return "writes no data file: it has taken no lock yet, or none can be written";
}

/* Of two that began at the same time, the process with the higher id is newer. */
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

		if (at <= 0 || live_find(at, &found))
			continue;
		if (load_header(found.path, &header) ||
		    (!err && !is_newer(&header, at, &newest, *pid))) {
			live_close(&found);
			continue;
		}
		if (!err)
			live_close(t);
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

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * data-open.c - see data-open.h. The library gives files their names by the same rules:
 * lib/base/datafile-older.c.
 */
#include "data-open.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "../../lib/compiler.h"
#include "../../lib/datafile.h"
#include "../../lib/live-name.h"

/* The file may be a FIFO that no process writes to, or a terminal. */
#define OPEN_FLAGS (O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

uint64_t data_started(long pid)
{
	char path[64], line[1024];
	uint64_t ticks = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fgets(line, sizeof(line), f) && strrchr(line, ')'))
		sscanf(strrchr(line, ')') + 1,
		       " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64,
		       &ticks);
	fclose(f);
	return ticks;
}

/* Read the header of a regular file that is a data file. */
static bool read_header(int fd, struct elide_header *h, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	return !fstat(fd, st) && S_ISREG(st->st_mode) &&
	       pread(fd, h, sizeof(*h), 0) == sizeof(*h) && h->magic == ELIDE_DATA_MAGIC;
}

/* Is it a file of this host? Another machine has another name, and so has a container. */
static bool is_of_this_host(const struct elide_header *h)
{
	struct utsname name;

	return !uname(&name) && !strncmp(h->host, name.nodename, sizeof(h->host));
}

/*
 * Has the process ended? A live one has locked its file. Where that lock may be missing, on
 * overlayfs and on file systems without locks, only a complete file proves that the process has ended.
 */
static bool has_ended(int fd, const struct elide_header *h)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct statfs fs;
	uint64_t start;

	if (fcntl(fd, F_OFD_GETLK, &lock))
		return h->state == ELIDE_FILE_CLOSED;
	if (lock.l_type != F_UNLCK)
		return false;
	if (h->state == ELIDE_FILE_CLOSED)
		return true;
	if (fstatfs(fd, &fs) || fs.f_type == OVERLAYFS_SUPER_MAGIC || !is_of_this_host(h))
		return false;
	start = data_started(h->pid);
	return !start || start != h->pid_start;
}

enum older {
	OLDER_NONE,
	OLDER_FOREIGN, /* not a data file, or not known to be one */
	OLDER_EMPTY,
	OLDER_DATA,
};

/* What is at the path? */
static enum older older(const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | OPEN_FLAGS);
	enum older older = OLDER_FOREIGN;
	struct elide_header h;
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? OLDER_NONE : OLDER_FOREIGN;
	if (read_header(fd, &h, &st))
		older = OLDER_DATA;
	else if (S_ISREG(st.st_mode) && !st.st_size)
		older = OLDER_EMPTY;
	close(fd);
	return older;
}

/* Make room for a file with this name. Return: 0 or -errno. */
static int move_older(const char *path)
{
	char old[PATH_MAX + 8];

	switch (older(path)) {
	case OLDER_NONE:
		return 0;
	case OLDER_FOREIGN:
		return -EEXIST;
	case OLDER_EMPTY:
		return unlink(path) ? -errno : 0;
	case OLDER_DATA:
		break;
	}
	snprintf(old, sizeof(old), "%s.old", path);
	if (older(old) == OLDER_FOREIGN)
		return -EEXIST;
	return rename(path, old) ? -errno : 0;
}

/* Rename the file of an ended process. @fd: the file, locked, so that no other process does the same. */
static void rename_ended(int fd, const char *live, const char *path)
{
	struct stat a, b;

	if (fstat(fd, &a) || lstat(live, &b) || a.st_dev != b.st_dev || a.st_ino != b.st_ino ||
	    move_older(path))
		return;
	/* A file system that cannot do this leaves the file its name, by which it is found as well. */
	renameat2(AT_FDCWD, live, AT_FDCWD, path, RENAME_NOREPLACE);
}

static void finish(int fd, const struct elide_header *h, const struct stat *st, const char *live,
		   const char *path)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int locked;

	if (st->st_uid != geteuid() || !has_ended(fd, h))
		return;
	locked = open(live, O_RDWR | O_NOFOLLOW | OPEN_FLAGS);
	if (locked < 0)
		return;
	if (!fcntl(locked, F_OFD_SETLK, &lock))
		rename_ended(locked, live, path);
	close(locked);
}

/* Open the file by the name that it has while its process runs, if it is a data file. */
static int open_live(const char *path, int flags)
{
	struct elide_header h;
	char live[PATH_MAX];
	struct stat st;
	int fd;

	if (!elide_live_name(live, sizeof(live), path))
		return -ENAMETOOLONG;
	fd = open(live, flags | O_NOFOLLOW | OPEN_FLAGS);
	if (fd < 0)
		return -errno;
	if (!read_header(fd, &h, &st)) {
		close(fd);
		return -ENODATA;
	}
	finish(fd, &h, &st, live, path);
	return fd;
}

int data_open(const char *path, int flags)
{
	int fd = open_live(path, flags);

	if (fd < 0 && fd != -EACCES)
		fd = open(path, flags | OPEN_FLAGS);
	else
		return fd;
	return fd < 0 ? -errno : fd;
}

void data_finish(const char *live)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s", live);
	elide_final_name(path);
	fd = open_live(path, O_RDONLY);
	if (fd >= 0)
		close(fd);
}

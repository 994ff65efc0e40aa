/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* datafile-older.c - see datafile-older.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "datafile-name.h"
#include "datafile-older.h"
#include "syscalls.h"
#include "text.h"
#include "vdso.h"

struct elide_header elide_older_header;

/*
 * A data file is locked as long as its process maps it: the lock belongs to the open file
 * description, which the mapping keeps (locks_remove_file() in Linux). So a live writer is found in
 * any pid namespace. Its number and start time do not suffice, as each container has a process 1;
 * they are used where locks do not work: on file systems without locks, and on overlayfs, which
 * maps another file than was opened.
 */
static const struct flock whole_file = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

/* Lock the file until it is neither open nor mapped. */
static int lock_file(int fd)
{
	struct flock lock = whole_file;

	return sys_fcntl(fd, F_OFD_SETLK, &lock);
}

static bool is_locked(int fd)
{
	struct flock lock = whole_file;

	return !sys_fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

/* Did the attempt to lock fail because another process has locked it? */
static bool is_taken(int err)
{
	return err == EAGAIN || err == EACCES;
}

/* Is the file that has the name the one that is open? */
static bool is_that_file(int fd, const char *name)
{
	struct stat a, b;

	return !sys_fstat(fd, &a) && !sys_lstat(name, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

int elide_older_create(const char *name)
{
	int fd = sys_open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	if ((!lock_file(fd) || !is_taken(errno)) && is_that_file(fd, name))
		return fd;
	sys_close(fd);
	return -EEXIST;
}

static bool is_link(const char *name)
{
	struct stat st;

	return !sys_lstat(name, &st) && S_ISLNK(st.st_mode);
}

static enum elide_older judge(int fd, off_t size)
{
	struct elide_header *h = &elide_older_header;
	bool locked = is_locked(fd);
	uint64_t start;

	if (!size)
		return locked ? ELIDE_OLDER_LIVE : ELIDE_OLDER_EMPTY;
	h->magic = 0;
	if (sys_read(fd, h, sizeof(*h)) != sizeof(*h))
		return locked ? ELIDE_OLDER_LIVE : ELIDE_OLDER_FOREIGN;
	if (!h->magic)
		return locked ? ELIDE_OLDER_LIVE : ELIDE_OLDER_UNFINISHED;
	if (h->magic != ELIDE_DATA_MAGIC)
		return ELIDE_OLDER_FOREIGN;
	if (h->state != ELIDE_FILE_LIVE)
		return locked ? ELIDE_OLDER_ENDING : ELIDE_OLDER_DONE;
	if (locked)
		return ELIDE_OLDER_LIVE;
	start = elide_start_time(h->pid);
	if (!start || start != h->pid_start)
		return ELIDE_OLDER_DONE;
	return h->pid == (uint32_t)sys_getpid() ? ELIDE_OLDER_SELF : ELIDE_OLDER_LIVE;
}

enum elide_older elide_older(const char *name)
{
	enum elide_older older = ELIDE_OLDER_FOREIGN;
	struct stat st;
	int fd = sys_open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0), err = errno;

	if (fd < 0 && err == ENOENT)
		return ELIDE_OLDER_NONE;
	if (fd < 0 && err == ELOOP && is_link(name))
		return ELIDE_OLDER_FOREIGN;
	if (fd < 0) {
		errno = err;
		return ELIDE_OLDER_UNREADABLE;
	}
	if (!sys_fstat(fd, &st) && S_ISREG(st.st_mode))
		older = judge(fd, st.st_size);
	sys_close(fd);
	return older;
}

/* Seconds after which a file without a header is one that no process will complete. */
#define STALE_S 60

static bool is_stale(const char *name)
{
	struct timespec now;
	struct stat st;

	elide_clock(CLOCK_REALTIME, &now);
	return !sys_lstat(name, &st) && now.tv_sec - st.st_ctim.tv_sec > STALE_S;
}

int elide_older_abandoned(const char *name)
{
	int fd = sys_open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0), err = -EBUSY;
	uint64_t magic = 0;
	bool locked;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	locked = !lock_file(fd);
	/* A process that has created it, and not locked it yet, finds out that it is gone. */
	if ((locked || (!is_taken(errno) && is_stale(name))) && is_that_file(fd, name) &&
	    sys_read(fd, &magic, sizeof(magic)) >= 0 && !magic)
		err = sys_unlink(name) && errno != ENOENT ? -errno : 0;
	sys_close(fd);
	return err;
}

int elide_older_move(const char **name, enum elide_older older)
{
	static char old[ELIDE_NAME_ROOM + 4];
	const char *from = *name;

	switch (older) {
	case ELIDE_OLDER_NONE:
		return 0;
	case ELIDE_OLDER_EMPTY:
		return sys_unlink(from) && errno != ENOENT ? -errno : 0;
	default:
		break;
	}
	elide_text(old, sizeof(old), "%s.old", from);
	switch (elide_older(old)) {
	case ELIDE_OLDER_FOREIGN:
	case ELIDE_OLDER_UNFINISHED:
		*name = old;
		return -EEXIST;
	case ELIDE_OLDER_UNREADABLE:
		*name = old;
		return -errno;
	case ELIDE_OLDER_NONE:
		break;
	default:
		/* Not a rename onto it: ext4 would write the renamed file to the disk at once. */
		sys_unlink(old);
	}
	/* ENOENT: another process that starts now has renamed it. */
	if (sys_rename(from, old))
		return errno == ENOENT ? 0 : -errno;
	if (elide_older(old) != ELIDE_OLDER_LIVE)
		return 0;
	sys_rename_flags(old, from, RENAME_NOREPLACE);
	return -EBUSY;
}

/* Rename @from to @to, if that does not exist. Return: 0 or -errno. */
static int become(const char *from, const char *to)
{
	int err;

	if (!sys_rename_flags(from, to, RENAME_NOREPLACE))
		return 0;
	err = errno;
	/* Not every file system knows the flag, and FAT and the like have no links. */
	if ((err == EINVAL || err == ENOSYS) && !sys_link(from, to)) {
		sys_unlink(from);
		return 0;
	}
	if (err == EINVAL || err == ENOSYS)
		err = errno;
	if (err != EEXIST && err != ENOENT && elide_older(to) == ELIDE_OLDER_NONE &&
	    !sys_rename(from, to))
		return 0;
	return -err;
}

int elide_older_rename(const char *from, const char *to)
{
	const char *in_the_way = to;
	enum elide_older older;
	int err = -EBUSY;

	/* Another process may take the name between two of these. */
	for (int i = 0; i < 3; i++) {
		err = become(from, to);
		if (err != -EEXIST)
			return err;
		older = elide_older(to);
		switch (older) {
		case ELIDE_OLDER_FOREIGN:
		case ELIDE_OLDER_UNFINISHED:
			return -EEXIST;
		case ELIDE_OLDER_UNREADABLE:
			return -errno;
		case ELIDE_OLDER_LIVE:
			return -EBUSY;
		default:
			err = elide_older_move(&in_the_way, older);
			if (err)
				return err;
		}
	}
	return err;
}

int elide_older_claim(const char *name)
{
	int fd = sys_open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	/* Without locks it must do that the name is still that file's. */
	if ((!lock_file(fd) || !is_taken(errno)) && is_that_file(fd, name))
		return fd;
	sys_close(fd);
	return -EBUSY;
}

int elide_older_finish(const char *from, const char *to)
{
	static char own[ELIDE_NAME_ROOM];
	unsigned int pid = elide_older_header.pid;
	int fd = elide_older_claim(from), err;

	if (fd < 0)
		return fd;
	err = elide_older_rename(from, to);
	if (err == -EEXIST && elide_text(own, sizeof(own), "%s.%u", to, pid) < (int)sizeof(own))
		err = elide_older_rename(from, own);
	sys_close(fd);
	return err;
}

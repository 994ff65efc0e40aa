/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* small-file.c - see small-file.h. */
#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "small-file.h"
#include "syscalls.h"
#include "text.h"

/* Names that elide_small_replace() tries: processes in other pid namespaces may have the same number. */
#define MAX_SAME_PID 16

/* Time between two attempts to lock, ns. */
#define LOCK_PAUSE 1000000

/* Read up to @size bytes. Return: their number, or -errno. */
static ssize_t read_all(int fd, char *buffer, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = sys_read(fd, buffer + done, size - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (!n)
			break;
		done += n > 0 ? n : 0;
	}
	return done;
}

ssize_t elide_small_read(const char *path, void *buffer, size_t size)
{
	/* O_NONBLOCK: a pipe without a writer would block. */
	int fd = sys_open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (sys_fstat(fd, &st))
		n = -errno;
	else if (!S_ISREG(st.st_mode))
		n = -EINVAL;
	else if (st.st_size > (off_t)size)
		n = -EFBIG;
	else
		n = read_all(fd, buffer, size);
	sys_close(fd);
	return n;
}

int elide_small_lock(const char *path)
{
	static const struct timespec pause = {.tv_nsec = LOCK_PAUSE};
	char folder[ELIDE_SMALL_PATH + 1];
	const char *slash = strrchr(path, '/');
	int fd;

	/* "/file" is in "/". */
	elide_text(folder, sizeof(folder), "%.*s",
		   slash == path ? 1 : slash ? (int)(slash - path) : 1, slash ? path : ".");
	fd = sys_open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	for (int ms = 0; sys_flock(fd, LOCK_EX | LOCK_NB); ms++) {
		int err = errno;

		if ((err != EWOULDBLOCK && err != EINTR) || ms == ELIDE_SMALL_WAIT_MS) {
			sys_close(fd);
			return -err;
		}
		sys_pause(&pause);
	}
	return fd;
}

void elide_small_unlock(int lock)
{
	if (lock >= 0)
		sys_close(lock);
}

static int write_all(int fd, const char *bytes, size_t size)
{
	size_t done = 0;

	if (!sys_size_allowed(size))
		return -EFBIG;
	while (done < size) {
		ssize_t n = sys_write(fd, bytes + done, size - done);

		if (n < 0 && errno != EINTR)
			return -errno;
		done += n > 0 ? n : 0;
	}
	return 0;
}

/* Create PATH.PID.new or one of its alternatives. Return: a descriptor, or -errno. */
static int create(char *name, size_t size, const char *path)
{
	int fd = -1;

	for (int nr = 1; fd < 0 && nr <= MAX_SAME_PID; nr++) {
		if (nr == 1)
			elide_text(name, size, "%s.%d.new", path, (int)sys_getpid());
		else
			elide_text(name, size, "%s.%d.%d.new", path, (int)sys_getpid(), nr);
		fd = sys_open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd < 0 ? -errno : fd;
}

int elide_small_replace(const char *path, const void *bytes, size_t size)
{
	char name[ELIDE_SMALL_PATH + 32];
	int fd, err;

	if (strlen(path) > ELIDE_SMALL_PATH)
		return -ENAMETOOLONG;
	fd = create(name, sizeof(name), path);
	if (fd < 0)
		return fd;
	err = write_all(fd, bytes, size);
	/* A network file system may report only now that there is no room. */
	if (sys_close(fd) && !err)
		err = -errno;
	if (!err && sys_rename(name, path))
		err = -errno;
	if (err)
		sys_unlink(name);
	return err;
}

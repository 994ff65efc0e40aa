/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* datafile-name.c - see datafile-name.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "datafile-name.h"
#include "log.h"
#include "syscalls.h"

/* Processes with one number, in pid namespaces of their own, that may share a directory. */
#define MAX_SAME_PID 1000

struct elide_data_name elide_data_name;

uint64_t elide_start_time(pid_t pid)
{
	char path[48] = "/proc/self/stat", text[1024], *p;
	ssize_t n;
	int fd;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	n = sys_read(fd, text, sizeof(text) - 1);
	sys_close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	p = strrchr(text, ')'); /* the name may hold anything, blanks too */
	for (int field = 2; p && field < 22; field++) {
		p = strchr(p + 1, ' ');
	}
	return p ? strtoull(p, NULL, 10) : 0;
}

void elide_data_program(char *exe, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", exe, size - 1);

	exe[n > 0 ? n : 0] = '\0';
}

void elide_data_name_expand(char *name, size_t size, const char *pattern, const char *exe)
{
	const char *base = strrchr(exe, '/');
	size_t n = 0;

	base = base ? base + 1 : exe;
	for (; *pattern && n + 1 < size; pattern++) {
		if (pattern[0] == '%' && pattern[1] == 'p')
			n += snprintf(name + n, size - n, "%d", (int)getpid());
		else if (pattern[0] == '%' && pattern[1] == 'e')
			n += snprintf(name + n, size - n, "%s", base);
		else {
			name[n++] = *pattern;
			continue;
		}
		pattern++;
	}
	name[n < size ? n : size - 1] = '\0';
}

/* A file that has the name already. */
enum older {
	OLDER_NONE,
	OLDER_FOREIGN,  /* not a data file */
	OLDER_EMPTY,
	OLDER_DONE,     /* a data file of a process that has ended */
	OLDER_SAME_RUN, /* of this elide run, or of a live process by its number and start time */
	OLDER_LOCKED,   /* of a live process */
};

/*
 * A data file is locked as long as its process maps it: the lock belongs to the open file
 * description, which the mapping keeps (locks_remove_file() in Linux). So a live writer is found in
 * any pid namespace. Its number and start time do not suffice, as each container has a process 1;
 * they are used where locks do not work: on file systems without locks, and on overlayfs, which
 * maps another file than was opened.
 */
static const struct flock whole_file = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

static void lock_file(int fd)
{
	struct flock lock = whole_file;

	sys_fcntl(fd, F_OFD_SETLK, &lock);
}

static bool is_locked(int fd)
{
	struct flock lock = whole_file;

	return !sys_fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}

/* What file has the name? @run: identifier of this elide run, 0 for none. */
static enum older older_file(const char *name, uint64_t run)
{
	static struct elide_header h;
	enum older older = OLDER_FOREIGN;
	struct stat st;
	int fd = sys_open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0);

	if (fd < 0)
		return errno == ENOENT ? OLDER_NONE : OLDER_FOREIGN;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		if (!st.st_size)
			older = OLDER_EMPTY;
		else if (is_locked(fd))
			older = OLDER_LOCKED;
		else if (sys_read(fd, &h, sizeof(h)) == sizeof(h) && h.magic == ELIDE_DATA_MAGIC) {
			if (run && h.run == run)
				older = OLDER_SAME_RUN;
			else if (h.state == ELIDE_FILE_LIVE && elide_start_time(h.pid) == h.pid_start)
				older = OLDER_SAME_RUN;
			else
				older = OLDER_DONE;
		}
	}
	sys_close(fd);
	return older;
}

/*
 * A name that no other process of the pid namespace uses: NAME.PID or, until the header is
 * complete, NAME.PID.new with all 7 digits that an id can have, of which elide top makes NAME.
 * Where a process of another namespace has that name: NAME.PID.2 and so on.
 */
static void own_name(char *to, const char *name, bool temporary, unsigned int nr)
{
	char digits[] = "0000000", number[16] = "";
	int pid = getpid();

	for (int i = sizeof(digits) - 2; i >= 0; i--, pid /= 10)
		digits[i] = '0' + pid % 10;
	if (nr > 1)
		snprintf(number, sizeof(number), ".%u", nr);
	if (temporary)
		snprintf(to, sizeof(elide_data_name.path), "%s.%s.new%s", name, digits, number);
	else
		snprintf(to, sizeof(elide_data_name.path), "%s.%d%s", name, (int)getpid(), number);
}

#define CREATE_FLAGS (O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)

/*
 * Rename an older data file *@name to NAME.old. Return: 0; -EEXIST if a file NAME.old is not a data
 * file, then *@name is set to that name; -EBUSY if a live process has created *@name just now.
 */
static int move_away(const char **name)
{
	static char old[sizeof(elide_data_name.path) + 4];
	const char *from = *name;

	snprintf(old, sizeof(old), "%s.old", from);
	switch (older_file(old, 0)) {
	case OLDER_FOREIGN:
		*name = old;
		return -EEXIST;
	case OLDER_NONE:
		break;
	default:
		/* A rename onto a file would have ext4 write to the disk what is renamed. */
		unlink(old);
	}
	/* ENOENT: another process that starts now has renamed it. */
	if (rename(from, old))
		return errno == ENOENT ? 0 : -errno;
	if (older_file(old, 0) != OLDER_LOCKED)
		return 0;
	renameat2(AT_FDCWD, old, AT_FDCWD, from, RENAME_NOREPLACE);
	return -EBUSY;
}

/*
 * Free *@own, a name with the number of this process that exists: the file is of an older process
 * with that number, or of this one before exec(). Return: as move_away(); -EBUSY if it is of a live
 * process in another pid namespace, which may not have written to it or locked it yet.
 */
static int free_own(const char **own)
{
	switch (older_file(*own, 0)) {
	case OLDER_EMPTY:
	case OLDER_LOCKED:
		return -EBUSY;
	case OLDER_FOREIGN:
		return -EEXIST;
	default:
		return move_away(own);
	}
}

static int create(const char *own)
{
	int fd = sys_open(own, CREATE_FLAGS, 0600);

	return fd < 0 ? -errno : fd;
}

/* Rename the file to @own, if that does not exist. */
static int become(const char *own)
{
	if (!renameat2(AT_FDCWD, elide_data_name.path, AT_FDCWD, own, RENAME_NOREPLACE))
		return 0;
	/* Not every file system knows the flag, and FAT and the like have no links. */
	if (errno == EINVAL && !link(elide_data_name.path, own)) {
		unlink(elide_data_name.path);
		return 0;
	}
	if (errno != EEXIST && older_file(own, 0) == OLDER_NONE && !rename(elide_data_name.path, own))
		return 0;
	return -errno;
}

/*
 * Call @take() with the first name of own_name() that is free or can be freed. *@use is set to that
 * name or, on error, to the one that exists. Return: that of @take(), or -errno.
 */
static int take_own(const char *name, bool temporary, int (*take)(const char *own),
		    const char **use)
{
	/* Static: this may run on a small thread stack. Callers are serialised. */
	static char own[sizeof(elide_data_name.path)];
	int ret;

	for (unsigned int nr = 1; nr <= MAX_SAME_PID; nr++) {
		own_name(own, name, temporary, nr);
		*use = own;
		ret = take(own);
		if (ret != -EEXIST)
			return ret;
		ret = free_own(use);
		if (ret == -EBUSY)
			continue;
		if (ret)
			return ret;
		ret = take(own);
		if (ret != -EEXIST)
			return ret;
	}
	return -EBUSY;
}

int elide_data_name_open(const char *name, uint64_t run, enum elide_data_who who)
{
	const char *use = name;
	struct stat st;
	int fd, err = 0;

	elide_data_name.claims = false;
	if (who != ELIDE_DATA_CHILD) {
		switch (older_file(name, run)) {
		case OLDER_SAME_RUN:
		case OLDER_LOCKED:
			if (who != ELIDE_DATA_FIRST)
				return -EEXIST;
			break;
		case OLDER_EMPTY:
		case OLDER_DONE:
			err = move_away(&use);
			__attribute__((fallthrough));
		case OLDER_NONE:
			elide_data_name.claims = !err;
			break;
		case OLDER_FOREIGN:
			err = -EEXIST;
		}
		if (err && err != -EBUSY)
			goto fail;
	}
	fd = take_own(name, elide_data_name.claims, create, &use);
	if (fd < 0) {
		err = fd;
		if (err != -EEXIST)
			use = name; /* the name that the user has given */
		goto fail;
	}
	if (fstat(fd, &st) || !realpath(use, elide_data_name.path)) {
		use = name;
		err = -errno;
		sys_close(fd);
		goto fail;
	}
	lock_file(fd);
	elide_data_name.dev = st.st_dev;
	elide_data_name.ino = st.st_ino;
	return fd;
fail:
	if (err == -EEXIST)
		elide_log("%s exists and is not a data file: left alone, nothing is saved", use);
	else
		elide_log("cannot write %s: %s; nothing is saved", use, strerror(-err));
	return err == -EEXIST ? -EPERM : err;
}

bool elide_data_name_claim(const char *name)
{
	const char *use = name;

	if (become(name) == -EEXIST)
		take_own(name, false, become, &use);
	return realpath(use, elide_data_name.path) != NULL;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * replace.c - files that are replaced as a whole: by a new file beside them, which gets their name.
 *
 * Must never leave half a file under the name, nor replace a file that is not ours.
 */
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "create.h"
#include "messages.h"
#include "text.h"

static int say_failure(const struct replacement *r, int err)
{
	if (err == -EEXIST)
		say("%s exists but is not a %s: it is left as it is", r->path, r->kind);
	else if (err == -ELOOP)
		say("%s is a symbolic link: it is left as it is", r->path);
	else
		say("%s cannot be written: %s", r->path, strerror(-err));
	return err;
}

/* Is the existing file ours? Return: its mode, or -errno; -EEXIST if it is not. */
static int check_old(const char *path, bool (*ours)(const char *head, size_t len))
{
	char head[REPLACE_HEAD + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return -errno;
	rc = fstat(fd, &st) ? -errno : (int)(st.st_mode & 07777);
	n = rc < 0 ? 0 : read(fd, head, REPLACE_HEAD);
	if (n < 0)
		rc = -errno;
	close(fd);
	if (rc < 0 || n <= 0)
		return rc;
	head[n] = '\0';
	return ours(head, n) ? rc : -EEXIST;
}

/* Makes the new file beside the target. Return: its descriptor, or -errno. */
static int make_temp(struct replacement *r)
{
	const char *name = base_name(r->target);
	int len = snprintf(r->temp, sizeof(r->temp), "%.*s.%.200s.new%ld", (int)(name - r->target),
			   r->target, name, (long)getpid());
	int fd;

	if (len >= (int)sizeof(r->temp)) {
		r->temp[0] = '\0';
		return -ENAMETOOLONG;
	}
	/* A killed process with the same id may have left one. */
	unlink(r->temp);
	fd = open(r->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0)
		return fd;
	fd = -errno;
	r->temp[0] = '\0';
	return fd;
}

static int open_directly(struct replacement *r)
{
	int fd = create_file(r->path);

	if (fd < 0)
		return fd;
	r->out = fdopen(fd, "w");
	if (r->out)
		return 0;
	close(fd);
	return -ENOMEM;
}

static int open_new(struct replacement *r, bool (*ours)(const char *head, size_t len))
{
	struct stat st;
	int mode = -1, fd;

	/* Another user may have made the link, to have the target replaced. */
	if (!lstat(r->path, &st) && S_ISLNK(st.st_mode) && !create_is_descriptor(r->path))
		return -ELOOP;
	if (!stat(r->path, &st)) {
		if (S_ISDIR(st.st_mode))
			return -EISDIR;
		/* A device or a pipe holds nothing that could be lost, and may not be readable. */
		if (!S_ISREG(st.st_mode) || create_is_descriptor(r->path))
			return open_directly(r);
		mode = check_old(r->path, ours);
		if (mode < 0)
			return mode;
		if (!realpath(r->path, r->target))
			return -errno;
	} else if (errno != ENOENT) {
		return -errno;
	} else if (snprintf(r->target, sizeof(r->target), "%s", r->path) >= (int)sizeof(r->target)) {
		return -ENAMETOOLONG;
	}
	fd = make_temp(r);
	if (fd < 0)
		return fd;
	if (mode >= 0 && fchmod(fd, mode)) {
		mode = -errno;
		close(fd);
		unlink(r->temp);
		return mode;
	}
	r->out = fdopen(fd, "w");
	if (r->out)
		return 0;
	mode = -errno;
	close(fd);
	unlink(r->temp);
	return mode;
}

int replace_begin(struct replacement *r, const char *path, const char *kind, FILE *standard,
		  bool (*ours)(const char *head, size_t len))
{
	int rc;

	*r = (struct replacement){.path = path, .kind = kind};
	if (!strcmp(path, "-")) {
		r->out = standard;
		return 0;
	}
	rc = open_new(r, ours);
	return rc ? say_failure(r, rc) : 0;
}

/* Writes what is buffered. An earlier failure has left no errno, so another write finds out which it is. */
static int flush(FILE *out)
{
	if (fflush(out))
		return -errno;
	if (!ferror(out))
		return 0;
	return write(fileno(out), "\n", 1) < 0 ? -errno : -EIO;
}

int replace_end(struct replacement *r, int rc)
{
	bool own = strcmp(r->path, "-") != 0;

	if (!rc)
		rc = flush(r->out);
	/*
	 * Before the rename, so that a crash of the machine leaves the old file or the new
	 * one.
	 */
	if (!rc && r->temp[0] && fsync(fileno(r->out)))
		rc = -errno;
	if (own && fclose(r->out) && !rc)
		rc = -errno;
	if (!rc && r->temp[0] && rename(r->temp, r->target))
		rc = -errno;
	if (rc && r->temp[0])
		unlink(r->temp);
	return rc ? say_failure(r, rc) : 0;
}

void replace_drop(struct replacement *r)
{
	if (strcmp(r->path, "-"))
		fclose(r->out);
	if (r->temp[0])
		unlink(r->temp);
}

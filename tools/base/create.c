// SPDX-License-Identifier: GPL-2.0-or-later
/* create.c - see create.h. */
#include "create.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/compiler.h"

bool create_is_descriptor(const char *path)
{
	static const char *const folders[] = {"/dev/", "/proc/self/fd/", "/proc/thread-self/fd/"};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (!strncmp(path, folders[i], strlen(folders[i])) && !strstr(path, ".."))
			return true;
	return false;
}

int create_file(const char *path)
{
	struct stat st;
	int fd, err;

	if (create_is_descriptor(path)) {
		fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
		return fd < 0 ? -errno : fd;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || (S_ISREG(st.st_mode) && ftruncate(fd, 0))) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

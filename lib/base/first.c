/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* first.c - see first.h. Called only where something went wrong. */
#include "first.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "syscalls.h"
#include "text.h"

/* Bytes of an environment that are read at a time. */
#define READ_BYTES 1024

static const char library[] = "libelide-preload";

/* 1: the environment names the library, 0: it does not, -1: it may not be read. */
static int has_library(pid_t pid)
{
	char path[32], bytes[READ_BYTES];
	size_t matched = 0;
	ssize_t n;
	int fd;

	elide_text(path, sizeof(path), "/proc/%d/environ", (int)pid);
	fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	while (matched < sizeof(library) - 1 && (n = sys_read(fd, bytes, sizeof(bytes))) > 0)
		for (ssize_t i = 0; i < n && matched < sizeof(library) - 1; i++)
			matched = bytes[i] == library[matched] ? matched + 1 : bytes[i] == library[0];
	sys_close(fd);
	return matched == sizeof(library) - 1;
}

static bool is_directory_of_another(const char *file)
{
	const char *slash = strrchr(file, '/');
	char directory[PATH_MAX];
	struct stat st;

	/* The slash at the end makes lstat() follow a symbolic link. */
	elide_text(directory, sizeof(directory), "%.*s", slash ? (int)(slash - file + 1) : 1,
		   slash ? file : ".");
	return !sys_lstat(directory, &st) && st.st_uid != (uid_t)sys_call(geteuid, 0, 0, 0, 0, 0, 0);
}

bool elide_is_first(uint64_t run, const char *file)
{
	pid_t parent = sys_call(getppid, 0, 0, 0, 0, 0, 0);
	int has = has_library(parent);

	if (has >= 0)
		return !has;
	/* Process 1 starts services, and has no library. */
	return !run && (parent == 1 || !is_directory_of_another(file));
}

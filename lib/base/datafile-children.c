/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* datafile-children.c - see datafile-children.h. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../live-name.h"
#include "datafile-children.h"
#include "datafile-name.h"
#include "datafile-older.h"
#include "syscalls.h"

/* Files that one call of elide_children_bound() drops at most. */
#define CHILDREN_DROPPED 256

/* What getdents64(2) fills in. */
struct entry {
	uint64_t ino;
	int64_t off;
	unsigned short size;
	unsigned char type;
	char name[];
};

/* What files are looked for, and where. Static, as all here: callers are serialised. */
static struct {
	const char *pattern;             /* the last part of ELIDE_OUTPUT */
	const char *program;             /* what %e stands for */
	size_t dir_len;
	char path[ELIDE_NAME_ROOM + 16]; /* the folder, and the name of the file that was found */
	char final[ELIDE_NAME_ROOM + 16];
} look;

/* An ended process's file, and when it was last written. */
struct ended {
	uint64_t time_ns;
	char name[NAME_MAX + 1];
};

static struct ended oldest[CHILDREN_DROPPED]; /* the oldest first */
static unsigned int nr_oldest;

#define DIGITS "0123456789"

/* What follows the pattern in a name; NULL if the name does not begin so. */
static const char *after_pattern(const char *name)
{
	for (const char *p = look.pattern; *p; p++) {
		size_t len = 1;

		if (p[0] == '%' && p[1] == 'p') {
			len = strspn(name, DIGITS);
			p++;
		} else if (p[0] == '%' && p[1] == 'e') {
			len = strlen(look.program);
			if (strncmp(name, look.program, len))
				return NULL;
			p++;
		} else if (*p != *name) {
			return NULL;
		}
		if (!len)
			return NULL;
		name += len;
	}
	return name;
}

/* Is it NAME.PID, NAME.PID.2 or one of these with .old? */
static bool is_childs(const char *name)
{
	const char *rest = after_pattern(name);
	size_t len;

	if (!rest || rest[0] != '.' || !strspn(rest + 1, DIGITS))
		return false;
	while (rest[0] == '.' && (len = strspn(rest + 1, DIGITS)))
		rest += 1 + len;
	return !*rest || !strcmp(rest, ".old");
}

/* The folder of this process's data file, with the slash. */
static void look_in(const char *pattern, const char *exe)
{
	look.pattern = elide_base_name(pattern);
	look.program = elide_base_name(exe);
	look.dir_len = elide_base_name(elide_data_name.path) - elide_data_name.path;
	memcpy(look.path, elide_data_name.path, look.dir_len);
	look.path[look.dir_len] = '\0';
}

/* Call @each with look.path and look.final set for each child's file. Return: their number. */
static unsigned int walk(void (*each)(void))
{
	static _Alignas(8) char buffer[16384];
	unsigned int nr = 0;
	long n;
	int dir;

	look.path[look.dir_len] = '\0';
	dir = sys_open(look.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (dir < 0)
		return 0;
	while ((n = sys_call(getdents64, dir, (long)buffer, sizeof(buffer), 0, 0, 0)) > 0) {
		for (long at = 0; at < n; at += ((struct entry *)(buffer + at))->size) {
			const struct entry *e = (struct entry *)(buffer + at);

			strcpy(look.path + look.dir_len, e->name);
			strcpy(look.final, look.path);
			elide_final_name(look.final);
			if (!is_childs(look.final + look.dir_len))
				continue;
			nr++;
			if (each)
				each();
		}
	}
	sys_close(dir);
	return nr;
}

static void finish_one(void)
{
	if (elide_is_live_name(look.path) && elide_older(look.path) == ELIDE_OLDER_DONE)
		elide_older_finish(look.path, look.final);
}

void elide_children_finish(const char *pattern, const char *exe)
{
	look_in(pattern, exe);
	walk(finish_one);
}

/* Note the file if its process has ended and fewer than CHILDREN_DROPPED of the others are older. */
static void note_if_old(void)
{
	struct stat st;
	uint64_t time_ns;
	unsigned int at;

	if (sys_lstat(look.path, &st) || !S_ISREG(st.st_mode))
		return;
	time_ns = st.st_mtim.tv_sec * 1000000000ull + st.st_mtim.tv_nsec;
	at = nr_oldest;
	while (at && oldest[at - 1].time_ns > time_ns)
		at--;
	if (at == CHILDREN_DROPPED || elide_older(look.path) != ELIDE_OLDER_DONE)
		return;
	if (nr_oldest < CHILDREN_DROPPED)
		nr_oldest++;
	memmove(&oldest[at + 1], &oldest[at], (nr_oldest - at - 1) * sizeof(*oldest));
	oldest[at].time_ns = time_ns;
	strcpy(oldest[at].name, look.path + look.dir_len);
}

/* Drop a file. Return: 1 plus the files that its process had dropped; 0 if it is not dropped. */
static uint64_t drop(const struct ended *e)
{
	uint64_t nr = 0;
	int fd;

	strcpy(look.path + look.dir_len, e->name);
	if (elide_older(look.path) != ELIDE_OLDER_DONE)
		return 0;
	fd = elide_older_claim(look.path);
	if (fd < 0)
		return 0;
	if (!sys_unlink(look.path))
		nr = 1 + elide_older_header.dropped[ELIDE_DROPPED_FILES];
	sys_close(fd);
	return nr;
}

uint64_t elide_children_bound(const char *pattern, const char *exe, unsigned int max)
{
	unsigned int there;
	uint64_t nr = 0;

	look_in(pattern, exe);
	there = walk(NULL);
	if (there <= max)
		return 0;
	nr_oldest = 0;
	walk(note_if_old);
	for (unsigned int i = 0; i < nr_oldest && i < there - max; i++)
		nr += drop(&oldest[i]);
	return nr;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * conf.c - files of settings, read.
 *
 * Must never set anything itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../base/elf-file.h"
#include "../base/messages.h"
#include "../base/text.h"
#include "conf.h"

/* Bytes of a build-id to compare; the longest default build-id of a linker has 20. */
#define BUILD_ID_MAX 64

/* The build-id of a file as text. Return: 0; -errno, -ENOEXEC if it has none. */
static int build_id(const char *path, char *hex, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc = -EINVAL;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		rc = elf_file_build_id(fd, hex, size);
	close(fd);
	return rc;
}

static int same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* "OBJECT HEX": warn if the object has another build-id now. @own: set if it is the program. */
static void check_object(const char *path, const char *where, char *rest, const char *elf,
			 int quiet, int *own)
{
	char hex[2 * BUILD_ID_MAX + 1], *last = strrchr(rest, ' ');
	int rc;

	if (!last || !last[1] || rest[0] != '/') {
		say("%s: build-id takes the path of an object and its build-id, ignored", where);
		return;
	}
	*last = '\0';
	*own |= elf && same_file(rest, elf);
	rc = build_id(rest, hex, sizeof(hex));
	if (quiet || (!rc && !strcmp(hex, last + 1)))
		return;
	if (rc && rc != -ENOEXEC)
		say("%s was made for %s: %s", path, rest, strerror(-rc));
	else
		say("%s was made for another build of %s", path, rest);
}

static char *trim(char *text)
{
	size_t len;

	text += strspn(text, " \t\r\n");
	len = strlen(text);
	while (len && strchr(" \t\r\n", text[len - 1]))
		text[--len] = '\0';
	return text;
}

int conf_read(const char *path, const char *elf, int quiet,
	      void (*set)(void *arg, const char *where, const char *name, const char *value),
	      void *arg)
{
	static const char object[] = "build-id ";
	char *line = NULL, where[PATH_MAX + 32];
	int own = 0, nr_objects = 0, rc = 0;
	size_t size = 0, number = 0;
	FILE *f = fopen(path, "re");

	if (!f)
		return -errno;
	errno = 0;
	while (getline(&line, &size, f) >= 0) {
		char *text = trim(line), *equal = strchr(text, '=');

		snprintf(where, sizeof(where), "%s:%zu", path, ++number);
		if (!*text || *text == '#')
			continue;
		if (!strncmp(text, object, strlen(object))) {
			check_object(path, where, trim(text + strlen(object)), elf, quiet, &own);
			nr_objects++;
		} else if (!equal || equal == text) {
			say("%s: \"%s\" is no setting NAME = VALUE, ignored", where, text);
		} else {
			*equal = '\0';
			set(arg, where, trim(text), trim(equal + 1));
		}
	}
	if (ferror(f))
		rc = errno ? -errno : -EIO;
	if (!rc && nr_objects && elf && !own && !quiet)
		say("%s was made for other programs than %s", path, elf);
	free(line);
	fclose(f);
	return rc;
}

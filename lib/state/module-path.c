/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * module-path.c - see module-path.h.
 *
 * Must never call a function that acquires the loader's lock, or allocates memory.
 */
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "../base/datafile-writer.h"
#include "../base/syscalls.h"
#include "../base/text.h"
#include "module-path.h"

/* Bytes of /proc/self/maps that are read at a time. */
#define READ_BYTES 2048

/* A reader of lines. */
struct lines {
	int fd;
	size_t len, at;
	char bytes[READ_BYTES];
};

static int next_byte(struct lines *l)
{
	ssize_t n;

	if (l->at == l->len) {
		n = sys_read(l->fd, l->bytes, sizeof(l->bytes));
		if (n <= 0)
			return -1;
		l->len = n;
		l->at = 0;
	}
	return (unsigned char)l->bytes[l->at++];
}

/* Read a hexadecimal number, and the byte after it into *@after. */
static uint64_t next_number(struct lines *l, int *after)
{
	uint64_t number = 0;

	for (;;) {
		int c = next_byte(l);

		*after = c;
		if (c >= '0' && c <= '9')
			number = number * 16 + (c - '0');
		else if (c >= 'a' && c <= 'f')
			number = number * 16 + (c - 'a' + 10);
		else
			return number;
	}
}

/* Copy the rest of a line from the first slash on, as far as it fits. False at the end of the file. */
static bool rest_of_line(struct lines *l, char *to, size_t size)
{
	size_t len = 0;
	int c;

	while ((c = next_byte(l)) >= 0 && c != '\n')
		if ((len || c == '/') && len + 1 < size)
			to[len++] = c;
	to[len] = '\0';
	return c >= 0;
}

/* Path of the file that is mapped at an address, from the kernel; empty if it is not known. */
static void mapped_at(char *path, size_t size, uint64_t address)
{
	static const char deleted[] = " (deleted)";
	/* Static: thread stacks may be small. Callers hold the engine's lock. */
	static struct lines l;
	bool more = true, found = false;
	size_t len;
	int after;

	l.len = l.at = 0;
	l.fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	while (l.fd >= 0 && more && !found) {
		found = next_number(&l, &after) == address && after == '-';
		more = after >= 0 && rest_of_line(&l, path, size);
	}
	if (l.fd >= 0)
		sys_close(l.fd);
	if (!found)
		*path = '\0';
	len = strlen(path);
	if (len >= sizeof(deleted) && !strcmp(path + len - (sizeof(deleted) - 1), deleted))
		path[len - (sizeof(deleted) - 1)] = '\0';
}

void elide_module_path(char *path, size_t size, const struct dl_find_object *found)
{
	const char *name = found->dlfo_link_map->l_name;

	*path = '\0';
	/* The loader knows the program itself only as "". */
	if (!*name)
		name = elide_data->exe;
	else if (*name != '/')
		mapped_at(path, size, (uintptr_t)found->dlfo_map_start);
	if (!*path)
		elide_text(path, size, "%.*s", (int)size - 1, name);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run-files.c - the data files that the processes of one run wrote.
 *
 * Must never write to a file.
 */
#include "run-files.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/text.h"
#include "load.h"

static int by_length_then_name(const void *x, const void *y)
{
	const char *a = *(char *const *)x, *b = *(char *const *)y;
	size_t la = strlen(a), lb = strlen(b);

	return la != lb ? (la > lb) - (la < lb) : strcmp(a, b);
}

/* Leave out the second of two that are equal: a live process's file, and an older one of that name. */
static void drop_doubles(struct paths *p, size_t first)
{
	size_t kept = first;

	for (size_t i = first; i < p->nr; i++) {
		if (kept > first && !strcmp(p->path[kept - 1], p->path[i]))
			free(p->path[i]);
		else
			p->path[kept++] = p->path[i];
	}
	p->nr = kept;
}

/* @same: files of that run; else those of any other run */
static int find(struct paths *p, const char *stem, uint64_t run, bool same,
		int (*accept)(const char *rest))
{
	const char *name = base_name(stem);
	size_t first = p->nr, dir_len = name - stem, len = strlen(name);
	char dir[4096], full[sizeof(dir) + sizeof(((struct dirent *)0)->d_name)];
	struct elide_header header;
	struct dirent *entry;
	int rc = 0;
	DIR *d;

	if (dir_len >= sizeof(dir))
		return 0;
	snprintf(dir, sizeof(dir), "%.*s", (int)dir_len, stem);
	d = opendir(dir_len ? dir : ".");
	if (!d)
		return 0;
	while (!rc && (entry = readdir(d))) {
		elide_final_name(entry->d_name);
		if (strncmp(entry->d_name, name, len) || (accept && !accept(entry->d_name + len)))
			continue;
		snprintf(full, sizeof(full), "%s%s", dir, entry->d_name);
		if (!load_header(full, &header) && (header.run == run) == same)
			rc = paths_add(p, full);
	}
	closedir(d);
	if (p->nr > first) {
		qsort(p->path + first, p->nr - first, sizeof(*p->path), by_length_then_name);
		drop_doubles(p, first);
	}
	return rc;
}

int run_files(struct paths *p, const char *stem, uint64_t run, int (*accept)(const char *rest))
{
	return find(p, stem, run, true, accept);
}

int run_files_other(struct paths *p, const char *stem, uint64_t run,
		    int (*accept)(const char *rest))
{
	return find(p, stem, run, false, accept);
}

int run_files_is_child(const char *rest)
{
	return rest[0] == '.' && rest[1] && !rest[1 + strspn(rest + 1, "0123456789.")];
}

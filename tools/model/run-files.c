// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run-files.c - the data files that the processes of one run wrote.
 *
 * Must never write to a file.
 */
#include "run-files.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../../lib/live-name.h"
#include "../base/text.h"
#include "load.h"

static int by_length_then_name(const void *x, const void *y)
{
	const char *a = *(char *const *)x, *b = *(char *const *)y;
	size_t la = strlen(a), lb = strlen(b);

	return la != lb ? (la > lb) - (la < lb) : strcmp(a, b);
}

static int by_name(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

/* Leave out the second of two equal names: those of a live process's file and of an older one. */
static void drop_doubles(struct paths *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->nr; i++) {
		if (kept && !strcmp(p->path[kept - 1], p->path[i]))
			free(p->path[i]);
		else
			p->path[kept++] = p->path[i];
	}
	p->nr = kept;
}

/* Read the names in a folder, unless it was the last one read. Return: 0 or -ENOMEM. */
static int list(struct run_folder *folder, const char *dir)
{
	struct dirent *entry;
	int rc = 0;
	DIR *d;

	if (folder->dir && !strcmp(folder->dir, dir))
		return 0;
	run_folder_free(folder);
	folder->dir = strdup(dir);
	if (!folder->dir)
		return -ENOMEM;
	d = opendir(*dir ? dir : ".");
	if (!d)
		return 0;
	while (!rc && (entry = readdir(d))) {
		elide_final_name(entry->d_name);
		rc = paths_add(&folder->names, entry->d_name);
	}
	closedir(d);
	if (folder->names.nr)
		qsort(folder->names.path, folder->names.nr, sizeof(*folder->names.path), by_name);
	drop_doubles(&folder->names);
	return rc;
}

/* The first name that is not before @name. */
static size_t first_from(const struct paths *names, const char *name)
{
	size_t low = 0, high = names->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(names->path[middle], name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* @same: files of that run; else those of any other run */
static int find(struct run_folder *folder, struct paths *p, const char *stem, uint64_t run, bool same,
		int (*accept)(const char *rest))
{
	const char *name = base_name(stem);
	size_t first = p->nr, dir_len = name - stem, len = strlen(name);
	char dir[4096], full[sizeof(dir) + sizeof(((struct dirent *)0)->d_name)];
	const struct paths *names = &folder->names;
	struct elide_header header;
	int rc;

	if (dir_len >= sizeof(dir))
		return 0;
	snprintf(dir, sizeof(dir), "%.*s", (int)dir_len, stem);
	rc = list(folder, dir);
	for (size_t i = first_from(names, name);
	     !rc && i < names->nr && !strncmp(names->path[i], name, len); i++) {
		if (accept && !accept(names->path[i] + len))
			continue;
		snprintf(full, sizeof(full), "%s%s", dir, names->path[i]);
		if (load_header(full, &header) || (header.run == run) != same)
			continue;
		rc = paths_add(p, full);
		if (folder->found)
			folder->found(folder->arg, full, &header);
	}
	if (p->nr > first)
		qsort(p->path + first, p->nr - first, sizeof(*p->path), by_length_then_name);
	return rc;
}

void run_folder_free(struct run_folder *folder)
{
	paths_free(&folder->names);
	free(folder->dir);
	folder->dir = NULL;
}

int run_files_in(struct run_folder *folder, struct paths *p, const char *stem, uint64_t run,
		 int (*accept)(const char *rest))
{
	return find(folder, p, stem, run, true, accept);
}

int run_files_other_in(struct run_folder *folder, struct paths *p, const char *stem, uint64_t run,
		       int (*accept)(const char *rest))
{
	return find(folder, p, stem, run, false, accept);
}

int run_files(struct paths *p, const char *stem, uint64_t run, int (*accept)(const char *rest))
{
	struct run_folder folder = {0};
	int rc = find(&folder, p, stem, run, true, accept);

	run_folder_free(&folder);
	return rc;
}

int run_files_other(struct paths *p, const char *stem, uint64_t run,
		    int (*accept)(const char *rest))
{
	struct run_folder folder = {0};
	int rc = find(&folder, p, stem, run, false, accept);

	run_folder_free(&folder);
	return rc;
}

int run_files_is_child(const char *rest)
{
	return rest[0] == '.' && rest[1] && !rest[1 + strspn(rest + 1, "0123456789.")];
}

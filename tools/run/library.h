/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * library.h - where the loader finds a library, ld.so(8).
 *
 * Must never load one.
 */
#ifndef ELIDE_LIBRARY_H
#define ELIDE_LIBRARY_H

#include <limits.h>

/**
 * struct library_needs - where an object's libraries are searched.
 * @origin:  its directory, which $ORIGIN stands for
 * @rpath:   DT_RPATH: for its libraries and for theirs; empty: none, or it has @runpath
 * @runpath: DT_RUNPATH: for its libraries only
 * @by:      the object that needs this one; NULL for the program
 */
struct library_needs {
	char origin[PATH_MAX];
	char rpath[PATH_MAX];
	char runpath[PATH_MAX];
	const struct library_needs *by;
};

/**
 * library_origin() - set the directory of an object.
 * @path: of the object's file; for a program without symbolic links, as the loader gets it from the kernel
 */
void library_origin(struct library_needs *n, const char *path);

/** library_is_ours() - is the file a 64-bit object for x86-64? */
int library_is_ours(const char *path);

/**
 * library_find() - find a library that an object needs.
 * @name: as the object names it
 * @path: PATH_MAX bytes, set if it is found
 *
 * Searches the directories from which /etc/ld.so.cache is made, instead of the cache.
 *
 * Return: is it found?
 */
int library_find(const struct library_needs *n, const char *name, char *path);

#endif

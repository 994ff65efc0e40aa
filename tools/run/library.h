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
 * struct library_needs - an object that needs libraries, as far as that says where they are.
 * @origin:  its directory, which $ORIGIN stands for
 * @rpath:   DT_RPATH: for its libraries, and for those that these need; empty: none, or it has @runpath
 * @runpath: DT_RUNPATH: for the libraries that it needs itself
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
 * @path: of the object's file; of a program after symbolic links, as the kernel tells it to the loader
 */
void library_origin(struct library_needs *n, const char *path);

/** library_is_ours() - is the file a 64-bit object for x86-64? */
int library_is_ours(const char *path);

/**
 * library_find() - find a library that an object needs.
 * @name: as the object names it
 * @path: PATH_MAX bytes, set where it is found
 *
 * The loader has a cache, /etc/ld.so.cache; the directories that it is made of are looked into here.
 *
 * Return: is it found?
 */
int library_find(const struct library_needs *n, const char *name, char *path);

#endif

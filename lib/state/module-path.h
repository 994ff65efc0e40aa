/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * module-path.h - the file of an object that the loader has loaded.
 */
#ifndef ELIDE_MODULE_PATH_H
#define ELIDE_MODULE_PATH_H

#include <dlfcn.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/**
 * elide_module_path() - the absolute path of an object's file.
 * @path: filled; the name that the loader has where no path is known
 * @size: bytes of @path
 * @found: of _dl_find_object()
 *
 * The loader may have found the file by a path from the current directory, which the program may have
 * changed since: then the kernel tells what is mapped. In a global-lock path, with a data file.
 */
void elide_module_path(char *path, size_t size, const struct dl_find_object *found);

#pragma GCC visibility pop

#endif

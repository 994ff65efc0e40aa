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
 * @path: filled; the loader's name if no path is known
 * @size: bytes of @path
 * @found: of _dl_find_object()
 *
 * If the loader has a relative path, the kernel tells what is mapped, as the program may have changed its
 * current directory. In a global-lock path, with a data file.
 */
void elide_module_path(char *path, size_t size, const struct dl_find_object *found);

#pragma GCC visibility pop

#endif

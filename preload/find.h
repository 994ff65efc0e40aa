/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * find.h - the functions that a preloaded library stands in front of.
 */
#ifndef ELIDE_FIND_H
#define ELIDE_FIND_H

#include <link.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/**
 * find_function() - a function of the objects loaded after this library, else of those before.
 * @name: its name
 * @version: of the symbol, "" for the default one
 *
 * Reads the loader's list of objects and their symbol tables itself: dlsym()
 * may allocate. Calls nothing, takes no lock; any number of threads may do it at once.
 *
 * Return: its address, NULL if there is none.
 */
void *find_function(const char *name, const char *version);

/**
 * find_own_symbol() - a function that this library exports.
 * @name, @version: as of find_function()
 * @base: set to what its value is relative to
 *
 * Return: its entry in the symbol table, in memory that is read-only; NULL if there is none.
 */
ElfW(Sym) *find_own_symbol(const char *name, const char *version, uintptr_t *base);

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * find.h - find the functions that a preloaded library wraps.
 */
#ifndef ELIDE_FIND_H
#define ELIDE_FIND_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/**
 * find_function() - find a function in the objects loaded after this library, else in those before.
 * @name: its name
 * @version: of the symbol, "" for the default one
 *
 * Reads the loader's list of objects and their symbol tables itself, as dlsym() may allocate. Calls nothing,
 * takes no lock; any number of threads may call it at once.
 *
 * Return: its address, NULL if there is none.
 */
void *find_function(const char *name, const char *version);

/**
 * find_in_object() - find a function that one object exports.
 * @base: the object's load bias
 * @dynamic: its dynamic section
 * @name, @version: as for find_function()
 *
 * Return: its address, NULL if there is none.
 */
void *find_in_object(uintptr_t base, const ElfW(Dyn) *dynamic, const char *name, const char *version);

/**
 * find_own_symbol() - find a function that this library exports.
 * @name, @version: as for find_function()
 * @base: set to the load bias, to be added to its value
 *
 * Return: its entry in the symbol table, in read-only memory; NULL if there is none.
 */
ElfW(Sym) *find_own_symbol(const char *name, const char *version, uintptr_t *base);

/**
 * find_locked() - call @body while no other thread loads or unloads an object.
 *
 * In a running process all other functions here need that. Acquires the loader's lock.
 */
void find_locked(void (*body)(void));

/**
 * find_is_late() - was this library loaded into a running process, and not at its start?
 *
 * Then it comes after libc in the loader's list, and not before.
 */
bool find_is_late(void);

#pragma GCC visibility pop

#endif

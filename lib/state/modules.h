/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modules.h - the objects of the process: the program and its libraries.
 *
 * Look-ups are lock-free; objects are added in slow paths. At most ELIDE_MAX_MODULES are
 * known; further ones are counted as dropped.
 */
#ifndef ELIDE_MODULES_H
#define ELIDE_MODULES_H

#include <stdbool.h>

#include "../datafile.h"

#pragma GCC visibility push(hidden)

/* Objects, at most: 260 KiB of memory, of which only what is used is touched. Chosen. */
#define ELIDE_MAX_MODULES 512

/**
 * elide_module_of() - the object that @address lies in.
 *
 * An object seen for the first time is written to the data file. Called
 * under the engine's lock for every class, call site and misuse.
 *
 * Return: the object, NULL if it is in none.
 */
const struct elide_module *elide_module_of(const void *address);

/**
 * elide_module_of_past() - the object in which a call was made that may be over.
 * @site: its return address
 *
 * Another thread may be unloading the object, and its description by the loader may go
 * at any moment. So the loader looks it up only if no object was ever known at that address.
 *
 * Return: the object known last, NULL if it is in none.
 */
const struct elide_module *elide_module_of_past(const void *site);

/**
 * elide_module_known() - elide_module_of() without a change to anything.
 * @address: any
 * @in_object: set: an object is mapped there
 *
 * Lock-free, async-signal-safe.
 *
 * Return: the object, NULL if it is in none or in one that is not known yet.
 */
const struct elide_module *elide_module_known(const void *address, bool *in_object);

/** elide_module_number() - from 0, below ELIDE_MAX_MODULES. */
unsigned int elide_module_number(const struct elide_module *m);

/** elide_modules_save() - write all that are known to a new data file. In a slow path. */
void elide_modules_save(void);

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modules.h - the objects of the process: the program and its libraries.
 *
 * Look-ups are lock-free; objects are added in global-lock paths. At most ELIDE_MAX_MODULES are
 * known; further ones are counted as dropped.
 */
#ifndef ELIDE_MODULES_H
#define ELIDE_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "../datafile.h"

#pragma GCC visibility push(hidden)

/* Objects, at most: 272 KiB of memory, of which only what is used is touched. Chosen. */
#define ELIDE_MAX_MODULES 512

/**
 * elide_module_of() - the object that @address lies in.
 *
 * A new object is written to the data file. Called under the engine's lock for every class, call site and
 * misuse.
 *
 * Return: the object, NULL if it is in none.
 */
const struct elide_module *elide_module_of(const void *address);

/*
 * An object may be loaded at addresses of an unloaded one. In the data file, and wherever addresses are kept
 * that outlive their object, the addresses of the later one are marked: its number is in the bits that no
 * address of a program has. So each recorded address is of one object, whose record has the same mark in
 * its addresses.
 */
#define ELIDE_MARK_SHIFT 48

/** elide_at_run_time() - the address in the process that a recorded address stands for. */
static inline const void *elide_at_run_time(uint64_t recorded)
{
	return (const void *)(uintptr_t)(recorded & ((1ull << ELIDE_MARK_SHIFT) - 1));
}

/** elide_recorded() - the address to be recorded for one in a loaded object. In a global-lock path. */
uint64_t elide_recorded(const void *address);

/**
 * elide_recorded_call() - elide_recorded() of the call that is being made, without adding an object.
 * @site: its return address
 * @recorded: set
 *
 * Lock-free, async-signal-safe.
 *
 * Return: false if the object is not known yet.
 */
bool elide_recorded_call(const void *site, uint64_t *recorded);

/**
 * elide_recorded_known() - elide_recorded() by the known objects alone, without the loader.
 * @address: any; the object may be about to be unloaded
 *
 * Lock-free, async-signal-safe.
 */
uint64_t elide_recorded_known(const void *address);

/** elide_module_mark() - the mark in recorded addresses of an object. */
uint64_t elide_module_mark(const struct elide_module *m);

/*
 * Times that an object was found to be unloaded. What was found out about addresses at an earlier value may
 * be wrong.
 */
extern uint32_t elide_modules_epoch;

/**
 * elide_modules_are_there() - are all objects that are known still loaded?
 *
 * Lock-free, async-signal-safe.
 */
bool elide_modules_are_there(void);

/**
 * elide_modules_unloaded() - objects were unloaded: forget their locks and calls.
 *
 * In a global-lock path. If this is not called, as when libc unloads objects of its own, elide_module_of()
 * notices it when it meets another object at the same addresses.
 */
void elide_modules_unloaded(void);

/**
 * elide_modules_unloaded_later() - have the next global-lock path do that, as another thread is in one.
 *
 * No call is found until then, so each enters a global-lock path.
 * Lock-free, async-signal-safe.
 */
void elide_modules_unloaded_later(void);

/** elide_modules_settle() - at the beginning of each global-lock path: do what was left for later. */
void elide_modules_settle(void);

/**
 * elide_module_of_past() - the object of a call that may be over.
 * @recorded: its return address, from elide_recorded()
 *
 * Another thread may be unloading the object, with its link map. So the loader is asked only if no object
 * was ever known at that address.
 *
 * Return: the object, NULL if it is in none.
 */
const struct elide_module *elide_module_of_past(uint64_t recorded);

/**
 * elide_module_known() - elide_module_of() without adding an object.
 * @address: any
 * @in_object: set: an object is mapped there
 *
 * Lock-free, async-signal-safe.
 *
 * Return: the object, NULL if the address is in none, or in one that is not known yet.
 */
const struct elide_module *elide_module_known(const void *address, bool *in_object);

/** elide_module_number() - from 0, below ELIDE_MAX_MODULES. */
unsigned int elide_module_number(const struct elide_module *m);

/** elide_modules_save() - write all that are known to a new data file. In a global-lock path. */
void elide_modules_save(void);

#pragma GCC visibility pop

#endif

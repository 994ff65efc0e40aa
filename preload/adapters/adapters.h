/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * adapters.h - the functions of other libraries than libc behind the wrappers, found at the first call.
 *
 * The library may be loaded, and unloaded, at any time: so nothing is known of it when this one starts.
 */
#ifndef ELIDE_ADAPTERS_H
#define ELIDE_ADAPTERS_H

#include <stdint.h>

#include "compiler.h"

#pragma GCC visibility push(hidden)

enum adapter_type {
#define ADAPTER_TYPE(type) ADAPTER_##type,
#include "symbols.def"
#undef ADAPTER_TYPE
	NR_ADAPTERS
};

/**
 * enum adapter_how - how the calls of a type of lock are treated.
 *
 * ADAPTER_UNSEEN: its library has not been called yet. ADAPTER_ASIDE: they are passed on. ADAPTER_COUNTED:
 * they are counted, and the real functions alone know how a lock is locked. ADAPTER_WORD: the lock is a word
 * of 4 bytes, 0: free, 1: held by a thread for which none waits, and may be elided.
 */
enum adapter_how { ADAPTER_UNSEEN, ADAPTER_ASIDE, ADAPTER_COUNTED, ADAPTER_WORD };

/**
 * struct adapter_real - one function pointer for each row of symbols.def.
 *
 * Each points to a function that finds the real one and calls it, until that was found.
 */
struct adapter_real {
#define ADAPTER_SYMBOL(type, id, symbol, version, result, parameters, arguments) result(*id) parameters;
#include "symbols.def"
#undef ADAPTER_SYMBOL
};

extern struct adapter_real adapter_real;

/* What is there until a function was found. */
extern const struct adapter_real adapter_firsts;

/* By enum adapter_type: an enum adapter_how. */
extern uint8_t adapter_hows[NR_ADAPTERS];

/**
 * adapter_resolve() - find and verify the functions of a type.
 *
 * They are those of the first object behind this library in the loader's list that has them all, else of one
 * before it. Takes the loader's lock of that list, which is held for short times only.
 * Any number of threads may call it at once, once the engine runs. Aborts an elided section.
 *
 * Return: not ADAPTER_UNSEEN.
 */
enum adapter_how adapter_resolve(enum adapter_type type);

/** adapter_how() - how calls of the type are treated; finds out. */
static __always_inline_fn enum adapter_how adapter_how(enum adapter_type type)
{
	enum adapter_how how = __atomic_load_n(&adapter_hows[type], __ATOMIC_ACQUIRE);

	return likely(how) ? how : adapter_resolve(type);
}

/** adapter_find() - find the functions of all types whose objects are loaded, without a try. */
void adapter_find(void);

/** adapter_unloaded() - dlclose() was called: forget the functions that may be gone. */
void adapter_unloaded(void);

/*
 * adapter_check_TYPE() - try the functions in @real with locks of our own. Return: enum adapter_how, not
 * ADAPTER_UNSEEN.
 */
#define ADAPTER_TYPE(type) enum adapter_how adapter_check_##type(const struct adapter_real *real);
#include "symbols.def"
#undef ADAPTER_TYPE

#pragma GCC visibility pop

#endif

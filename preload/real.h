/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * real.h - the functions of glibc behind the wrappers: the one seam to it.
 *
 * Tests put their own functions here to inject faults. Nothing else in
 * preload/ may call a pthread lock function by its name: it would call us.
 */
#ifndef ELIDE_REAL_H
#define ELIDE_REAL_H

#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>
#include <threads.h>
#include <time.h>

#pragma GCC visibility push(hidden)

/**
 * struct real - one function pointer per row of symbols.def.
 *
 * Before real_resolve() each points to a function that resolves all and forwards,
 * so a call that comes before our constructor works.
 */
struct real {
#define ELIDE_SYMBOL(id, symbol, version, result, parameters, arguments) result(*id) parameters;
#define ELIDE_ALIAS(symbol, id)
#include "symbols.def"
#undef ELIDE_SYMBOL
#undef ELIDE_ALIAS
};

extern struct real real;

/**
 * real_resolve() - find the real functions in the objects loaded after us.
 *
 * Reads the loader's list of objects and their symbol tables itself: dlsym()
 * may allocate, and so call a replaced malloc that takes locks. Calls
 * nothing, takes no lock; any number of threads may do it at once. A function
 * that glibc does not have is left as one that answers ENOSYS.
 */
void real_resolve(void);

#pragma GCC visibility pop

#endif

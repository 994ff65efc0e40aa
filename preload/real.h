/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * real.h - the functions of glibc behind the wrappers.
 *
 * Tests put their own functions here to inject faults. Nothing else in preload/ may call a pthread lock
 * function by its name: that would call the wrapper.
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
 * Before real_resolve() each points to a function that resolves all and forwards, so that calls before the
 * constructor work.
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
 * real_resolve() - find the real functions, by find_function().
 *
 * Any number of threads may call it at once. A function that glibc does not have becomes one that returns
 * ENOSYS.
 */
void real_resolve(void);

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols.h - a test for each symbol of preload/symbols.def and preload/adapters/symbols.def, by its id: given the function under test, it
 * says what is wrong with its answers, or NULL.
 */
#ifndef TESTS_PRELOAD_SYMBOLS_H
#define TESTS_PRELOAD_SYMBOLS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

#define ELIDE_SYMBOL(id, symbol, version, result, parameters, arguments) \
	typedef result (*id##_fn) parameters;                            \
	const char *test_##id(id##_fn f);
#define ELIDE_ALIAS(symbol, id)
#include "../../../preload/symbols.def"
#undef ELIDE_SYMBOL
#undef ELIDE_ALIAS
#define ADAPTER_SYMBOL(type, id, symbol, version, result, parameters, arguments) \
	typedef result (*id##_fn) parameters;                                    \
	const char *test_##id(id##_fn f);
#include "../../../preload/adapters/symbols.def"
#undef ADAPTER_SYMBOL

#define expect(condition)                        \
	do {                                     \
		if (!(condition))                \
			return #condition;       \
	} while (0)

static const struct timespec past __attribute__((unused)) = {1, 0};

/* Zeroed memory is an initialised mutex, rwlock, and mutex of C11. */
static inline pthread_mutex_t *new_mutex(void)
{
	return calloc(1, sizeof(pthread_mutex_t));
}

static inline mtx_t *new_mtx(void)
{
	return calloc(1, sizeof(mtx_t));
}

/* What @call(@lock) answers in another thread, where even a recursive lock is busy. */
int elsewhere(void *call, void *lock);

#endif

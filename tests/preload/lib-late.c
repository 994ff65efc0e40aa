/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lib-late.c - preloaded after the library, so that its destructor runs after the library's: there it
 * acquires 100 locks of a class each, whose rows fill several chunks.
 */
#include <pthread.h>

#define TEN(f, n) \
	f(n##0) f(n##1) f(n##2) f(n##3) f(n##4) f(n##5) f(n##6) f(n##7) f(n##8) f(n##9)
#define HUNDRED(f) \
	TEN(f, 0) TEN(f, 1) TEN(f, 2) TEN(f, 3) TEN(f, 4) TEN(f, 5) TEN(f, 6) TEN(f, 7) TEN(f, 8) TEN(f, 9)
#define DEFINE(n)  static pthread_mutex_t lock_##n = PTHREAD_MUTEX_INITIALIZER;
#define ADDRESS(n) &lock_##n,
HUNDRED(DEFINE)
static pthread_mutex_t *const locks[] = {HUNDRED(ADDRESS)};

__attribute__((destructor)) static void late(void)
{
	for (unsigned int i = 0; i < sizeof(locks) / sizeof(*locks); i++) {
		pthread_mutex_lock(locks[i]);
		pthread_mutex_unlock(locks[i]);
	}
}

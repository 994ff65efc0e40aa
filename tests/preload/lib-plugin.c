/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib-plugin.c - a library of PLUGIN's name with locks of its own; all plugins have the same layout. */
#include <pthread.h>
#include <stdlib.h>

#define JOIN(a, b)  a##b
#define NAME(a, b)  JOIN(a, b)
#define LOCK        NAME(lock_of_, PLUGIN)

pthread_mutex_t LOCK = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) void NAME(lock_by_, PLUGIN)(pthread_mutex_t *m)
{
	pthread_mutex_lock(m);
	pthread_mutex_unlock(m);
}

int plugin_work(pthread_mutex_t *callers, int n);

/* Acquires the plugin's lock, the caller's, and one that it has made, @n times each. */
int plugin_work(pthread_mutex_t *callers, int n)
{
	pthread_mutex_t *own = malloc(sizeof(*own));

	if (!own || pthread_mutex_init(own, NULL))
		return 1;
	for (int i = 0; i < n; i++) {
		NAME(lock_by_, PLUGIN)(&LOCK);
		NAME(lock_by_, PLUGIN)(callers);
		NAME(lock_by_, PLUGIN)(own);
	}
	pthread_mutex_destroy(own);
	free(own);
	return 0;
}

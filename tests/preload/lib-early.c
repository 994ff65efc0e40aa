/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib-early.c - preloaded behind the library, so that its constructor runs, and locks, before ours. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

__attribute__((constructor)) static void early(void)
{
	for (int i = 0; i < 50; i++) {
		if (pthread_mutex_lock(&lock) || pthread_mutex_unlock(&lock) ||
		    pthread_rwlock_rdlock(&rwlock) || pthread_rwlock_unlock(&rwlock))
			abort();
	}
}

__attribute__((destructor)) static void late(void)
{
	if (pthread_mutex_lock(&lock) || pthread_mutex_unlock(&lock))
		abort();
}

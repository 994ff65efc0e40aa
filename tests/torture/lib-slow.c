/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib-slow.c - a library with locks and call sites of its own, which slow.c unloads and loads. */
#include <pthread.h>

int slow_library_sections(void);
int slow_library_lock(pthread_mutex_t *mutex);

static pthread_mutex_t mutexes[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
				     PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t single = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int value;

/* Returns the acquisitions that it has made. */
int slow_library_sections(void)
{
	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(&mutexes[i]);
		value++;
		pthread_mutex_unlock(&mutexes[i]);
	}
	pthread_mutex_lock(&single);
	value++;
	pthread_mutex_unlock(&single);
	pthread_rwlock_wrlock(&rwlock);
	value++;
	pthread_rwlock_unlock(&rwlock);
	return 6;
}

/* A lock of the program, by a call in here. */
int slow_library_lock(pthread_mutex_t *mutex)
{
	int err = pthread_mutex_lock(mutex);

	value++;
	return err;
}

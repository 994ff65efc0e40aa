/* SPDX-License-Identifier: GPL-2.0-or-later */
/* object.h - what a library of lib-object.c has, for objects.c. */
#ifndef TESTS_REUSE_OBJECT_H
#define TESTS_REUSE_OBJECT_H

#include <pthread.h>
#include <stdbool.h>

union any_lock {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	pthread_spinlock_t spin;
};

/**
 * struct object - the functions and the lock of a library, whose locks are all of one kind.
 * @shared: they are process-shared
 * @shape: 0 mutex, 1 rwlock, 2 spinlock
 * @kept:  a lock in its data, zeros when it is loaded
 * @make, @use, @destroy: initialise, lock and unlock, destroy a lock
 */
struct object {
	bool shared;
	int shape;
	union any_lock *kept;
	void (*make)(union any_lock *l);
	void (*use)(union any_lock *l);
	void (*destroy)(union any_lock *l);
};

extern const struct object object;

#endif

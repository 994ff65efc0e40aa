/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lib-object.c - a library named OBJECT with a lock of its own, of kind KIND; all of them have the same
 * layout, so that the loader puts one where another was.
 */
#include "object.h"

#define JOIN(a, b)   a##b
#define NAME(a, b)   JOIN(a, b)
#define BARRIER()    __asm__ volatile("" ::: "memory")

#define MUTEX         1
#define RWLOCK        2
#define SPIN          3
#define SHARED_MUTEX  4
#define SHARED_RWLOCK 5

union any_lock NAME(kept_by_, OBJECT);

static __attribute__((noinline)) void NAME(make_, OBJECT)(union any_lock *l)
{
#if KIND == SHARED_MUTEX
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&l->mutex, &a);
#elif KIND == SHARED_RWLOCK
	pthread_rwlockattr_t a;

	pthread_rwlockattr_init(&a);
	pthread_rwlockattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&l->rwlock, &a);
#elif KIND == MUTEX
	pthread_mutex_init(&l->mutex, NULL);
#elif KIND == RWLOCK
	pthread_rwlock_init(&l->rwlock, NULL);
#else
	pthread_spin_init(&l->spin, PTHREAD_PROCESS_PRIVATE);
#endif
	BARRIER();
}

static __attribute__((noinline)) void NAME(at_, OBJECT)(union any_lock *l)
{
#if KIND == MUTEX || KIND == SHARED_MUTEX
	pthread_mutex_lock(&l->mutex);
	pthread_mutex_unlock(&l->mutex);
#elif KIND == RWLOCK || KIND == SHARED_RWLOCK
	pthread_rwlock_wrlock(&l->rwlock);
	pthread_rwlock_unlock(&l->rwlock);
#else
	pthread_spin_lock(&l->spin);
	pthread_spin_unlock(&l->spin);
#endif
	BARRIER();
}

static void destroy(union any_lock *l)
{
#if KIND == MUTEX || KIND == SHARED_MUTEX
	pthread_mutex_destroy(&l->mutex);
#elif KIND == RWLOCK || KIND == SHARED_RWLOCK
	pthread_rwlock_destroy(&l->rwlock);
#else
	pthread_spin_destroy(&l->spin);
#endif
	BARRIER();
}

const struct object object = {
	.shared = KIND == SHARED_MUTEX || KIND == SHARED_RWLOCK,
	.shape = KIND == MUTEX || KIND == SHARED_MUTEX ? 0 : KIND == SPIN ? 2 : 1,
	.kept = &NAME(kept_by_, OBJECT),
	.make = NAME(make_, OBJECT),
	.use = NAME(at_, OBJECT),
	.destroy = destroy,
};

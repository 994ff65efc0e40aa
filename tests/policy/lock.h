/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lock.h - the locks of the loads: pthread's, or a peer's that LOCKS_OF names.
 *
 * pthread's are called from where the section is, so that each section is a call
 * site of its own. Must never include anything of the library.
 */
#ifndef TESTS_POLICY_LOCK_H
#define TESTS_POLICY_LOCK_H

/* LOCKS_OF is one of these. */
#define LOCKS_PTHREAD 0
#define LOCKS_TBB     1
#define LOCKS_CK      2
#define LOCKS_NONE    3 /* none at all: sections get lost, and the test of the test sees that */

#ifndef LOCKS_OF
#define LOCKS_OF LOCKS_PTHREAD
#endif

/* What a peer keeps for a thread while it is in a section. */
struct guard {
	char bytes[64];
} __attribute__((aligned(64)));

/* Locks are numbered: CK keeps counts of a lock for each thread. */
#define LOCKS_MAX 16448

#if LOCKS_OF == LOCKS_PTHREAD
#include <pthread.h>

union lock {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
} __attribute__((aligned(64)));

#define lock_init(l, number)    pthread_mutex_init(&(l)->mutex, NULL)
#define lock_acquire(l, guard)  pthread_mutex_lock(&(l)->mutex)
#define lock_release(l, guard)  pthread_mutex_unlock(&(l)->mutex)
#define rwlock_init(l, number)  pthread_rwlock_init(&(l)->rwlock, NULL)
#define rwlock_read(l, guard)   pthread_rwlock_rdlock(&(l)->rwlock)
#define rwlock_write(l, guard)  pthread_rwlock_wrlock(&(l)->rwlock)
#define rwlock_release(l, guard) pthread_rwlock_unlock(&(l)->rwlock)

#elif LOCKS_OF == LOCKS_NONE

union lock {
	char unused;
} __attribute__((aligned(64)));

#define lock_init(l, number)     ((void)(l))
#define lock_acquire(l, guard)   __asm__ volatile("" ::: "memory")
#define lock_release(l, guard)   __asm__ volatile("" ::: "memory")
#define rwlock_init(l, number)   ((void)(l))
#define rwlock_read(l, guard)    lock_acquire(l, guard)
#define rwlock_write(l, guard)   lock_acquire(l, guard)
#define rwlock_release(l, guard) lock_release(l, guard)

#else

/* Room for any peer's lock. */
union lock {
	char bytes[256];
	unsigned int number;
} __attribute__((aligned(64)));

#ifdef __cplusplus
extern "C" {
#endif
void lock_init(union lock *lock, unsigned int number);
void lock_acquire(union lock *lock, struct guard *guard);
void lock_release(union lock *lock, struct guard *guard);
void rwlock_init(union lock *lock, unsigned int number);
void rwlock_read(union lock *lock, struct guard *guard);
void rwlock_write(union lock *lock, struct guard *guard);
void rwlock_release(union lock *lock, struct guard *guard);
#ifdef __cplusplus
}
#endif
#endif

#endif

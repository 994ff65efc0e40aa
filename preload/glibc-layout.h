/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * glibc-layout.h - where glibc keeps its lock words, and when they are free.
 *
 * Facts of glibc 2.36 x86-64, verified by behaviour at every start: kinds of locks that are not as expected
 * are passed through.
 */
#ifndef ELIDE_GLIBC_LAYOUT_H
#define ELIDE_GLIBC_LAYOUT_H

#include <pthread.h>
#include <stdbool.h>

#include "section/engine.h"

#pragma GCC visibility push(hidden)

/* pthread_mutex_t.__data.__kind */
#define MUTEX_TYPE_MASK  3   /* PTHREAD_MUTEX_TIMED_NP, RECURSIVE_NP, ERRORCHECK_NP, ADAPTIVE_NP */
#define MUTEX_UNELIDABLE 240 /* robust 16, inherit 32, protect 64, process-shared 128 */
#define MUTEX_ROBUST     16
#define MUTEX_INHERIT    32
#define MUTEX_PRIORITY   96  /* inherit or protect */
#define MUTEX_GLIBC_ELIDES 256 /* glibc's own elision has marked it */
#define MUTEX_DESTROYED  (-1)
#define MUTEX_NO_ELISION 512 /* set by settype NORMAL and DEFAULT and by C11: harmless */

/* pthread_rwlock_t.__data.__readers */
#define RWLOCK_WRPHASE      1u
#define RWLOCK_WRLOCKED     2u
#define RWLOCK_RWAITING     4u
#define RWLOCK_READER_SHIFT 3

/* Its two futexes */
#define RWLOCK_FUTEX_USED 2u /* a thread sleeps there */

/* pthread_cond_t.__wrefs: process-shared, which clock; above them the number of waiters */
#define COND_SHARED 1u
#define COND_CLOCK  2u
#define COND_FLAGS  3

/* pthread_spinlock_t */
#define SPIN_FREE 1

/* The rules as constants for the compiler. A free rwlock has WRPHASE after a writer. */
#define MUTEX_IS_FREE {.mask = ~0u, .free = 0, .size = 4}
#define READ_IS_FREE  {.mask = RWLOCK_WRLOCKED, .free = 0, .size = 4}
#define WRITE_IS_FREE \
	{.mask = ~(uint64_t)(RWLOCK_WRPHASE | RWLOCK_RWAITING) & ~0u, .free = 0, .size = 4}
#define SPIN_IS_FREE  {.mask = ~0u, .free = SPIN_FREE, .size = 4}

extern const struct elide_rule glibc_mutex_rule, glibc_read_rule, glibc_write_rule,
	glibc_spin_rule;

/**
 * struct glibc_layout - what is as expected.
 * @mutex: words of mutexes of all types; they may be elided, and locked without calling glibc
 * @rwlock: words of a rwlock
 * @spin: word of a spinlock
 * @sem: value of a semaphore
 * @cond: number of a condition variable's waiters
 */
struct glibc_layout {
	bool mutex;
	bool rwlock;
	bool spin;
	bool sem;
	bool cond;
};

extern struct glibc_layout glibc_layout;

/**
 * glibc_layout_check() - fill glibc_layout: lock, look, unlock, look again.
 *
 * Calls only the real functions.
 */
void glibc_layout_check(void);

/**
 * glibc_tid_at() - offset from the thread pointer at which glibc keeps the Linux id of a thread.
 *
 * Return: bytes; 0 if the calling thread has another number there.
 */
uint32_t glibc_tid_at(void);

/** glibc_mutex_elidable() - may the mutex be elided? */
static inline bool glibc_mutex_elidable(const pthread_mutex_t *m)
{
	return glibc_layout.mutex &&
	       !(m->__data.__kind & (MUTEX_UNELIDABLE | MUTEX_GLIBC_ELIDES));
}

/** glibc_mutex_plain() - is it a mutex of type normal or default, without extras? */
static inline bool glibc_mutex_plain(const pthread_mutex_t *m)
{
	return !(m->__data.__kind & ~MUTEX_NO_ELISION);
}

/**
 * glibc_mutex_simple() - is it a mutex of any type, without extras?
 *
 * If it is free it is locked, and if it is held once released, as a plain one; a recursive one has a count
 * of 1 then.
 */
static inline bool glibc_mutex_simple(const pthread_mutex_t *m)
{
	return !(m->__data.__kind & ~(MUTEX_NO_ELISION | MUTEX_TYPE_MASK));
}

/** glibc_mutex_type() - PTHREAD_MUTEX_*_NP. */
static inline int glibc_mutex_type(const pthread_mutex_t *m)
{
	return m->__data.__kind & MUTEX_TYPE_MASK;
}

/** glibc_mutex_relocked() - is it a recursive mutex that its holder has locked more than once? */
static inline bool glibc_mutex_relocked(const pthread_mutex_t *m)
{
	return glibc_mutex_type(m) == PTHREAD_MUTEX_RECURSIVE_NP && m->__data.__count > 1;
}

#pragma GCC visibility pop

#endif

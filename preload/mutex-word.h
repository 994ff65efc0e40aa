/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mutex-word.h - lock, wait for and release the word of a mutex as glibc does.
 *
 * 0: free, 1: held, 2: held, and a thread may sleep. Facts of glibc, which glibc-layout.c verifies at every
 * start, with its non-atomic path while the process has one thread. For simple mutexes:
 * glibc_mutex_simple(). Must never be used unless glibc_layout.mutex is set, and counts nothing.
 */
#ifndef ELIDE_MUTEX_WORD_H
#define ELIDE_MUTEX_WORD_H

#include <errno.h>
#include <linux/futex.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/syscalls.h"
#include "evidence/waits.h"
#include "glibc-layout.h"
#include "real.h"
#include "state/thread.h"
#include "state/waker.h"
#include "wait.h"

#pragma GCC visibility push(hidden)

/* The thread has the word: write the rest. @simple: the mutex may be of any type */
static __always_inline_fn void mutex_own(pthread_mutex_t *m, uint32_t tid, bool simple)
{
	m->__data.__owner = tid;
	m->__data.__nusers++;
	if (simple && unlikely(glibc_mutex_type(m) == PTHREAD_MUTEX_RECURSIVE_NP))
		m->__data.__count = 1;
}

/* Lock a free simple mutex as glibc does. False: it is held. */
static __always_inline_fn bool mutex_take(pthread_mutex_t *m, uint32_t tid, bool simple)
{
	int expected = 0;

	if (__libc_single_threaded) {
		if (m->__data.__lock)
			return false;
		m->__data.__lock = 1;
	} else if (!__atomic_compare_exchange_n(&m->__data.__lock, &expected, 1, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		return false; /* acquire pairs with the release in mutex_release() and glibc's */
	}
	mutex_own(m, tid, simple);
	return true;
}

/*
 * Wake a thread that waits for a mutex that was released; the mutex may be destroyed by now. glibc leaves the
 * word as if a thread waited after each wait for a condition variable, so the release counts as contended only
 * if the kernel has woken one.
 */
static __cold int wake_one(pthread_mutex_t *m, const void *site)
{
	const struct elide_thread *t = elide_self;
	int saved = errno;
	bool woken;

	elide_waker_note(m, t ? t->tid : 0, false, 0);
	woken = sys_futex(&m->__data.__lock, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL) > 0;
	errno = saved;
	if (woken)
		elide_evidence_blocked(elide_self, m, ELIDE_KIND_MUTEX, site);
	return 0;
}

static __always_inline_fn int mutex_release(pthread_mutex_t *m, const void *site)
{
	m->__data.__owner = 0;
	m->__data.__nusers--;
	if (__libc_single_threaded && m->__data.__lock == 1) {
		m->__data.__lock = 0;
		return 0;
	}
	/* From here on the mutex may be gone: only its address is used. */
	if (unlikely(__atomic_exchange_n(&m->__data.__lock, 0, __ATOMIC_RELEASE) > 1))
		return wake_one(m, site);
	return 0;
}

/* mutex_release() for a mutex of any type that this thread holds. */
static inline int mutex_release_typed(pthread_mutex_t *m, const void *site)
{
	if (glibc_mutex_type(m) == PTHREAD_MUTEX_RECURSIVE_NP && --m->__data.__count)
		return 0;
	return mutex_release(m, site);
}

/* Relock a recursive mutex that this thread holds. False: it is of another type, or glibc has to answer. */
static __always_inline_fn bool mutex_relock(pthread_mutex_t *m)
{
	if (!glibc_layout.mutex || !glibc_mutex_simple(m) ||
	    glibc_mutex_type(m) != PTHREAD_MUTEX_RECURSIVE_NP || m->__data.__count + 1 == 0)
		return false;
	m->__data.__count++;
	return true;
}

/* Lock a simple mutex if it looks free: a bare try would take the cache line from the holder. */
static __always_inline_fn bool mutex_take_free(void *lock, uint32_t tid)
{
	pthread_mutex_t *m = lock;

	return !READ_ONCE(m->__data.__lock) && mutex_take(m, tid, true);
}

/**
 * struct by_glibc - a robust or process-shared mutex for which a thread waits awake.
 * @m: the mutex
 * @err: answer of the real function
 */
struct by_glibc {
	pthread_mutex_t *m;
	int err;
};

/*
 * glibc puts a robust mutex into a list of the thread. Not by its trylock, which leaves a mutex that cannot
 * be recovered locked. If another thread is faster, the real function sleeps.
 */
static __noinline bool take_by_glibc(void *lock, uint32_t unused)
{
	struct by_glibc *by = lock;

	(void)unused;
	if (READ_ONCE(by->m->__data.__lock))
		return false;
	by->err = real.mutex_lock(by->m);
	return true;
}

/*
 * Wait awake for the mutex, but not for one whose holder gets the priority of sleepers. False: it is still
 * held; else *@err is the answer.
 */
static __always_inline_fn bool mutex_stay_awake(struct elide_thread *t, struct wait *w,
						const struct elide_row *row,
						const struct crowd *crowd, pthread_mutex_t *m,
						int *err)
{
	struct by_glibc by = {m, 0};
	bool taken;

	if (!glibc_layout.mutex)
		return false;
	*err = 0;
	if (glibc_mutex_simple(m))
		return wait_awake(w, row, crowd, mutex_take_free, m, t->tid);
	if (m->__data.__kind & MUTEX_PRIORITY)
		return false;
	taken = wait_awake(w, row, crowd, take_by_glibc, &by, 0);
	*err = by.err;
	return taken;
}

/*
 * Sleep until the thread has the mutex, if it is a simple one for which it has waited awake. As in glibc the
 * word is 2 while a thread may sleep: a woken thread locks the mutex with 2, as others may still sleep, and
 * sets it to 2 before it sleeps again.
 *
 * But a woken thread stays awake for a while first. Threads that are awake are faster, so it mostly finds the
 * mutex held. If it slept again at once, as in glibc, from then on each release would wake a thread, and a
 * wake-up takes longer than most sections. Meanwhile threads that are awake lock the mutex with 1, and their
 * releases wake nobody.
 *
 * False: nothing was done.
 */
static inline bool mutex_sleep(pthread_mutex_t *m, uint32_t tid, const struct wait *w)
{
	int *word = &m->__data.__lock, saved = errno, expected;
	unsigned long long start;

	if (!w->awake || !glibc_mutex_simple(m))
		return false;
	/* Acquire pairs with the release in mutex_release() and glibc's. */
	while (__atomic_exchange_n(word, 2, __ATOMIC_ACQUIRE)) {
		sys_futex(word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, NULL);
		for (start = cycles_now(); cycles_now() - start < w->awake; cpu_relax()) {
			expected = 0;
			if (!READ_ONCE(*word) &&
			    __atomic_compare_exchange_n(word, &expected, 2, false, __ATOMIC_ACQUIRE,
							__ATOMIC_RELAXED))
				goto taken;
		}
	}
taken:
	mutex_own(m, tid, true);
	errno = saved;
	return true;
}

static bool mutex_looks_free(const void *lock, enum elide_kind kind)
{
	return !READ_ONCE(((const pthread_mutex_t *)lock)->__data.__lock);
}

#pragma GCC visibility pop

#endif

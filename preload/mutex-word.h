/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mutex-word.h - how the word of a mutex is taken, waited for and released, as glibc does it.
 *
 * 0: free, 1: held, 2: held, and a thread may sleep. Facts of glibc, which glibc-layout.c verifies at
 * every start, with its non-atomic path while the process has one thread. Of simple mutexes, which have no
 * extras: glibc_mutex_simple(). Must never be used where glibc_layout.mutex is not set, and counts nothing.
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

/* Its word says that it is this thread's: write down the rest. @simple: it may be of any type */
static __always_inline_fn void mutex_own(pthread_mutex_t *m, uint32_t tid, bool simple)
{
	m->__data.__owner = tid;
	m->__data.__nusers++;
	if (simple && unlikely(glibc_mutex_type(m) == PTHREAD_MUTEX_RECURSIVE_NP))
		m->__data.__count = 1;
}

/* Take a free simple mutex as glibc does, one that is not this thread's. False: it is held. */
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

/* Others wait for it, and it may be gone by now. */
static __cold int wake_one(pthread_mutex_t *m, const void *site)
{
	const struct elide_thread *t = elide_self;
	int saved = errno;

	elide_waker_note(m, t ? t->tid : 0, false);
	sys_futex(&m->__data.__lock, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL);
	errno = saved;
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

/* As mutex_release(), of any type, held by this thread. */
static inline int mutex_release_typed(pthread_mutex_t *m, const void *site)
{
	if (glibc_mutex_type(m) == PTHREAD_MUTEX_RECURSIVE_NP && --m->__data.__count)
		return 0;
	return mutex_release(m, site);
}

/* One more of a recursive one that this thread holds. False: it is of another type, or glibc answers. */
static __always_inline_fn bool mutex_relock(pthread_mutex_t *m)
{
	if (!glibc_layout.mutex || !glibc_mutex_simple(m) ||
	    glibc_mutex_type(m) != PTHREAD_MUTEX_RECURSIVE_NP || m->__data.__count + 1 == 0)
		return false;
	m->__data.__count++;
	return true;
}

/* Lock a simple mutex if it looks free: a try by itself would take the line from the holder. */
static __always_inline_fn bool mutex_take_free(void *lock, uint32_t tid)
{
	pthread_mutex_t *m = lock;

	return !READ_ONCE(m->__data.__lock) && mutex_take(m, tid, true);
}

/**
 * struct by_glibc - a robust or process-shared mutex that a thread waits for, awake.
 * @m: the mutex
 * @err: what the real function has answered
 */
struct by_glibc {
	pthread_mutex_t *m;
	int err;
};

/*
 * A robust one comes into a list of the thread's. Not by glibc's trylock: one that cannot be recovered stays
 * locked by that. If another thread is faster the real function sleeps.
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
 * Wait awake for it, if that may be: not for one whose holder gets the priority of those that sleep.
 * False: it is still held; else *@err is the answer.
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
 * Sleep until it is this thread's, if it is a simple one that it has stayed awake for. The word is 2 while a
 * thread may sleep, as glibc has it: who comes from sleep takes the mutex with 2, as others may sleep yet,
 * and sets it to 2 before it sleeps again.
 *
 * But it stays awake for a while first. Threads that are awake are faster, so it mostly finds the mutex
 * held; if it slept again at once, as in glibc, each release would wake a thread, for good, and a wake-up
 * takes longer than most sections. Meanwhile those that are awake take it with 1, and nobody is woken.
 *
 * False: nothing has been done.
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

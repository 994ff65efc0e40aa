/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pi-lock.c - see pi-lock.h. Must never spin or yield: a real-time thread would starve the holder.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../compiler.h"
#include "pi-lock.h"

/*
 * Nanoseconds of sleep between two attempts where the kernel has no priority-inheriting
 * futexes, or a filter forbids them: the timer slack of Linux (prctl(2),
 * PR_SET_TIMERSLACK), below which a sleep gets no shorter.
 */
#define SLEEP_NS 50000

static int futex(uint32_t *word, int operation)
{
	return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0);
}

static bool take(uint32_t *lock, uint32_t from, uint32_t tid)
{
	return __atomic_compare_exchange_n(lock, &from, tid, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static __cold void lock_contended(uint32_t *lock, uint32_t tid)
{
	static const struct timespec pause = {.tv_nsec = SLEEP_NS};

	while (!take(lock, 0, tid)) {
		if (!futex(lock, FUTEX_LOCK_PI))
			return;
		/* The holder is ending, or the word has changed meanwhile: ask again. */
		if (errno == EAGAIN || errno == EINTR)
			continue;
		syscall(SYS_nanosleep, &pause, NULL);
	}
}

void elide_pi_lock(uint32_t *lock, uint32_t tid)
{
	if (unlikely(!take(lock, 0, tid)))
		lock_contended(lock, tid);
}

bool elide_pi_trylock(uint32_t *lock, uint32_t tid)
{
	return take(lock, 0, tid);
}

void elide_pi_unlock(uint32_t *lock, uint32_t tid)
{
	uint32_t expected = tid;

	if (likely(__atomic_compare_exchange_n(lock, &expected, 0, false, __ATOMIC_RELEASE,
					       __ATOMIC_RELAXED)))
		return;
	/* Others wait: the kernel hands the lock to the one of the highest priority. */
	if (futex(lock, FUTEX_UNLOCK_PI))
		__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pi-lock.c - see pi-lock.h. Must never spin or yield: a real-time thread would starve the holder.
 *
 *   word           is                         next, and who changes it
 *   -------------  -------------------------  -------------------------------------------------
 *   0              free                       id: a thread that acquires, by compare-and-swap
 *   id             held, nobody sleeps        0: its holder, by compare-and-swap;
 *                                             id | WAITERS: the kernel, before a thread sleeps
 *   id | WAITERS   held, threads may sleep    id of the next holder, | WAITERS: the kernel, when
 *                                             the holder releases by FUTEX_UNLOCK_PI; 0: the
 *                                             same if nobody sleeps, or the holder if the kernel
 *                                             refuses
 *
 * The kernel adds FUTEX_OWNER_DIED when a holder ends while others sleep: one of them gets the lock.
 *
 * FUTEX_UNLOCK_PI fails if a seccomp filter forbids it, perhaps to one thread alone, while others sleep
 * whom only that call can wake. It also fails if the holder is not the thread whose id is in the word, as
 * after clone(2) without the library's knowledge. So a thread sleeps for SLEEP_MAX at most at a time. A
 * holder that is refused sets @refused, after which no thread begins to sleep, and releases the lock when
 * the last one has woken up. Not before: to the kernel it would still be the holder, and at its end the
 * kernel would give the lock to a sleeper, though another thread may hold it. tests/model/pi.pml searches
 * all interleavings.
 */
#include <errno.h>
#include <linux/futex.h>
#include <time.h>

#include "../compiler.h"
#include "pi-lock.h"
#include "syscalls.h"
#include "vdso.h"

/*
 * Nanoseconds of sleep between two attempts where the kernel has no priority-inheriting
 * futexes, or a filter forbids them: the timer slack of Linux (prctl(2),
 * PR_SET_TIMERSLACK), below which a sleep gets no shorter.
 */
#define NAP_NS 50000

/*
 * Nanoseconds of the longest sleep in the kernel. The lock is mostly held for microseconds, but with
 * hundreds of waiting threads each one that wakes costs the others: a program of 1,500 threads that make
 * 200 lock calls each took 9.3 times the processor time of plain with 10 ms, 2.2 times with 500 ms.
 */
#define SLEEP_MAX 500000000

/*
 * Naps after which a refused holder no longer waits for sleepers, 1 s at least: a thread that a filter has
 * killed in its sleep still counts as one.
 */
#define NAPS_MAX 20000

static bool may_ask(int operation)
{
	switch (operation) {
	case FUTEX_LOCK_PI2:
		return sys_may(futex_lock_pi2);
	case FUTEX_LOCK_PI:
		return sys_may(futex_lock_pi);
	default:
		return sys_may(futex_unlock_pi);
	}
}

static int futex(struct elide_pi_lock *lock, int operation, const struct timespec *until)
{
	if (unlikely(!may_ask(operation))) {
		errno = ENOSYS;
		return -1;
	}
	return sys_futex(&lock->word, operation | FUTEX_PRIVATE_FLAG, 0, until);
}

static void nap(void)
{
	static const struct timespec time = {.tv_nsec = NAP_NS};

	sys_pause(&time);
}

static bool take(struct elide_pi_lock *lock, uint32_t tid)
{
	uint32_t from = 0;

	return __atomic_compare_exchange_n(&lock->word, &from, tid, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static int sleep_until(struct elide_pi_lock *lock, int operation, clockid_t clock)
{
	struct timespec until = {0};

	elide_clock(clock, &until);
	until.tv_nsec += SLEEP_MAX;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	return futex(lock, operation, &until) ? errno : 0;
}

/* Sleep until it is this thread's. Return: 0, or why not. */
static int sleep_for(struct elide_pi_lock *lock)
{
	int err = EPERM;

	/* Sequentially consistent with release_refused(): this sees @refused, or that sees @sleepers. */
	__atomic_add_fetch(&lock->sleepers, 1, __ATOMIC_SEQ_CST);
	if (likely(!__atomic_load_n(&lock->refused, __ATOMIC_SEQ_CST))) {
		err = sleep_until(lock, FUTEX_LOCK_PI2, CLOCK_MONOTONIC);
		/* Before Linux 5.14: by the time of day, and longer if that is set back. */
		if (err == ENOSYS)
			err = sleep_until(lock, FUTEX_LOCK_PI, CLOCK_REALTIME);
	}
	__atomic_sub_fetch(&lock->sleepers, 1, __ATOMIC_SEQ_CST);
	return err;
}

/* Has the holder ended? Its id may be the caller's by now. */
static bool is_lost(const struct elide_pi_lock *lock, uint32_t tid, int err)
{
	return err == ESRCH ||
	       (err == EDEADLK && (READ_ONCE(lock->word) & FUTEX_TID_MASK) == tid);
}

static __cold bool lock_contended(struct elide_pi_lock *lock, uint32_t tid)
{
	int err;

	while (!take(lock, tid)) {
		err = sleep_for(lock);
		if (!err)
			return true;
		/* The holder is ending, the word has changed, or SLEEP_MAX is over. */
		if (err == EAGAIN || err == EINTR || err == ETIMEDOUT)
			continue;
		if (is_lost(lock, tid, err))
			return false;
		nap();
	}
	return true;
}

bool elide_pi_lock(struct elide_pi_lock *lock, uint32_t tid)
{
	return likely(take(lock, tid)) || lock_contended(lock, tid);
}

bool elide_pi_trylock(struct elide_pi_lock *lock, uint32_t tid)
{
	return take(lock, tid);
}

/* The kernel refuses to hand the lock over. */
static __cold void release_refused(struct elide_pi_lock *lock)
{
	__atomic_store_n(&lock->refused, 1, __ATOMIC_SEQ_CST);
	for (int i = 0; i < NAPS_MAX && __atomic_load_n(&lock->sleepers, __ATOMIC_SEQ_CST); i++)
		nap();
	__atomic_store_n(&lock->word, 0, __ATOMIC_RELEASE);
}

void elide_pi_unlock(struct elide_pi_lock *lock, uint32_t tid)
{
	uint32_t expected = tid;

	if (likely(__atomic_compare_exchange_n(&lock->word, &expected, 0, false, __ATOMIC_RELEASE,
					       __ATOMIC_RELAXED)))
		return;
	/* Others wait: the kernel hands the lock to the one of the highest priority. */
	do
		if (likely(!futex(lock, FUTEX_UNLOCK_PI, NULL)))
			return;
	while (errno == EAGAIN); /* the word has changed */
	release_refused(lock);
}

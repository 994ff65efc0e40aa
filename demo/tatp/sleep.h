/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sleep.h - threads that sleep until a word changes.
 *
 * No latch may be held by a thread that sleeps.
 */
#ifndef DEMO_TATP_SLEEP_H
#define DEMO_TATP_SLEEP_H

#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/**
 * sleep_on() - sleep while a word has a value, at most for a time
 * @word: the word
 * @seen: the value
 * @ns: the time in nanoseconds
 *
 * The call may return early.
 */
static inline void sleep_on(const uint32_t *word, uint32_t seen, uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000u),
			       .tv_nsec = (long)(ns % 1000000000u) };

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &ts, NULL, 0);
}

/** sleep_begin() - the value of a word, before the caller looks whether it must sleep */
static inline uint32_t sleep_begin(const uint32_t *word)
{
	/* Acquire: pairs with sleep_end(). What was changed before it is seen. */
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/**
 * sleep_end() - change a word, and wake the threads that sleep on it
 * @word: the word
 * @waiting: number of threads that may sleep; each counts itself, sequentially consistent,
 *	     before it sleeps
 * @few: no thread sleeps if the number is not above this
 */
static inline void sleep_end(uint32_t *word, const unsigned int *waiting, unsigned int few)
{
	/*
	 * Sequentially consistent, as the count of a waiting thread: either the number has it,
	 * or sleep_on() finds the word changed.
	 */
	__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(waiting, __ATOMIC_SEQ_CST) > few)
		syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#endif

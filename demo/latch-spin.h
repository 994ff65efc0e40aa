/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latch-spin.h - two latches that pthreads does not have.
 *
 * The baseline of Karnagel et al., HPCA 2014, section 2.1.1, a spinning
 * reader-writer latch with back-off and writer preference; and their TSX-H, a
 * spin latch that the processor itself elides (section 3.1). They must never
 * call pthreads: a preloaded library does not see them.
 */
#ifndef DEMO_LATCH_SPIN_H
#define DEMO_LATCH_SPIN_H

#include "base.h"

#include <sched.h>
#include <stdbool.h>

/* The longest back-off in pauses before the processor is given away. */
#define BACKOFF_MAX 16

/* Wait a little, twice as long each time, in the end for other threads. */
static inline void back_off(unsigned int *pauses)
{
	if (*pauses > BACKOFF_MAX) {
		sched_yield();
		return;
	}
	for (unsigned int i = 0; i < *pauses; i++)
		__builtin_ia32_pause();
	*pauses *= 2;
}

/*
 * struct spin_rw - the reader-writer latch in one word
 *
 *	SPIN_RW_WRITER   a writer holds it
 *	SPIN_RW_WAITING  a writer waits for it: no new readers
 *	the rest         readers that hold it, in units of SPIN_RW_READER
 */
struct spin_rw {
	uint32_t word;
};

#define SPIN_RW_WRITER 1u
#define SPIN_RW_WAITING 2u
#define SPIN_RW_READER 4u

/**
 * spin_rw_lock_read() - share the latch with other readers
 * @latch: the latch
 */
static inline void spin_rw_lock_read(struct spin_rw *latch)
{
	unsigned int pauses = 1;

	for (;;) {
		uint32_t word = __atomic_load_n(&latch->word, __ATOMIC_RELAXED);

		if (!(word & (SPIN_RW_WRITER | SPIN_RW_WAITING))) {
			/* Pairs with the release of the writer whose changes are to be seen. */
			word = __atomic_fetch_add(&latch->word, SPIN_RW_READER, __ATOMIC_ACQUIRE);
			if (!(word & SPIN_RW_WRITER))
				return;
			__atomic_fetch_sub(&latch->word, SPIN_RW_READER, __ATOMIC_RELAXED);
		}
		back_off(&pauses);
	}
}

/**
 * spin_rw_unlock_read() - what spin_rw_lock_read() acquired
 * @latch: the latch
 */
static inline void spin_rw_unlock_read(struct spin_rw *latch)
{
	/* Pairs with the acquire of the next writer, which must not change what is still read. */
	__atomic_fetch_sub(&latch->word, SPIN_RW_READER, __ATOMIC_RELEASE);
}

/**
 * spin_rw_lock_write() - have the latch alone
 * @latch: the latch
 */
static inline void spin_rw_lock_write(struct spin_rw *latch)
{
	unsigned int pauses = 1;

	for (;;) {
		uint32_t word = __atomic_load_n(&latch->word, __ATOMIC_RELAXED);

		if (!(word & ~SPIN_RW_WAITING)) {
			/* Taking it takes the mark of the waiting away; who waits still marks again. */
			if (__atomic_compare_exchange_n(&latch->word, &word, SPIN_RW_WRITER, false,
							__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
				return;
			continue;
		}
		if (!(word & SPIN_RW_WAITING))
			__atomic_fetch_or(&latch->word, SPIN_RW_WAITING, __ATOMIC_RELAXED);
		back_off(&pauses);
	}
}

/**
 * spin_rw_unlock_write() - what spin_rw_lock_write() acquired
 * @latch: the latch
 */
static inline void spin_rw_unlock_write(struct spin_rw *latch)
{
	/*
	 * Readers that are about to step back may be counted in, and a waiting
	 * writer keeps its mark.
	 */
	__atomic_fetch_and(&latch->word, ~SPIN_RW_WRITER, __ATOMIC_RELEASE);
}

/* struct hle - a spin latch that the processor elides: 1 while it is held */
struct hle {
	uint32_t word;
};

/* Prefixes that processors without HLE ignore (Intel SDM volume 1, section 16.3.1). */
#define XACQUIRE ".byte 0xf2\n\t"
#define XRELEASE ".byte 0xf3\n\t"

/**
 * hle_lock() - acquire the latch, or let the processor pretend
 * @latch: the latch
 *
 * It is waited for with a pause, so that an abort does not leave all others
 * without elision for good (Karnagel et al., section 3.3.2).
 */
static inline void hle_lock(struct hle *latch)
{
	for (;;) {
		uint32_t old = 1;

		__asm__ volatile(XACQUIRE "lock xchgl %0, %1"
				 : "+r"(old), "+m"(latch->word)
				 :
				 : "memory");
		if (!old)
			return;
		while (__atomic_load_n(&latch->word, __ATOMIC_RELAXED))
			__builtin_ia32_pause();
	}
}

/**
 * hle_unlock() - release it, which ends what the processor elided
 * @latch: the latch
 */
static inline void hle_unlock(struct hle *latch)
{
	__asm__ volatile(XRELEASE "movl $0, %0" : "=m"(latch->word) : : "memory");
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spin-rw.h - a spinning reader-writer latch with back-off and writer preference.
 *
 * It is the baseline of Karnagel et al., HPCA 2014, section 2.1.1. It must never call
 * pthreads, so that a preloaded library does not see it.
 */
#ifndef DEMO_LATCH_SPIN_RW_H
#define DEMO_LATCH_SPIN_RW_H

#include "back-off.h"
#include "latch.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * struct spin_rw_latch - the reader-writer latch in one word
 *
 *	SPIN_RW_WRITER   a writer holds it
 *	SPIN_RW_WAITING  a writer waits for it: new readers wait, too
 *	other bits       number of readers that hold it, in units of SPIN_RW_READER
 */
struct spin_rw_latch {
	uint32_t word;
};

#define SPIN_RW_WRITER 1u
#define SPIN_RW_WAITING 2u
#define SPIN_RW_READER 4u

static inline int spin_rw_init(struct spin_rw_latch *latch)
{
	latch->word = 0;
	return 0;
}

static inline void spin_rw_destroy(struct spin_rw_latch *latch)
{
}

/**
 * spin_rw_read() - acquire the latch shared
 * @latch: the latch
 */
static inline void spin_rw_read(struct spin_rw_latch *latch)
{
	unsigned int pauses = 1;

	for (;;) {
		uint32_t word = __atomic_load_n(&latch->word, __ATOMIC_RELAXED);

		if (!(word & (SPIN_RW_WRITER | SPIN_RW_WAITING))) {
			/* Acquire: pairs with the release in spin_rw_write_release(). */
			word = __atomic_fetch_add(&latch->word, SPIN_RW_READER, __ATOMIC_ACQUIRE);
			if (!(word & SPIN_RW_WRITER))
				return;
			__atomic_fetch_sub(&latch->word, SPIN_RW_READER, __ATOMIC_RELAXED);
		}
		back_off(&pauses);
	}
}

/**
 * spin_rw_read_release() - release the latch after spin_rw_read()
 * @latch: the latch
 */
static inline void spin_rw_read_release(struct spin_rw_latch *latch)
{
	/* Release: pairs with the acquire in spin_rw_write(), so that reads stay before. */
	__atomic_fetch_sub(&latch->word, SPIN_RW_READER, __ATOMIC_RELEASE);
}

/**
 * spin_rw_write() - acquire the latch exclusively
 * @latch: the latch
 */
static inline void spin_rw_write(struct spin_rw_latch *latch)
{
	unsigned int pauses = 1;

	for (;;) {
		uint32_t word = __atomic_load_n(&latch->word, __ATOMIC_RELAXED);

		if (!(word & ~SPIN_RW_WAITING)) {
			/* The exchange clears SPIN_RW_WAITING; other writers set it again. */
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
 * spin_rw_write_release() - release the latch after spin_rw_write()
 * @latch: the latch
 */
static inline void spin_rw_write_release(struct spin_rw_latch *latch)
{
	/*
	 * Only the writer's bit is cleared: readers that will subtract themselves again may
	 * be counted, and SPIN_RW_WAITING of a waiting writer stays. Release: pairs with
	 * the acquires of spin_rw_read() and spin_rw_write().
	 */
	__atomic_fetch_and(&latch->word, ~SPIN_RW_WRITER, __ATOMIC_RELEASE);
}

LATCH_SHARED(spin_rw)

#endif

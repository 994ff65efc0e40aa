/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sux.h - a spinning latch with the modes shared, update and exclusive.
 *
 *	        S held   U held   X held
 *	S       granted  granted  waits
 *	U       granted  waits    waits
 *	X       waits    waits    waits
 *
 * The holder of U may upgrade to X: it keeps new readers out and waits until the present
 * ones have left. So at most one thread changes a node, and readers pass a thread that
 * only may change it (Schröder, "Using modern synchronization mechanisms in databases",
 * 2016, section 2.3.3). A thread that waits for X or upgrades sets SUX_WAITING, which
 * keeps new readers out, too.
 *
 * It must never call pthreads, so that a preloaded library does not see it.
 */
#ifndef DEMO_LATCH_SUX_H
#define DEMO_LATCH_SUX_H

#include "back-off.h"
#include "latch.h"

#include <stdint.h>

/*
 * struct sux_latch - the latch in one word
 *
 *	SUX_EXCLUSIVE  a thread holds X
 *	SUX_UPDATE     a thread holds U
 *	SUX_WAITING    a thread waits until the readers have left
 *	other bits     number of threads that hold S, in units of SUX_READER
 */
struct sux_latch {
	uint32_t word;
};

#define SUX_EXCLUSIVE 1u
#define SUX_UPDATE 2u
#define SUX_WAITING 4u
#define SUX_READER 8u

/* Replace the word once no bit of @busy is set: clear @clear and add @add. */
static inline void sux_change(uint32_t *word, uint32_t busy, uint32_t clear, uint32_t add,
			      uint32_t waiting)
{
	uint32_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
	unsigned int pauses = 1;

	for (;;) {
		if (old & busy) {
			if (waiting & ~old)
				__atomic_fetch_or(word, waiting, __ATOMIC_RELAXED);
			back_off(&pauses);
			old = __atomic_load_n(word, __ATOMIC_RELAXED);
			continue;
		}
		/* Acquire: pairs with the releases below. */
		if (__atomic_compare_exchange_n(word, &old, (old & ~clear) + add, true,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return;
	}
}

static inline int sux_init(struct sux_latch *latch)
{
	latch->word = 0;
	return 0;
}

static inline void sux_destroy(struct sux_latch *latch)
{
}

/** sux_read() - acquire S; @latch: the latch */
static inline void sux_read(struct sux_latch *latch)
{
	sux_change(&latch->word, SUX_EXCLUSIVE | SUX_WAITING, 0, SUX_READER, 0);
}

/** sux_read_release() - release S; @latch: the latch */
static inline void sux_read_release(struct sux_latch *latch)
{
	/* Release: pairs with the acquire in sux_change(). */
	__atomic_fetch_sub(&latch->word, SUX_READER, __ATOMIC_RELEASE);
}

/** sux_update() - acquire U; @latch: the latch */
static inline void sux_update(struct sux_latch *latch)
{
	sux_change(&latch->word, SUX_EXCLUSIVE | SUX_UPDATE, 0, SUX_UPDATE, 0);
}

/** sux_update_release() - release U, which was not upgraded; @latch: the latch */
static inline void sux_update_release(struct sux_latch *latch)
{
	__atomic_fetch_and(&latch->word, ~SUX_UPDATE, __ATOMIC_RELEASE);
}

/** sux_upgrade() - change U into X, once the readers have left; @latch: the latch */
static inline void sux_upgrade(struct sux_latch *latch)
{
	/* A thread that waits for X sets SUX_WAITING again after it was cleared here. */
	sux_change(&latch->word, ~(SUX_UPDATE | SUX_WAITING), SUX_UPDATE | SUX_WAITING,
		   SUX_EXCLUSIVE, SUX_WAITING);
}

/** sux_write() - acquire X; @latch: the latch */
static inline void sux_write(struct sux_latch *latch)
{
	sux_change(&latch->word, ~SUX_WAITING, SUX_WAITING, SUX_EXCLUSIVE, SUX_WAITING);
}

/** sux_write_release() - release X; @latch: the latch */
static inline void sux_write_release(struct sux_latch *latch)
{
	/* Release: pairs with the acquire in sux_change(). */
	__atomic_fetch_and(&latch->word, ~SUX_EXCLUSIVE, __ATOMIC_RELEASE);
}

LATCH_SHARED(sux)

#endif

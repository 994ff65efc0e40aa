/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hle.h - a spin latch that a processor with HLE elides.
 *
 * It is TSX-H of Karnagel et al., HPCA 2014, section 3.1. It must never call pthreads,
 * so that a preloaded library does not see it.
 */
#ifndef DEMO_LATCH_HLE_H
#define DEMO_LATCH_HLE_H

#include "latch.h"

#include <stdint.h>

/* struct hle_latch - a spin latch that the processor elides; its word is 1 while it is held */
struct hle_latch {
	uint32_t word;
};

static inline int hle_init(struct hle_latch *latch)
{
	latch->word = 0;
	return 0;
}

static inline void hle_destroy(struct hle_latch *latch)
{
}

/* Prefixes that processors without HLE ignore (Intel SDM volume 1, section 16.3.1). */
#define XACQUIRE ".byte 0xf2\n\t"
#define XRELEASE ".byte 0xf3\n\t"

/**
 * hle_acquire() - acquire the latch; a processor with HLE elides the acquisition
 * @latch: the latch
 *
 * A thread that finds the latch held reads it with PAUSE until it is free and then
 * elides again. So one acquisition after an abort does not make all other threads
 * acquire (Karnagel et al., HPCA 2014, section 3.3.2).
 */
static inline void hle_acquire(struct hle_latch *latch)
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
 * hle_release() - release the latch; ends the elided section
 * @latch: the latch
 */
static inline void hle_release(struct hle_latch *latch)
{
	__asm__ volatile(XRELEASE "movl $0, %0" : "=m"(latch->word) : : "memory");
}

LATCH_EXCLUSIVE(hle)

#endif

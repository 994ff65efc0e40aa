/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * footprint.h - counts the distinct cache lines that a traversal reads.
 *
 * The code of a tree calls footprint_read() for each read of a node. In the
 * functions whose speed is measured the pointer is the constant NULL, and the
 * compiler removes the call. Their counting twins pass a struct footprint.
 */
#ifndef DEMO_FOOTPRINT_H
#define DEMO_FOOTPRINT_H

#include "base.h"

/*
 * Slots of the hash table of lines. A power of two, more than twice the 213 lines of
 * the worst traversal of Karnagel et al., HPCA 2014, section 5.1.1.
 */
#define FOOTPRINT_SLOTS 1024

/**
 * struct footprint - lines of the current traversal, and sums of all traversals
 * @lines: hash table of line numbers with open addressing; a slot is in use if its
 *	   @seen equals @round
 * @seen: number of the traversal that wrote the slot
 * @round: number of the current traversal, from 1
 * @nr: distinct lines that the current traversal has read
 * @traversals: traversals that have ended
 * @total: sum of the distinct lines of these traversals
 * @worst: distinct lines of the largest of these traversals
 */
struct footprint {
	uintptr_t lines[FOOTPRINT_SLOTS];
	uint64_t seen[FOOTPRINT_SLOTS];
	uint64_t round;
	unsigned int nr;
	uint64_t traversals;
	uint64_t total;
	unsigned int worst;
};

/* Enter a line into the table. A full table stays at FOOTPRINT_SLOTS lines. */
static inline void footprint_line(struct footprint *fp, uintptr_t line)
{
	unsigned int at = (unsigned int)(line * 0x9e3779b97f4a7c15u >> 54);

	for (unsigned int i = 0; i < FOOTPRINT_SLOTS; i++, at = (at + 1) % FOOTPRINT_SLOTS) {
		if (fp->seen[at] != fp->round) {
			fp->seen[at] = fp->round;
			fp->lines[at] = line;
			fp->nr++;
			return;
		}
		if (fp->lines[at] == line)
			return;
	}
}

/**
 * footprint_read() - record a read
 * @fp: the footprint, or NULL to record nothing
 * @p: address of the first byte that is read
 * @len: number of bytes that are read, at least 1
 */
static __inline_always void footprint_read(struct footprint *fp, const void *p, size_t len)
{
	if (!fp)
		return;
	for (uintptr_t line = (uintptr_t)p / CACHE_LINE;
	     line <= ((uintptr_t)p + len - 1) / CACHE_LINE; line++)
		footprint_line(fp, line);
}

/**
 * footprint_begin() - begin a traversal
 * @fp: the footprint, all 0 before the first traversal
 */
static inline void footprint_begin(struct footprint *fp)
{
	fp->round++;
	fp->nr = 0;
}

/**
 * footprint_end() - end a traversal and add it to the sums
 * @fp: the footprint
 */
static inline void footprint_end(struct footprint *fp)
{
	fp->traversals++;
	fp->total += fp->nr;
	fp->worst = fp->nr > fp->worst ? fp->nr : fp->worst;
}

/**
 * footprint_add() - add the sums of another thread's footprint
 * @to: the footprint that receives the sums
 * @from: the other thread's footprint
 */
static inline void footprint_add(struct footprint *to, const struct footprint *from)
{
	to->traversals += from->traversals;
	to->total += from->total;
	to->worst = from->worst > to->worst ? from->worst : to->worst;
}

#endif

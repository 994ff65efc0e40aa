/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * footprint.h - which cache lines a traversal reads.
 *
 * The node code says what it reads through footprint_read() with a pointer
 * that is a constant: NULL in the functions that are measured for speed, where
 * nothing of this is left, and a struct footprint in their counting twins.
 */
#ifndef DEMO_FOOTPRINT_H
#define DEMO_FOOTPRINT_H

#include "base.h"

/*
 * Slots of the table of lines: a power of two, and more than twice the 213
 * lines of the worst traversal expected (Karnagel et al., HPCA 2014, 5.1.1).
 */
#define FOOTPRINT_SLOTS 1024

/**
 * struct footprint - lines of one traversal, and figures of all so far
 * @lines: open hash table of line numbers, valid where @round is current
 * @seen: the round each slot was written in
 * @round: number of the current traversal, from 1
 * @nr: distinct lines in the current one
 * @traversals: how many have ended
 * @total: lines of all of them
 * @worst: lines of the largest
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

/* One line; a table that is full counts no further, which would show as FOOTPRINT_SLOTS. */
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
 * footprint_read() - note that bytes are read
 * @fp: where, NULL for nowhere
 * @p: the first byte
 * @len: how many, at least 1
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
 * footprint_begin() - a traversal begins
 * @fp: all 0 before the first
 */
static inline void footprint_begin(struct footprint *fp)
{
	fp->round++;
	fp->nr = 0;
}

/**
 * footprint_end() - a traversal is over
 * @fp: the same
 */
static inline void footprint_end(struct footprint *fp)
{
	fp->traversals++;
	fp->total += fp->nr;
	fp->worst = fp->nr > fp->worst ? fp->nr : fp->worst;
}

/**
 * footprint_add() - add the figures of another thread
 * @to: the sum
 * @from: what is added
 */
static inline void footprint_add(struct footprint *to, const struct footprint *from)
{
	to->traversals += from->traversals;
	to->total += from->total;
	to->worst = from->worst > to->worst ? from->worst : to->worst;
}

#endif

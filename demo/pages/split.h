/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * split.h - Contention Split: a leaf that threads wait for though they change different entries is
 * divided between these entries (Alhomssi and Leis, CIDR 2021, section 3 and listing 1).
 *
 *	one of 2^sample updates		counted: updates, those that waited, the position
 *	one of 2^period of them		the period ends: if all counted ones waited (pct), and the last
 *					two positions differ, the leaf is divided halfway between
 *					them; the counters begin anew in any case
 *
 * The listing as printed never splits, because the same call has overwritten the last position
 * before it compares; here the old one is kept first. One random number serves both tests, as all
 * bits of the smaller mask are in the larger one. So the end of a period is always counted, and
 * nothing divides by 0. One position does not count as two: the first update of a period has none
 * before it.
 */
#ifndef DEMO_PAGES_SPLIT_H
#define DEMO_PAGES_SPLIT_H

#include "tree.h"

bool split_counted(const struct page_tree_options *options, struct frame *frame, int32_t at,
		   bool waited, bool period, int32_t *before);
int split_contended(struct page_tree *tree, struct bytes a, struct bytes b);

/*
 * A random number, of which the upper bits count: the multiplicative congruential generator with
 * the factor of Steele and Vigna, "Computationally easy, spectrally good multipliers for
 * congruential pseudorandom number generators", Software: Practice and Experience 2022, table 5.
 */
static __inline_always uint64_t split_draw(struct page_tree_thread *thread)
{
	return thread->draw *= 0xf1357aea2e62a9c5u;
}

/* True if the upper @bits of a random number are 0. */
static __inline_always bool split_drawn(uint64_t draw, unsigned int bits)
{
	return !(bits && draw >> (64 - bits));
}

/**
 * split_sampled() - count an update of a leaf, if it is one of the sample
 * @options: of the tree
 * @thread: the calling thread
 * @frame: the leaf, latched exclusively
 * @at: position of the entry that was changed
 * @waited: the latch was held at first
 * @before: receives the position of the update before
 *
 * Return: true if the leaf should be divided between the two positions, which differ.
 */
static __inline_always bool split_sampled(const struct page_tree_options *options,
					  struct page_tree_thread *thread, struct frame *frame,
					  unsigned int at, bool waited, int32_t *before)
{
	uint64_t draw = split_draw(thread);

	if (likely(!split_drawn(draw, options->sample)))
		return false;
	return split_counted(options, frame, (int32_t)at, waited, split_drawn(draw, options->period),
			     before);
}

/* An entry was inserted at a position: the last update keeps its entry. */
static __inline_always void split_inserted(struct frame *frame, unsigned int at)
{
	if (frame->last >= (int32_t)at)
		frame->last++;
}

/* The entry at a position was deleted. */
static __inline_always void split_removed(struct frame *frame, unsigned int at)
{
	if (frame->last == (int32_t)at)
		frame->last = FRAME_NO_POSITION;
	else if (frame->last > (int32_t)at)
		frame->last--;
}

#endif

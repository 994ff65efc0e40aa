/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counts.h - what a thread counts under a scheme (see counts.def).
 *
 * Each thread has its own counts in its share of the index and writes them outside
 * transactions, so that counting adds no line to a transaction and no conflict.
 */
#ifndef DEMO_INDEX_COUNTS_H
#define DEMO_INDEX_COUNTS_H

#include <stdint.h>

/* struct counts - the counts of counts.def */
struct counts {
#define COUNT(id, help) uint64_t id;
#include "counts.def"
};

/**
 * counts_add() - add what a thread counted from a time on
 * @to: receives the sums
 * @now: the counts of the thread
 * @then: the same at that time
 */
static inline void counts_add(struct counts *to, const struct counts *now,
			      const struct counts *then)
{
#define COUNT(id, help) to->id += now->id - then->id;
#include "counts.def"
}

#endif

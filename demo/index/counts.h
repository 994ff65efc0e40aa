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
#define COUNT(id, name, help) uint64_t id;
#include "counts.def"
};

#endif

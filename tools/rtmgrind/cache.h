/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache.h - one set-associative cache: which lines it holds, and in what state.
 *
 * Must never know which core or level it is, nor what anything costs.
 */
#ifndef RTMGRIND_CACHE_H
#define RTMGRIND_CACHE_H

#include "rtmgrind.h"

/* A line in a cache: its address, and in the free bits below it: */
#define TAG_OWNED 1UL	/* no other core has it (E or M): it may be written */
#define TAG_DIRTY 2UL	/* it was (M) */
#define tag_line(tag) line_of(tag)

/**
 * struct tree - what is known of the order in which some ways of a set were used.
 * @bits: bit n says which half below node n is to be replaced next; the root is node 1
 * @used: when one of them was used last, counting the uses of the set's other trees
 */
struct tree {
	UInt bits;
	UInt used;
};

/**
 * struct cache - a cache.
 * @sets: number of sets
 * @ways: lines of a set
 * @nr_trees: replacement trees of a set, 0: the least recently used line is replaced
 * @tags: sets * ways, 0 is empty; without trees in the order of use, latest first
 * @trees: sets * nr_trees, the trees of each set
 */
struct cache {
	UInt sets;
	UInt ways;
	UInt nr_trees;
	Addr *tags;
	struct tree *trees;
};

void cache_init(struct cache *cache, Long kib, Long ways, Long nr_trees);
Addr *cache_find(struct cache *cache, Addr line);
void cache_use(struct cache *cache, Addr *tag);
Addr cache_insert(struct cache *cache, Addr tag);
Addr cache_remove(struct cache *cache, Addr line);

#endif

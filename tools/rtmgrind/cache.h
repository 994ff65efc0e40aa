/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cache.h - one set-associative cache: which lines it holds, and in what state.
 *
 * Must never know its core or level, nor any latency.
 */
#ifndef RTMGRIND_CACHE_H
#define RTMGRIND_CACHE_H

#include "rtmgrind.h"

/* A tag is the address of a line, with its state in the low bits, which the address leaves free. */
#define TAG_OWNED 1UL	/* no other core has the line, so it may be written: state E or M */
#define TAG_DIRTY 2UL	/* the line was written: state M */
#define tag_line(tag) line_of(tag)

/**
 * struct tree - the approximate order in which some ways of a set were used.
 * @bits: bit n is the half below node n in which to look for the way to replace; the root is node 1
 * @used: rank among the trees of the set: nr_trees for the one used last
 */
struct tree {
	UInt bits;
	UInt used;
};

/**
 * struct cache - a cache.
 * @sets: number of sets
 * @ways: lines of a set
 * @nr_trees: replacement trees of a set; 0: the least recently used line is replaced
 * @tags: @sets * @ways tags, 0 for an empty way; without trees each set is in the order of use,
 *        the line used last first
 * @trees: @sets * @nr_trees trees
 */
struct cache {
	UInt sets;
	UInt ways;
	UInt nr_trees;
	Addr *tags;
	struct tree *trees;
};

void cache_init(struct cache *cache, Long lines, Long ways, Long nr_trees);
Addr *cache_find(struct cache *cache, Addr line);
void cache_use(struct cache *cache, Addr *tag);
Addr cache_insert(struct cache *cache, Addr tag);
Addr cache_remove(struct cache *cache, Addr line);

#endif

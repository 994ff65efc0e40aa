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
 * struct cache - a cache.
 * @sets: number of sets
 * @ways: lines of a set
 * @plru: replacement by a tree of bits rather than the least recently used
 * @tags: sets * ways; unless @plru in the order of use, latest first; 0 is empty
 * @trees: a word of bits for each set if @plru: node n's says which half to replace next
 */
struct cache {
	UInt sets;
	UInt ways;
	Bool plru;
	Addr *tags;
	UInt *trees;
};

void cache_init(struct cache *cache, Long kib, Long ways, Bool plru);
Addr *cache_find(struct cache *cache, Addr line);
void cache_use(struct cache *cache, Addr *tag);
Addr cache_insert(struct cache *cache, Addr tag);
Addr cache_remove(struct cache *cache, Addr line);

#endif

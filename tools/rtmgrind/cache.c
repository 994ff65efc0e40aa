// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cache.c - one set-associative cache.
 *
 * Replacement is exact LRU, kept by the order of a set's tags, or the tree of
 * bits that processors approximate it with: each inner node points away from
 * the half that was used last (Al-Zoubi, Milenkovic and Milenkovic,
 * "Performance Evaluation of Cache Replacement Policies for the SPEC CPU2000
 * Benchmark Suite", 2004, section 2). Must never allocate after cache_init().
 */
#include "cache.h"

/**
 * cache_init() - make an empty cache.
 * @cache: receives it
 * @kib: size
 * @ways: associativity
 * @plru: replacement by a tree; @ways is a power of two
 */
void cache_init(struct cache *cache, Long kib, Long ways, Bool plru)
{
	cache->ways = ways;
	cache->sets = kib * 1024 / LINE_SIZE / ways;
	cache->plru = plru;
	cache->tags = VG_(calloc)("rtmgrind.tags", cache->sets * ways, sizeof(*cache->tags));
	if (plru)
		cache->trees = VG_(calloc)("rtmgrind.trees", cache->sets, sizeof(*cache->trees));
}

static Addr *set_of(const struct cache *cache, Addr line)
{
	return &cache->tags[line / LINE_SIZE % cache->sets * cache->ways];
}

/**
 * cache_find() - look a line up; does not count as a use.
 * @cache: the cache
 * @line: address of its first byte
 *
 * Return: its tag, NULL if it is not there. Valid until the cache changes.
 */
Addr *cache_find(struct cache *cache, Addr line)
{
	Addr *tag = set_of(cache, line);
	UInt way;

	for (way = 0; way < cache->ways; way++, tag++)
		if (tag_line(*tag) == line && *tag)
			return tag;
	return NULL;
}

static void point_away(struct cache *cache, UInt set, UInt way)
{
	UInt node = way + cache->ways;

	/* A heap of nodes from 1 on; its leaves are the ways. */
	for (; node > 1; node /= 2) {
		if (node & 1)
			cache->trees[set] &= ~(1U << node / 2);
		else
			cache->trees[set] |= 1U << node / 2;
	}
}

static UInt pointed_at(const struct cache *cache, UInt set)
{
	UInt node = 1;

	while (node < cache->ways)
		node = 2 * node + (cache->trees[set] >> node & 1);
	return node - cache->ways;
}

/**
 * cache_use() - a line is used: it will be replaced late.
 * @cache: the cache
 * @tag: its tag; it may move
 */
void cache_use(struct cache *cache, Addr *tag)
{
	UInt set = (tag - cache->tags) / cache->ways;
	Addr *first = &cache->tags[set * cache->ways];
	Addr used = *tag;

	if (cache->plru) {
		point_away(cache, set, tag - first);
		return;
	}
	for (; tag > first; tag--)
		*tag = tag[-1];
	*first = used;
}

static Addr *victim_of(struct cache *cache, Addr *first)
{
	UInt way;

	for (way = 0; way < cache->ways; way++)
		if (!first[way])
			return &first[way];
	if (cache->plru)
		return &first[pointed_at(cache, (first - cache->tags) / cache->ways)];
	return &first[cache->ways - 1];
}

/**
 * cache_insert() - enter a line that is not there, as used.
 * @cache: the cache
 * @tag: address and state
 *
 * Return: the tag it replaces, 0 none.
 */
Addr cache_insert(struct cache *cache, Addr tag)
{
	Addr *victim = victim_of(cache, set_of(cache, tag_line(tag)));
	Addr old = *victim;

	*victim = tag;
	cache_use(cache, victim);
	return old;
}

/**
 * cache_remove() - drop a line.
 * @cache: the cache
 * @line: address of its first byte
 *
 * Return: its tag, 0 if it was not there.
 */
Addr cache_remove(struct cache *cache, Addr line)
{
	Addr *tag = cache_find(cache, line);
	Addr old;

	if (!tag)
		return 0;
	old = *tag;
	*tag = 0;
	return old;
}

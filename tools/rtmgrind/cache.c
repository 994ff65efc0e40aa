// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cache.c - one set-associative cache.
 *
 * Replacement is exact LRU, in which the tags of a set are kept in the order of use, or one of the
 * approximations that processors use: a tree of bits in which each node points away from the half
 * that was used last (Al-Zoubi, Milenkovic and Milenkovic, "Performance Evaluation of Cache
 * Replacement Policies for the SPEC CPU2000 Benchmark Suite", 2004, section 2), or several such
 * trees over parts of the set, of which the least recently used tree decides (LRU3PLRU4 of Abel
 * and Reineke, uops.info/cache.html).
 *
 * Must never allocate after cache_init().
 */
#include "cache.h"

/**
 * cache_init() - make an empty cache.
 * @cache: receives the cache
 * @lines: size, lines
 * @ways: associativity
 * @nr_trees: replacement trees of a set, each over a power of two of ways; 0: exact LRU
 */
void cache_init(struct cache *cache, Long lines, Long ways, Long nr_trees)
{
	cache->ways = ways;
	cache->sets = lines / ways;
	cache->nr_trees = nr_trees;
	cache->tags = VG_(calloc)("rtmgrind.tags", cache->sets * ways, sizeof(*cache->tags));
	if (nr_trees)
		cache->trees = VG_(calloc)("rtmgrind.trees", cache->sets * nr_trees,
					   sizeof(*cache->trees));
}

static Addr *set_of(const struct cache *cache, Addr line)
{
	return &cache->tags[line / LINE_SIZE % cache->sets * cache->ways];
}

/**
 * cache_find() - look a line up, which does not count as a use.
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

/* @way was used: the nodes of its tree point away from it, and its tree is the last one used. */
static void point_away(struct cache *cache, UInt set, UInt way)
{
	UInt leaves = cache->ways / cache->nr_trees;
	struct tree *trees = &cache->trees[set * cache->nr_trees];
	struct tree *tree = &trees[way / leaves];
	UInt node = way % leaves + leaves;
	UInt i;

	/* The nodes are numbered as in a binary heap; the ways are its leaves. */
	for (; node > 1; node /= 2) {
		if (node & 1)
			tree->bits &= ~(1U << node / 2);
		else
			tree->bits |= 1U << node / 2;
	}
	for (i = 0; i < cache->nr_trees; i++)
		if (trees[i].used > tree->used)
			trees[i].used--;
	tree->used = cache->nr_trees;
}

static UInt pointed_at(const struct cache *cache, UInt set)
{
	UInt leaves = cache->ways / cache->nr_trees;
	const struct tree *trees = &cache->trees[set * cache->nr_trees];
	UInt node = 1, oldest = 0, i;

	for (i = 1; i < cache->nr_trees; i++)
		if (trees[i].used < trees[oldest].used)
			oldest = i;
	while (node < leaves)
		node = 2 * node + (trees[oldest].bits >> node & 1);
	return oldest * leaves + node - leaves;
}

/**
 * cache_use() - note that a line is used.
 * @cache: the cache
 * @tag: the line's tag; not valid afterwards, as it may move
 */
void cache_use(struct cache *cache, Addr *tag)
{
	UInt set = (tag - cache->tags) / cache->ways;
	Addr *first = &cache->tags[set * cache->ways];
	Addr used = *tag;

	if (cache->nr_trees) {
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
	if (cache->nr_trees)
		return &first[pointed_at(cache, (first - cache->tags) / cache->ways)];
	return &first[cache->ways - 1];
}

/**
 * cache_insert() - enter a line that the cache does not have, and note that it is used.
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

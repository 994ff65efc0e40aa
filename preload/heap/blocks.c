/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * blocks.c - see blocks.h.
 *
 * A block is entered under the granule of memory in which it begins. Granules have 4 KiB, or 16 times the
 * next smaller size; a block is entered at the smallest size that is not smaller than itself. So it reaches
 * at most into the next granule, and an address is looked up at two granules of each size.
 *
 * The table is divided into shards by a hash of the granule, each with a lock, so that threads with blocks of
 * their own do not contend. A free() of a block that is not known, by far the most frequent at any useful
 * sampling, reads one counter that seldom changes.
 *
 * Inside a transaction a block is only made empty: without the lock, but with its word read, so that a thread
 * that takes the lock aborts the transaction. An abort undoes that together with the free(). Empty blocks are
 * dropped when their chain is walked.
 *
 * Nothing is called with a lock held. Must never wait for a lock for ever: its holder may be this thread,
 * which a signal handler has interrupted.
 */
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "blocks.h"
#include "compiler.h"

/* 65,536 blocks: 18 MB, of which only used pages take memory. */
#define NR_SHARDS 64
#define SHARD_BLOCKS 1024
#define SHARD_CHAINS 1024
/* From 4 KiB to 1 TiB. */
#define NR_LEVELS 8
#define LEVEL_SHIFT(level) (12 + 4 * (level))
#define NR_MARKS (1 << 17)
/* Attempts to take a lock, with a yield between two. Then the table is given up. */
#define LOCK_TRIES 100000
/* Attempts of a look-up, which is only given up itself. */
#define LOOK_TRIES 100

/**
 * struct entry - a block.
 * @base: address
 * @size: bytes; 0: empty, as it was freed in a transaction
 * @next: of its chain or of the free list: index + 1
 * @level: size of its granule
 * @nr: frames
 * @frames: stack of its allocation
 */
struct entry {
	uint64_t base;
	uint64_t size;
	uint32_t next;
	uint16_t level;
	uint16_t nr;
	uint64_t frames[ELIDE_STACK_FRAMES];
};

/**
 * struct shard - a part of the table.
 * @lock: 1: held
 * @free: list of entries that are free again: index + 1
 * @used: entries that were ever used
 * @dropped: blocks that found no room
 * @chains: by granule: index + 1
 * @entries: the blocks
 */
struct shard {
	uint32_t lock __cacheline_aligned;
	uint32_t free;
	uint32_t used;
	uint64_t dropped;
	uint32_t chains[SHARD_CHAINS];
	struct entry entries[SHARD_BLOCKS];
};

static struct shard *shards;
/* Number of known blocks by a hash of their address. */
static uint32_t marks[NR_MARKS];
/* A lock could not be taken: nothing is known any more. */
static bool broken;

static uint64_t hash(uint64_t value)
{
	value *= 0x9e3779b97f4a7c15ull;
	return value ^ value >> 32;
}

static uint32_t *mark_of(uint64_t base)
{
	return &marks[hash(base >> 4) % NR_MARKS];
}

/* The shard and chain of a granule. */
static struct shard *shard_of(unsigned int level, uint64_t granule, uint32_t **chain)
{
	uint64_t h = hash(granule * NR_LEVELS + level);
	struct shard *shard = &shards[h % NR_SHARDS];

	*chain = &shard->chains[h / NR_SHARDS % SHARD_CHAINS];
	return shard;
}

static unsigned int level_of(uint64_t size)
{
	unsigned int level = 0;

	while (level < NR_LEVELS && size > 1ull << LEVEL_SHIFT(level))
		level++;
	return level;
}

static bool lock(struct shard *shard, unsigned int tries)
{
	int saved_errno = errno;

	while (__atomic_exchange_n(&shard->lock, 1, __ATOMIC_ACQUIRE)) {
		if (!--tries)
			return false;
		sched_yield();
	}
	errno = saved_errno;
	return true;
}

static void unlock(struct shard *shard)
{
	__atomic_store_n(&shard->lock, 0, __ATOMIC_RELEASE);
}

/* Take the entry *@link out of its chain. */
static void drop(struct shard *shard, uint32_t *link)
{
	uint32_t i = *link;
	struct entry *e = &shard->entries[i - 1];

	*link = e->next;
	e->next = shard->free;
	shard->free = i;
	__atomic_fetch_sub(mark_of(e->base), 1, __ATOMIC_RELAXED);
}

/* Drop the entry of a chain with @base, and empty ones. Return: was it there? */
static bool take_out(struct shard *shard, uint32_t *link, uint64_t base,
		     struct elide_heap_block *block)
{
	bool found = false;

	while (*link) {
		struct entry *e = &shard->entries[*link - 1];

		if (e->base != base && e->size) {
			link = &e->next;
			continue;
		}
		if (e->base == base && e->size) {
			found = true;
			if (block) {
				block->base = e->base;
				block->size = e->size;
				block->nr = e->nr;
				memcpy(block->frames, e->frames, e->nr * sizeof(e->frames[0]));
			}
		}
		drop(shard, link);
	}
	return found;
}

/* Make room: drop the empty entries of all chains. */
static void sweep(struct shard *shard)
{
	for (unsigned int i = 0; i < SHARD_CHAINS; i++)
		take_out(shard, &shard->chains[i], 0, NULL);
}

static struct entry *new_entry(struct shard *shard)
{
	uint32_t i = shard->free;

	if (!i && shard->used == SHARD_BLOCKS && shard->dropped++ % SHARD_BLOCKS == 0)
		sweep(shard);
	i = shard->free;
	if (i)
		shard->free = shard->entries[i - 1].next;
	else if (shard->used < SHARD_BLOCKS)
		i = ++shard->used;
	return i ? &shard->entries[i - 1] : NULL;
}

bool blocks_start(void)
{
	void *p = mmap(NULL, NR_SHARDS * sizeof(*shards), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p != MAP_FAILED)
		shards = p;
	return shards;
}

void blocks_add(const struct elide_heap_block *block)
{
	unsigned int level = level_of(block->size);
	struct shard *shard;
	struct entry *e;
	uint32_t *chain;

	if (level == NR_LEVELS || READ_ONCE(broken))
		return;
	shard = shard_of(level, block->base >> LEVEL_SHIFT(level), &chain);
	if (!lock(shard, LOCK_TRIES)) {
		WRITE_ONCE(broken, true);
		return;
	}
	take_out(shard, chain, block->base, NULL);
	e = new_entry(shard);
	if (e) {
		e->base = block->base;
		/* Size 0 is for empty entries; malloc(0), too, returns an address. */
		e->size = block->size ? block->size : 1;
		e->level = level;
		e->nr = block->nr;
		memcpy(e->frames, block->frames, block->nr * sizeof(e->frames[0]));
		e->next = *chain;
		*chain = e - shard->entries + 1;
		__atomic_fetch_add(mark_of(e->base), 1, __ATOMIC_RELAXED);
	}
	unlock(shard);
}

bool blocks_known(uint64_t base)
{
	return READ_ONCE(*mark_of(base));
}

bool blocks_remove(uint64_t base, struct elide_heap_block *block)
{
	bool found = false;

	for (unsigned int level = 0; level < NR_LEVELS && !found && !READ_ONCE(broken); level++) {
		uint32_t *chain;
		struct shard *shard = shard_of(level, base >> LEVEL_SHIFT(level), &chain);

		/* Without the lock: a thread that frees a block got it after it was entered. */
		if (!READ_ONCE(*chain))
			continue;
		if (!lock(shard, LOCK_TRIES)) {
			WRITE_ONCE(broken, true);
			break;
		}
		found = take_out(shard, chain, base, block);
		unlock(shard);
	}
	return found;
}

void blocks_remove_in_txn(uint64_t base)
{
	for (unsigned int level = 0; level < NR_LEVELS; level++) {
		uint32_t *chain;
		struct shard *shard = shard_of(level, base >> LEVEL_SHIFT(level), &chain);

		if (!READ_ONCE(*chain))
			continue;
		/* The word is in the read set, so the holder's release ends this by an abort. */
		while (READ_ONCE(shard->lock))
			;
		for (uint32_t i = *chain; i; i = shard->entries[i - 1].next)
			if (shard->entries[i - 1].base == base)
				shard->entries[i - 1].size = 0;
	}
}

static bool copy_at(struct shard *shard, uint32_t i, uint64_t address,
		    struct elide_heap_block *block)
{
	for (; i; i = shard->entries[i - 1].next) {
		const struct entry *e = &shard->entries[i - 1];

		if (address - e->base >= e->size)
			continue;
		block->base = e->base;
		block->size = e->size;
		block->nr = e->nr;
		memcpy(block->frames, e->frames, e->nr * sizeof(e->frames[0]));
		return true;
	}
	return false;
}

__export bool elide_heap_find(uint64_t address, struct elide_heap_block *block)
{
	bool found = false;

	if (!shards)
		return false;
	for (unsigned int i = 0; i < 2 * NR_LEVELS && !found && !READ_ONCE(broken); i++) {
		uint32_t *chain;
		struct shard *shard =
			shard_of(i / 2, (address >> LEVEL_SHIFT(i / 2)) - i % 2, &chain);

		if (!READ_ONCE(*chain) || !lock(shard, LOOK_TRIES))
			continue;
		found = copy_at(shard, *chain, address, block);
		unlock(shard);
	}
	return found;
}

void blocks_before_fork(void)
{
	for (unsigned int i = 0; shards && i < NR_SHARDS && !READ_ONCE(broken); i++)
		if (!lock(&shards[i], LOCK_TRIES))
			WRITE_ONCE(broken, true);
}

void blocks_after_fork(void)
{
	/* If the table is broken, its locks do not matter any more. */
	for (unsigned int i = 0; shards && i < NR_SHARDS && !READ_ONCE(broken); i++)
		unlock(&shards[i]);
}

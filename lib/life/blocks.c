/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* blocks.c - see blocks.h. */
#include "../base/datafile-writer.h"
#include "../state/thread-record.h"
#include "../state/tunables.h"
#include "../state/wiped.h"
#include "blocks.h"

/*
 * Blocks made at once, at most. A block keeps the thread that makes it in a global-lock path for 5 us
 * (measured on an AMD EPYC, with the file on ext4). Chosen here.
 */
#define BATCH 16

/*
 * Blocks whose address space is mapped at once, at most: one mapping for several batches.
 */
#define MAPPED 64

/*
 * Pages of a block that each thread writes: what lies before elide_thread.calls, and the first
 * calls.
 */
#define FIRST_PAGES 1

/*
 * Free blocks are a Treiber stack (Systems Programming: Coping with Parallelism, IBM RJ 5118, 1986).
 * Its top is one word: the address of a block and a count of the changes. If other threads take the top
 * block and push it again between a thread's load of @next_free and its compare-and-swap, the count has
 * changed, and the compare-and-swap fails. Blocks are never unmapped.
 *
 * @top: address of a block / ELIDE_PAGE << COUNT_BITS | number of changes; address 0: there is none
 * @nr_free: blocks in the stack; counted after they are put there, and after they are taken
 * @nr: blocks that were made
 * @fresh, @nr_fresh: blocks that are mapped, and not made yet: all zeroes, also after a fork
 */
static struct {
	uint64_t top;
	int32_t nr_free;
	uint32_t nr;
	struct elide_thread *fresh;
	uint32_t nr_fresh;
} blocks;

/* An address of a user's page is below 2^47 (Documentation/arch/x86/x86_64/mm.rst): 35 bits. */
#define COUNT_BITS 29
#define COUNT_MASK ((1ull << COUNT_BITS) - 1)

_Static_assert(_Alignof(struct elide_thread) >= ELIDE_PAGE, "see the top of the stack");

static struct elide_thread *block_at(uint64_t top)
{
	return (struct elide_thread *)((top >> COUNT_BITS) * ELIDE_PAGE);
}

static uint64_t top_of(const struct elide_thread *t, uint64_t was)
{
	return (uintptr_t)t / ELIDE_PAGE << COUNT_BITS | ((was + 1) & COUNT_MASK);
}

struct elide_thread *elide_block_pop(void)
{
	/* Pairs with elide_block_push(): the block is as its last thread has left it. */
	uint64_t top = __atomic_load_n(&blocks.top, __ATOMIC_ACQUIRE);
	struct elide_thread *t;
	uint64_t next;

	do {
		t = block_at(top);
		if (!t)
			return NULL;
		next = top_of(READ_ONCE(t->next_free), top);
	} while (!__atomic_compare_exchange_n(&blocks.top, &top, next, false, __ATOMIC_ACQUIRE,
					      __ATOMIC_ACQUIRE));
	__atomic_sub_fetch(&blocks.nr_free, 1, __ATOMIC_RELAXED);
	return t;
}

void elide_block_push(struct elide_thread *t)
{
	uint64_t top = READ_ONCE(blocks.top);

	do
		WRITE_ONCE(t->next_free, block_at(top));
	while (!__atomic_compare_exchange_n(&blocks.top, &top, top_of(t, top), false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	/* A handler that leaves this by longjmp() leaves the count one too low: one block more is made. */
	__atomic_add_fetch(&blocks.nr_free, 1, __ATOMIC_RELAXED);
}

uint32_t elide_blocks_left(void)
{
	int32_t nr = READ_ONCE(blocks.nr_free);

	return nr > 0 ? nr : 0;
}

uint32_t elide_blocks_nr(void)
{
	return READ_ONCE(blocks.nr);
}

bool elide_blocks_full(void)
{
	return READ_ONCE(blocks.nr) >= elide_tunables.max_threads &&
	       !block_at(READ_ONCE(blocks.top));
}

/* Map address space for further blocks, or for one if there is no room for more. */
static void map_blocks(uint32_t nr)
{
	uint32_t room = elide_tunables.max_threads - blocks.nr;

	if (nr < blocks.nr)
		nr = blocks.nr < MAPPED ? blocks.nr : MAPPED;
	if (nr > room)
		nr = room;
	blocks.fresh = elide_wiped_alloc(nr * sizeof(*blocks.fresh));
	if (!blocks.fresh) {
		nr = 1;
		blocks.fresh = elide_wiped_alloc(sizeof(*blocks.fresh));
	}
	blocks.nr_fresh = blocks.fresh ? nr : 0;
}

void elide_block_furnish(struct elide_thread *t)
{
	if (!t->record)
		elide_thread_record_make(t);
	/* The record is not published: the thread's first row takes its place. */
	if (!t->chunk)
		elide_data_record(&t->chunk, ELIDE_CHUNK_ROWS, sizeof(struct elide_row));
}

/*
 * Write to the pages that a thread with few calls needs. If a page is read first, the kernel maps the
 * zero page, and a later write interrupts all processors on which the process runs: 20 us (measured on
 * two processors of a virtual machine).
 */
static void write_pages(struct elide_thread *t)
{
	for (size_t at = 0; at < FIRST_PAGES * ELIDE_PAGE; at += ELIDE_PAGE)
		WRITE_ONCE(((char *)t)[at], 0);
}

uint32_t elide_blocks_some(void)
{
	uint32_t nr = blocks.nr / 4 + 1;

	return nr < BATCH ? nr : BATCH;
}

uint32_t elide_blocks_make(uint32_t nr)
{
	uint32_t before = blocks.nr;

	for (; nr && blocks.nr < elide_tunables.max_threads; nr--) {
		if (!blocks.nr_fresh)
			map_blocks(nr);
		if (!blocks.nr_fresh)
			break;
		blocks.nr_fresh--;
		WRITE_ONCE(blocks.nr, blocks.nr + 1);
		write_pages(blocks.fresh);
		elide_block_furnish(blocks.fresh);
		elide_block_push(blocks.fresh++);
	}
	return blocks.nr - before;
}

void elide_blocks_forget(void)
{
	blocks.top = top_of(NULL, blocks.top);
	blocks.nr_free = 0;
	blocks.nr = elide_self != NULL;
}

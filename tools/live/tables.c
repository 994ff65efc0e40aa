// SPDX-License-Identifier: GPL-2.0-or-later
/* tables.c - see tables.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "tables.h"

/* Slots and blocks to read, at most: four times what ELIDE_MAX_LOCKS and MAX_THREADS allow. */
#define MAX_SLOTS  (1u << 26)
#define MAX_BLOCKS (1u << 18)
#define MAX_TABLES 64

/* Bytes from the start of a lock to the end of its holder's id, at most. */
#define MAX_LOCK_SIZE 64

/* Entries of the engine's list of held locks: ELIDE_MAX_ACQUIRED of lib/state/open.h. */
#define MAX_HELD 48

/* Bytes of an entry of that list, and of @waits in a block. */
#define HELD_SIZE  24
#define WAITS_SIZE 16

/* Ranges of a block: @waits, @nr_held, @held. */
#define BLOCK_RANGES 3

/* Bytes of a lock to copy: from its first word, which is 0 in a free lock, to its holder. */
static size_t lock_size(const struct tables *t, uint32_t kind)
{
	uint32_t at = kind < ARRAY_SIZE(t->inspect.holder) ? t->inspect.holder[kind] : 0;

	return at && at <= MAX_LOCK_SIZE - sizeof(uint32_t) ? at + sizeof(uint32_t) : 0;
}

static int by_address(const void *a, const void *b)
{
	const struct tables_lock *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* A rwlock names only its writer. */
static uint32_t kind_of(const struct elide_class *class)
{
	return class->kind == ELIDE_KIND_RWLOCK_READ ? ELIDE_KIND_RWLOCK_WRITE : class->kind;
}

static int add_lock(struct tables *t, size_t *room, uint64_t key, const uint16_t *hot,
		    const struct elide_class *classes, size_t nr)
{
	uint64_t address = key & ((1ull << t->inspect.tag_shift) - 1);
	uint32_t tag = key >> t->inspect.tag_shift;
	uint32_t class_index = tag >= ELIDE_INSPECT_HOT && tag < ELIDE_INSPECT_GONE ?
				       hot[tag - ELIDE_INSPECT_HOT] : tag;

	if (!address || class_index >= nr)
		return 0;
	if (t->nr_locks == *room) {
		size_t more = *room ? 2 * *room : 256;
		struct tables_lock *locks = reallocarray(t->locks, more, sizeof(*locks));

		if (!locks)
			return -ENOMEM;
		t->locks = locks;
		*room = more;
	}
	t->locks[t->nr_locks++] =
		(struct tables_lock){address, class_index, kind_of(&classes[class_index])};
	return 0;
}

static int read_locks(struct tables *t, struct memory *m, const struct elide_class *classes,
		      size_t nr)
{
	const struct elide_inspect *i = &t->inspect;
	uint16_t hot[ELIDE_INSPECT_GONE - ELIDE_INSPECT_HOT] = {0};
	size_t room = 0;
	/* Where the locks are; where a table is and the next; number of words of a table and the next. */
	uint64_t start[2], head[2] = {0}, key;

	if (!memory_read(m, i->locks, start, sizeof(start)) ||
	    !memory_read(m, i->locks + sizeof(start), hot, sizeof(hot)))
		return 0;
	/* If the process was stopped while it rebuilt its table, the locks are in several tables. */
	for (uint64_t table = start[1], n = 0; table && n < MAX_TABLES; table = head[1], n++) {
		if (!memory_read(m, table, head, sizeof(head)))
			break;
		for (uint64_t slot = 0; slot < (uint32_t)head[0] && slot < MAX_SLOTS; slot++) {
			if (!memory_read(m, table + i->lock_words + slot * sizeof(key), &key,
					 sizeof(key)))
				break;
			if (add_lock(t, &room, key, hot, classes, nr))
				return -ENOMEM;
		}
	}
	qsort(t->locks, t->nr_locks, sizeof(*t->locks), by_address);
	return 0;
}

static int read_blocks(struct tables *t, struct memory *m)
{
	const struct elide_inspect *i = &t->inspect;
	uint64_t at;
	int tid;

	if (!memory_read(m, i->threads, &at, sizeof(at)))
		return 0;
	for (int nr = 0; at && nr < (int)MAX_BLOCKS; nr++) {
		struct tables_block *blocks =
			reallocarray(t->blocks, t->nr_blocks + 1, sizeof(*blocks));

		if (!blocks)
			return -ENOMEM;
		t->blocks = blocks;
		if (!memory_read(m, at + i->tid, &tid, sizeof(tid)))
			break;
		if (tid)
			blocks[t->nr_blocks++] = (struct tables_block){at, tid};
		if (!memory_read(m, at + i->next, &at, sizeof(at)))
			break;
	}
	return 0;
}

static void add_range(struct tables *t, uint64_t address, size_t size)
{
	t->ranges[t->nr_ranges++] =
		(struct seize_range){.address = address, .size = size, .to = t->bytes + t->size};
	t->size += size;
}

/* Bytes of all ranges and of their copies, at most. */
static size_t ranges_size(const struct tables *t)
{
	return (t->nr_locks + BLOCK_RANGES * t->nr_blocks + 1) * sizeof(*t->ranges);
}

static size_t bytes_size(const struct tables *t)
{
	return t->nr_locks * MAX_LOCK_SIZE +
	       t->nr_blocks * (WAITS_SIZE + 1 + MAX_HELD * HELD_SIZE) + 1;
}

/* Makes a range for each lock, and BLOCK_RANGES for each block. */
static int make_ranges(struct tables *t)
{
	const struct elide_inspect *i = &t->inspect;

	/* Shared, as the child marks the ranges that it has copied. */
	t->ranges = seize_bytes(ranges_size(t));
	t->bytes = seize_bytes(bytes_size(t));
	if (!t->ranges || !t->bytes)
		return -ENOMEM;
	for (size_t n = 0; n < t->nr_locks; n++)
		add_range(t, t->locks[n].address, lock_size(t, t->locks[n].kind));
	for (size_t n = 0; n < t->nr_blocks; n++) {
		add_range(t, t->blocks[n].address + i->waits, WAITS_SIZE);
		add_range(t, t->blocks[n].address + i->nr_held, 1);
		add_range(t, t->blocks[n].address + i->held, MAX_HELD * HELD_SIZE);
	}
	return 0;
}

static bool is_plausible(const struct elide_inspect *i)
{
	return i->size >= sizeof(*i) && i->locks && i->lock_words <= MAX_SLOTS &&
	       i->tag_shift >= 32 && i->tag_shift < 64 && i->held_size == HELD_SIZE;
}

int tables_read(struct tables *t, struct memory *m, const struct elide_inspect *inspect,
		const struct elide_class *classes, size_t nr)
{
	int err;

	*t = (struct tables){.inspect = *inspect};
	if (!is_plausible(inspect))
		return 0;
	err = read_locks(t, m, classes, nr);
	if (!err)
		err = read_blocks(t, m);
	return err ? err : make_ranges(t);
}

const struct tables_lock *tables_lock(const struct tables *t, uint64_t address)
{
	struct tables_lock key = {.address = address};

	return t->nr_locks ? bsearch(&key, t->locks, t->nr_locks, sizeof(key), by_address) : NULL;
}

int tables_holder(const struct tables *t, const struct tables_lock *lock)
{
	const struct seize_range *range = &t->ranges[lock - t->locks];
	uint32_t word, holder;

	if (!range->copied || range->size < 2 * sizeof(word))
		return 0;
	memcpy(&word, range->to, sizeof(word));
	memcpy(&holder, range->to + range->size - sizeof(holder), sizeof(holder));
	return word ? holder : 0;
}

/* The first range of the block of a thread; NULL if it has none. */
static const struct seize_range *block_of(const struct tables *t, int tid)
{
	for (size_t n = 0; n < t->nr_blocks; n++)
		if (t->blocks[n].tid == tid)
			return &t->ranges[t->nr_locks + BLOCK_RANGES * n];
	return NULL;
}

void tables_wait(const struct tables *t, struct memory *m, int tid, struct tables_wait *w)
{
	const struct seize_range *range = block_of(t, tid);
	uint64_t row;
	uint16_t kind = 0;

	*w = (struct tables_wait){0};
	if (!range || !range->copied)
		return;
	memcpy(&w->lock, range->to, sizeof(w->lock));
	memcpy(&row, range->to + sizeof(w->lock), sizeof(row));
	/* These members of a row never change. */
	if (!w->lock || !memory_read(m, row + t->inspect.row_site, &w->site, sizeof(w->site)) ||
	    !memory_read(m, row + t->inspect.row_kind, &kind, sizeof(kind)))
		w->lock = 0;
	w->kind = kind;
}

int tables_listed(const struct tables *t, struct stacks_thread *thread)
{
	const struct seize_range *range = block_of(t, thread->inner_tid);
	int err = 0;

	if (!range || !range[1].copied || !range[2].copied)
		return 0;
	for (int n = 0; !err && n < range[1].to[0] && n < MAX_HELD; n++) {
		const uint8_t *at = range[2].to + n * HELD_SIZE;
		struct stacks_held held;

		memcpy(&held.lock, at, sizeof(held.lock));
		memcpy(&held.site, at + 8, sizeof(held.site));
		memcpy(&held.class_index, at + 16, sizeof(held.class_index));
		memcpy(&held.kind, at + 20, sizeof(held.kind));
		if (held.lock)
			err = stacks_add_held(thread, &held);
	}
	return err;
}

void tables_free(struct tables *t)
{
	seize_bytes_free(t->bytes, bytes_size(t));
	seize_bytes_free(t->ranges, ranges_size(t));
	free(t->locks);
	free(t->blocks);
}

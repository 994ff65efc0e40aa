/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tables.h - the engine's tables of locks and threads in a process that runs with the library.
 *
 * Must never trust the tables: the process changes them meanwhile, and may be hostile.
 */
#ifndef ELIDE_TABLES_H
#define ELIDE_TABLES_H

#include "../model/stacks.h"
#include "objects.h"
#include "seize.h"

/**
 * struct tables - locks and blocks of threads, and the ranges of them to copy.
 * @inspect: where they are
 * @locks:   registered locks, @nr_locks of them, by address
 * @blocks:  blocks of threads that had not ended, @nr_blocks of them
 * @ranges:  @nr_ranges: one for each lock, in the order of @locks, then three for each block
 * @bytes:   their copies, of @size bytes
 */
struct tables {
	struct elide_inspect inspect;
	struct tables_lock {
		uint64_t address;
		uint32_t class_index;
		uint32_t kind;
	} *locks;
	size_t nr_locks;
	struct tables_block {
		uint64_t address;
		int tid;
	} *blocks;
	size_t nr_blocks;
	struct seize_range *ranges;
	size_t nr_ranges;
	uint8_t *bytes;
	size_t size;
};

/**
 * tables_read() - read the addresses of locks and blocks, and prepare the ranges.
 * @classes: of the data file, @nr
 *
 * Return: 0 or -ENOMEM; tables_free() releases it in any case.
 */
int tables_read(struct tables *t, struct memory *m, const struct elide_inspect *inspect,
		const struct elide_class *classes, size_t nr);

/** tables_lock() - the registered lock at an address; NULL if there is none. */
const struct tables_lock *tables_lock(const struct tables *t, uint64_t address);

/** tables_holder() - thread id of a lock's holder, in its pid namespace; 0: none, or unknown. */
int tables_holder(const struct tables *t, const struct tables_lock *lock);

/**
 * struct tables_wait - the lock that a thread waited for.
 * @lock: its address, 0 if it waited for none
 * @site: return address of the call; @kind: enum elide_kind of that
 */
struct tables_wait {
	uint64_t lock;
	uint64_t site;
	uint32_t kind;
};

/** tables_wait() - fill @w for the thread with the id @tid in its pid namespace. */
void tables_wait(const struct tables *t, struct memory *m, int tid, struct tables_wait *w);

/**
 * tables_listed() - add the locks that the engine's list, which ELIDE_ORDER=1 needs, has of a thread.
 *
 * Return: 0 or -ENOMEM.
 */
int tables_listed(const struct tables *t, struct stacks_thread *thread);

/** tables_free() - release what tables_read() took. */
void tables_free(struct tables *t);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * directory.h - which cores have a line; see directory.c.
 *
 * Must never know what a cache is.
 */
#ifndef RTMGRIND_DIRECTORY_H
#define RTMGRIND_DIRECTORY_H

#include "rtmgrind.h"

/**
 * struct shared_line - a line that some core has.
 * @next: chain of the hash table, or of the free list
 * @line: address of its first byte
 * @owner: the only core that has it, which may write it (E or M); -1: it is shared
 * @nr_cores: number of cores that have it
 * @mover: thread to whose core it moves, or for whose core it is reserved, 0 none
 * @queue: requests that wait for the line
 * @last_core: core that had it when it was reserved
 * @epoch: number of forks when @mover and @queue were set
 * @cores: bit set of the cores that have it
 *
 * Only contention.c uses @mover, @queue, @last_core and @epoch.
 */
struct shared_line {
	struct shared_line *next;
	Addr line;
	Int owner;
	UInt nr_cores;
	ThreadId mover;
	struct request *queue;
	Int last_core;
	UInt epoch;
	ULong cores[];
};

void directory_init(UInt nr_cores);
struct shared_line *directory_find(Addr line);
struct shared_line *directory_get(Addr line);
void directory_add(struct shared_line *entry, Int core);
void directory_remove(struct shared_line *entry, Int core);
void directory_settle(struct shared_line *entry);
Bool directory_has(const struct shared_line *entry, Int core);
Int directory_next(const struct shared_line *entry, Int core);

#endif

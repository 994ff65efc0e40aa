/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * directory.h - which cores have a line.
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
 * @owner: core that has it alone and may have written it (E or M), -1 none
 * @nr_cores: how many cores have it
 * @busy_until: virtual time at which the last move between cores that was asked for is over
 * @next_core: where it goes
 * @moves_to_write: nobody else will have it then
 * @cores: bit set of them
 */
struct shared_line {
	struct shared_line *next;
	Addr line;
	Int owner;
	UInt nr_cores;
	Long busy_until;
	Int next_core;
	Bool moves_to_write;
	ULong cores[];
};

void directory_init(UInt nr_cores);
struct shared_line *directory_find(Addr line);
struct shared_line *directory_get(Addr line);
void directory_add(struct shared_line *entry, Int core);
void directory_remove(struct shared_line *entry, Int core);
Bool directory_has(const struct shared_line *entry, Int core);
Int directory_next(const struct shared_line *entry, Int core);

#endif

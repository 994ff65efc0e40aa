/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * line.h - the cache lines that open transactions have touched; see line.c.
 *
 * Must never touch the memory of a line.
 */
#ifndef RTMGRIND_LINE_H
#define RTMGRIND_LINE_H

#include "rtmgrind.h"

/**
 * struct line - a cache line that some open transaction has touched.
 * @next: chain of the hash table, or of the free list
 * @addr: address of its first byte
 * @writer: thread that has it in its write set, 0 none
 * @nr_readers: number of threads that have it in their read set
 * @old: contents to restore if @writer aborts
 * @readers: bit set of these threads, reader_words long
 */
struct line {
	struct line *next;
	Addr addr;
	ThreadId writer;
	UInt nr_readers;
	UChar old[LINE_SIZE];
	ULong readers[];
};

void line_init(UInt nr_threads);
struct line *line_find(Addr addr);
struct line *line_get(Addr addr);
void line_put(struct line *line);
Bool line_reads(const struct line *line, ThreadId tid);
void line_set_reader(struct line *line, ThreadId tid, Bool reads);
ThreadId line_other_reader(const struct line *line, ThreadId tid);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * line.c - the table of cache lines that open transactions have touched.
 *
 * Only the thread that has the big lock changes it. Must never touch the memory of a line, which
 * may fault: txn.c and access.c do that.
 */
#include "line.h"

#define NR_BUCKETS 65536

static struct line *buckets[NR_BUCKETS];
static struct line *free_lines;
static UInt reader_words;

static struct line **bucket_of(Addr addr)
{
	return &buckets[(addr / LINE_SIZE ^ addr / LINE_SIZE / NR_BUCKETS) % NR_BUCKETS];
}

/**
 * line_init() - set the size of the reader sets.
 * @nr_threads: ThreadIds are below this
 */
void line_init(UInt nr_threads)
{
	reader_words = (nr_threads + 63) / 64;
}

/**
 * line_find() - look a line up.
 * @addr: its first byte
 *
 * Return: the line, NULL if no open transaction has touched it.
 */
struct line *line_find(Addr addr)
{
	struct line *line = *bucket_of(addr);

	while (line && line->addr != addr)
		line = line->next;
	return line;
}

/**
 * line_get() - look a line up, and enter it if it is not there.
 * @addr: its first byte
 *
 * Return: the line.
 */
struct line *line_get(Addr addr)
{
	struct line **bucket = bucket_of(addr);
	struct line *line = line_find(addr);
	SizeT readers_size = reader_words * sizeof(line->readers[0]);

	if (line)
		return line;
	line = free_lines;
	if (line)
		free_lines = line->next;
	else
		line = VG_(malloc)("rtmgrind.line", sizeof(*line) + readers_size);
	line->addr = addr;
	line->writer = 0;
	line->nr_readers = 0;
	VG_(memset)(line->readers, 0, readers_size);
	line->next = *bucket;
	*bucket = line;
	return line;
}

/**
 * line_put() - drop a line from the table if no transaction has it in a set any more.
 * @line: the line
 */
void line_put(struct line *line)
{
	struct line **link = bucket_of(line->addr);

	if (line->writer || line->nr_readers)
		return;
	while (*link != line)
		link = &(*link)->next;
	*link = line->next;
	line->next = free_lines;
	free_lines = line;
}

/**
 * line_reads() - is the line in a thread's read set?
 * @line: the line
 * @tid: the thread
 *
 * Return: True if it is.
 */
Bool line_reads(const struct line *line, ThreadId tid)
{
	return line->readers[tid / 64] >> tid % 64 & 1;
}

/**
 * line_set_reader() - enter a thread into a line's readers, or remove it.
 * @line: the line
 * @tid: the thread
 * @reads: True to enter
 */
void line_set_reader(struct line *line, ThreadId tid, Bool reads)
{
	if (line_reads(line, tid) == reads)
		return;
	line->readers[tid / 64] ^= 1ULL << tid % 64;
	line->nr_readers += reads ? 1 : -1;
}

/**
 * line_other_reader() - find another thread that has a line in its read set.
 * @line: the line
 * @tid: the thread that does not count
 *
 * Return: the lowest other thread that has the line in its read set, 0 if none.
 */
ThreadId line_other_reader(const struct line *line, ThreadId tid)
{
	UInt i;

	if (line->nr_readers == (line_reads(line, tid) ? 1 : 0))
		return 0;
	for (i = 0; i < reader_words; i++) {
		ULong word = line->readers[i];

		if (i == tid / 64)
			word &= ~(1ULL << tid % 64);
		if (word)
			return i * 64 + __builtin_ctzll(word);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * directory.c - which cores have a line: a hash table.
 *
 * It holds no more lines than the cores' caches do together. An entry nobody
 * has any more is dropped, and with it the memory of when it was last busy.
 */
#include "directory.h"

#define NR_BUCKETS (1U << 18)

static struct shared_line **buckets;
static struct shared_line *unused;
static UInt nr_words;

/**
 * directory_init() - make it, empty.
 * @nr_cores: cores are below this
 */
void directory_init(UInt nr_cores)
{
	nr_words = (nr_cores + 63) / 64;
	buckets = VG_(calloc)("rtmgrind.directory", NR_BUCKETS, sizeof(*buckets));
}

static struct shared_line **bucket_of(Addr line)
{
	Addr number = line / LINE_SIZE;

	return &buckets[(number ^ number / NR_BUCKETS) % NR_BUCKETS];
}

/**
 * directory_find() - look a line up.
 * @line: address of its first byte
 *
 * Return: its entry, NULL if no core has it.
 */
struct shared_line *directory_find(Addr line)
{
	struct shared_line *entry = *bucket_of(line);

	while (entry && entry->line != line)
		entry = entry->next;
	return entry;
}

/**
 * directory_get() - look a line up, entering it if need be.
 * @line: address of its first byte
 *
 * Return: its entry. A new one has no cores: add one.
 */
struct shared_line *directory_get(Addr line)
{
	struct shared_line *entry = directory_find(line);
	struct shared_line **bucket = bucket_of(line);

	if (entry)
		return entry;
	entry = unused;
	if (entry)
		unused = entry->next;
	else
		entry = VG_(malloc)("rtmgrind.shared_line",
				    sizeof(*entry) + nr_words * sizeof(entry->cores[0]));
	entry->line = line;
	entry->owner = -1;
	entry->nr_cores = 0;
	entry->busy_until = 0;
	entry->next_core = -1;
	entry->moves_to_write = False;
	VG_(memset)(entry->cores, 0, nr_words * sizeof(entry->cores[0]));
	entry->next = *bucket;
	*bucket = entry;
	return entry;
}

/**
 * directory_add() - a core has the line now.
 * @entry: the line
 * @core: the core
 */
void directory_add(struct shared_line *entry, Int core)
{
	ULong bit = 1ULL << core % 64;

	entry->nr_cores += !(entry->cores[core / 64] & bit);
	entry->cores[core / 64] |= bit;
}

/**
 * directory_remove() - a core has it no more.
 * @entry: the line; dropped if nobody has it
 * @core: the core
 */
void directory_remove(struct shared_line *entry, Int core)
{
	struct shared_line **link = bucket_of(entry->line);
	ULong bit = 1ULL << core % 64;

	if (!(entry->cores[core / 64] & bit))
		return;
	entry->cores[core / 64] &= ~bit;
	if (entry->owner == core)
		entry->owner = -1;
	if (--entry->nr_cores)
		return;
	while (*link != entry)
		link = &(*link)->next;
	*link = entry->next;
	entry->next = unused;
	unused = entry;
}

/** directory_has() - Return: True if the core has the line. */
Bool directory_has(const struct shared_line *entry, Int core)
{
	return entry->cores[core / 64] >> core % 64 & 1;
}

/**
 * directory_next() - go through the cores that have a line.
 * @entry: the line
 * @core: the one before, -1 at the beginning
 *
 * Return: the next, -1 at the end.
 */
Int directory_next(const struct shared_line *entry, Int core)
{
	UInt at = core + 1;
	UInt word = at / 64;
	ULong bits;

	if (word >= nr_words)
		return -1;
	bits = entry->cores[word] >> at % 64 << at % 64;
	while (!bits) {
		if (++word == nr_words)
			return -1;
		bits = entry->cores[word];
	}
	return word * 64 + __builtin_ctzll(bits);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * directory.c - a hash table of the lines that some core has, and of their cores.
 *
 * It has at most as many entries as the caches of all cores have lines, and one for each line that
 * moves. An entry is dropped when no core has the line and no request for it is left.
 *
 * Must never charge virtual time.
 */
#include "directory.h"

#define NR_BUCKETS (1U << 18)

static struct shared_line **buckets;
static struct shared_line *unused;
static UInt nr_words;

/**
 * directory_init() - make an empty directory.
 * @nr_cores: number of cores
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
 * directory_get() - look a line up, and enter it if it is not there.
 * @line: address of its first byte
 *
 * Return: its entry. A new one has no cores; the caller must add one.
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
	entry->mover = 0;
	entry->queue = NULL;
	VG_(memset)(entry->cores, 0, nr_words * sizeof(entry->cores[0]));
	entry->next = *bucket;
	*bucket = entry;
	return entry;
}

/**
 * directory_add() - enter a core among those that have a line.
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
 * directory_remove() - remove a core from those that have a line.
 * @entry: the line; dropped if no core has it and no request for it is left
 * @core: the core
 */
void directory_remove(struct shared_line *entry, Int core)
{
	ULong bit = 1ULL << core % 64;

	if (!(entry->cores[core / 64] & bit))
		return;
	entry->cores[core / 64] &= ~bit;
	if (entry->owner == core)
		entry->owner = -1;
	entry->nr_cores--;
	directory_settle(entry);
}

/**
 * directory_settle() - drop a line if no core has it and no request for it is left.
 * @entry: the line
 */
void directory_settle(struct shared_line *entry)
{
	struct shared_line **link = bucket_of(entry->line);

	if (entry->nr_cores || entry->mover || entry->queue)
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
 * directory_next() - iterate over the cores that have a line.
 * @entry: the line
 * @core: result of the previous call, -1 in the first one
 *
 * Return: the next core, -1 at the end.
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

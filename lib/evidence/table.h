/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * table.h - records of the data file that are found again by what they are about.
 *
 * Bounded hash tables in memory that a fork wipes. Only in slow paths.
 */
#ifndef ELIDE_TABLE_H
#define ELIDE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/datafile-writer.h"

#pragma GCC visibility push(hidden)

/* Records of a table, at most; a quarter of its slots stays free. */
#define EVIDENCE_SLOTS 8192
#define EVIDENCE_BOUND (EVIDENCE_SLOTS * 3 / 4)

/**
 * struct evidence_slot - one record.
 * @key:    hash of what it is about, never 0; 0 in a free slot. Two records with the same
 *          64 bits are taken for one: with a full table that is one chance in 10^12
 * @record: in the data file
 * @index:  of it, in the order in which they were written
 */
struct evidence_slot {
	uint64_t key;
	void *record;
	uint32_t index;
};

/**
 * struct evidence_table - all records of one type.
 * @chunk: of the data file, that is being filled
 */
struct evidence_table {
	struct elide_chunk *chunk;
	uint32_t nr;
	struct evidence_slot slots[EVIDENCE_SLOTS];
};

/**
 * struct evidence - the tables of a process.
 * @nr_hints: of @details
 */
struct evidence {
	struct evidence_table stacks;
	struct evidence_table samples;
	struct evidence_table details;
	struct evidence_table blame;
	uint32_t nr_hints;
};

/* NULL where nothing is sampled. */
extern struct evidence *elide_evidence;

/**
 * evidence_hash() - mix @x into @h.
 *
 * The first two rounds of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
 */
static inline uint64_t evidence_hash(uint64_t h, uint64_t x)
{
	x = (h + x + 1) * 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	return x ^ x >> 27;
}

/**
 * evidence_find() - the slot of a record.
 * @t: the table
 * @key: hash, not 0
 *
 * Return: its slot, or the free one that it would take.
 */
struct evidence_slot *evidence_find(struct evidence_table *t, uint64_t key);

/**
 * evidence_add() - write a new record.
 * @t: the table
 * @slot: free slot, from evidence_find()
 * @key: as there
 * @type: of the record
 * @record: its contents, copied
 * @size: its bytes
 * @dropped: where it is counted if there is no room
 *
 * Return: the record in the data file, NULL if there is no room.
 */
void *evidence_add(struct evidence_table *t, struct evidence_slot *slot, uint64_t key,
		   enum elide_chunk_type type, const void *record, size_t size,
		   enum elide_dropped dropped);

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * table.h - bounded hash tables of records of the data file, in wiped memory. In global-lock paths only.
 */
#ifndef ELIDE_TABLE_H
#define ELIDE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/datafile-writer.h"

#pragma GCC visibility push(hidden)

/* Records of a table, at most: a quarter of its slots stays free, so that searches end soon. */
#define EVIDENCE_SLOTS 8192
#define EVIDENCE_BOUND (EVIDENCE_SLOTS * 3 / 4)

/**
 * struct evidence_slot - one record.
 * @key:    hash of its subject, an odd number; 0 in a free slot. Two records with the same hash count as
 *          one: in a full table that happens with a probability of 2 in 10^12
 * @record: the record, in the data file
 * @index:  its number among the records of the table, in the order of writing
 */
struct evidence_slot {
	uint64_t key;
	void *record;
	uint32_t index;
};

/**
 * struct evidence_table - all records of one type.
 * @chunk: chunk of the data file that is being filled
 * @nr:    records
 * @slots: hash table with linear probing
 */
struct evidence_table {
	struct elide_chunk *chunk;
	uint32_t nr;
	struct evidence_slot slots[EVIDENCE_SLOTS];
};

/* Records of spans in a chunk of the data file. */
#define SPANS_IN_CHUNK \
	((ELIDE_CHUNK_SIZE - sizeof(struct elide_chunk)) / sizeof(struct elide_span))

/**
 * struct evidence_spans - records of one type of spans, which thin() makes fewer when there is no room.
 * @nr: records in use, the first ones of the chunks
 */
struct evidence_spans {
	uint32_t nr;
	struct elide_chunk *chunks[ELIDE_MAX_SPANS / SPANS_IN_CHUNK];
};

_Static_assert(ELIDE_MAX_SPANS % SPANS_IN_CHUNK == 0, "all chunks are filled");

/**
 * struct evidence - the tables of a process.
 * @stacks:  struct elide_stack
 * @samples: struct elide_sample
 * @details: struct elide_detail
 * @blame:   struct elide_blame
 * @nr_hints: records of @details whose source is ELIDE_DETAIL_HINT
 * @spans: struct elide_span, by enum elide_span_type
 */
struct evidence {
	struct evidence_table stacks;
	struct evidence_table samples;
	struct evidence_table details;
	struct evidence_table blame;
	uint32_t nr_hints;
	struct evidence_spans spans[ELIDE_SPAN_END];
};

/* NULL if nothing is sampled. */
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
 * @key: hash, as given to evidence_find()
 * @type: type of the record
 * @record: its contents, which are copied
 * @size: its size in bytes
 * @dropped: counter of such records for lack of room
 *
 * Return: the record in the data file, NULL if there is no room.
 */
void *evidence_add(struct evidence_table *t, struct evidence_slot *slot, uint64_t key,
		   enum elide_chunk_type type, const void *record, size_t size,
		   enum elide_dropped dropped);

#pragma GCC visibility pop

#endif

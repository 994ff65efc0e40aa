/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify.h - is the content of an index exactly what the threads made it?
 *
 * Every insert writes a value of its own, and every thread keeps a journal of
 * the inserts and deletes that reported success. Loaded plus inserted less
 * deleted entries must then be the entries of the index, value by value: a
 * lost, doubled, resurrected or torn update shows, whatever the order was.
 */
#ifndef DEMO_VERIFY_H
#define DEMO_VERIFY_H

#include "index.h"
#include "rng.h"

/* The writer of a value: 0 for a loaded entry, else the thread's number + 1. */
#define WRITER_LOAD 0

/* Bits of a value's tag that number the writer's operation; the rest is the writer. */
#define VALUE_SERIAL_BITS 40

/**
 * struct change - an insert or delete that took place
 * @key: of the entry
 * @value: inserted, or as the delete found it
 * @delta: +1 for an insert, -1 for a delete
 */
struct change {
	uint64_t key;
	uint64_t value;
	int64_t delta;
};

/**
 * struct journal - the changes one thread made
 * @changes: array
 * @nr: changes in it
 * @max: changes it has room for
 * @at: the first that verify_content() has not used up
 */
struct journal {
	struct change *changes;
	size_t nr;
	size_t max;
	size_t at;
};

int journal_reserve(struct journal *journal, size_t max);
void journal_free(struct journal *journal);

/**
 * journal_room() - have room for one more change
 * @journal: the thread's own
 *
 * Called before the change, so that none takes place that cannot be recorded.
 *
 * Return: 0, or -ENOMEM with the journal as it was.
 */
static inline int journal_room(struct journal *journal)
{
	return likely(journal->nr < journal->max) ? 0 :
						    journal_reserve(journal, 2 * journal->max + 1);
}

/**
 * journal_add() - record a change
 * @journal: the thread's own, after journal_room()
 * @key: of the entry
 * @value: of the entry
 * @delta: +1 inserted, -1 deleted
 *
 * Never called inside a critical section.
 */
static inline void journal_add(struct journal *journal, uint64_t key, uint64_t value, int delta)
{
	journal->changes[journal->nr++] = (struct change){ key, value, delta };
}

/**
 * value_of() - the value that an insert writes, unlike that of any other
 * @key: its key
 * @writer: WRITER_LOAD or the thread's number + 1
 * @serial: number of the writer's operation, below 2^VALUE_SERIAL_BITS
 */
static inline uint64_t value_of(uint64_t key, uint64_t writer, uint64_t serial)
{
	return mix64(key) + (writer << VALUE_SERIAL_BITS) + serial;
}

/**
 * value_belongs() - could this value have been written for this key?
 * @key: the key
 * @value: found with it
 * @writers: threads
 */
static inline bool value_belongs(uint64_t key, uint64_t value, uint64_t writers)
{
	return (value - mix64(key)) >> VALUE_SERIAL_BITS <= writers;
}

bool verify_content(const struct index *index, uint64_t preload, struct journal **journals,
		    unsigned int nr, char *why, size_t len);

#endif

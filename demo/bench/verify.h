/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verify.h - checks that an index has exactly the content that the threads report.
 *
 * Each insert writes a value that no other insert writes, and each thread keeps a
 * journal of the inserts and deletes that succeeded. The entries of the index must be
 * the loaded entries, plus the inserted, less the deleted ones, value by value. So a
 * lost, repeated, undone or torn update is found, in whatever order the threads ran.
 */
#ifndef DEMO_VERIFY_H
#define DEMO_VERIFY_H

#include "../index/index.h"
#include "../base/rng.h"

/* Writer number of loaded entries. The writer number of thread n is n + 1. */
#define WRITER_LOAD 0

/* Bits of a value's tag that number the writer's operation; the upper bits are the writer. */
#define VALUE_SERIAL_BITS 40

/**
 * struct change - an insert or a delete that succeeded
 * @key: key of the entry
 * @value: value that was inserted or deleted
 * @delta: +1 for an insert, -1 for a delete
 */
struct change {
	uint64_t key;
	uint64_t value;
	int64_t delta;
};

/**
 * struct journal - the changes that a thread made
 * @changes: array of the changes
 * @nr: number of changes
 * @max: maximum number of changes that the array holds
 * @at: number of the first change that verify_content() has not processed
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
 * journal_room() - make room for one change
 * @journal: journal of the calling thread
 *
 * A thread calls it before each change, so that each change can be recorded.
 *
 * Return: 0, or -ENOMEM with the journal unchanged.
 */
static inline int journal_room(struct journal *journal)
{
	return likely(journal->nr < journal->max) ? 0 :
						    journal_reserve(journal, 2 * journal->max + 1);
}

/**
 * journal_add() - record a change; never called inside a critical section
 * @journal: journal of the calling thread, after journal_room()
 * @key: key of the entry
 * @value: value of the entry
 * @delta: +1 for an insert, -1 for a delete
 */
static inline void journal_add(struct journal *journal, uint64_t key, uint64_t value, int delta)
{
	journal->changes[journal->nr++] = (struct change){ key, value, delta };
}

/**
 * value_of() - the value that an insert writes, different from that of each other insert
 * @key: the key
 * @writer: WRITER_LOAD or the thread's number + 1
 * @serial: number of the writer's operation, below 2^VALUE_SERIAL_BITS
 */
static inline uint64_t value_of(uint64_t key, uint64_t writer, uint64_t serial)
{
	return mix64(key) + (writer << VALUE_SERIAL_BITS) + serial;
}

/**
 * value_belongs() - true if an insert of @key can have written @value
 * @key: the key
 * @value: the value that was found with @key
 * @writers: number of threads
 */
static inline bool value_belongs(uint64_t key, uint64_t value, uint64_t writers)
{
	return (value - mix64(key)) >> VALUE_SERIAL_BITS <= writers;
}

bool verify_content(const struct index *index, uint64_t preload, struct journal **journals,
		    unsigned int nr, char *why, size_t len);

#endif

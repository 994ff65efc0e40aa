/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * open.h - what a thread notes in an open transaction: held list, pending list, notes of nested calls.
 */
#ifndef ELIDE_OPEN_H
#define ELIDE_OPEN_H

#include <stdint.h>

#include "../compiler.h"
#include "../datafile.h"

#pragma GCC visibility push(hidden)

/* Elided locks open at once, and lock calls remembered, per transaction. */
#define ELIDE_MAX_HELD    16
#define ELIDE_MAX_PENDING 64

/* Notes of nested locks whose calls are known, per transaction. */
#define ELIDE_MAX_NESTED (ELIDE_MAX_HELD - 1)

/**
 * struct elide_held - a lock held by elision.
 * @word:  lock word
 * @value: of the word at the subscription
 * @size:  bytes of the word, 4 or 8
 * @depth: how often a recursive lock was relocked
 * @shape: @size with @depth 0, in one store
 */
struct elide_held {
	const void *word;
	uint64_t value;
	union {
		struct {
			uint32_t size;
			uint32_t depth;
		};
		uint64_t shape;
	};
} __attribute__((aligned(32)));

/**
 * struct elide_acquired - a lock that the thread has acquired, elided or locked; ELIDE_ORDER=1.
 * @lock: address of the lock
 * @site: return address of the call that acquired it
 * @class_index: class of the lock
 * @kind: enum elide_kind
 */
struct elide_acquired {
	const void *lock;
	const void *site;
	uint32_t class_index;
	uint32_t kind;
};

/* Locks acquired at once whose order is watched; the kernel's lockdep has room for 48. */
#define ELIDE_MAX_ACQUIRED 48

/* What is to be done about a lock after the commit. */
enum elide_deferred {
	ELIDE_DEFER_ELIDED = 1, /* count it as elided */
	ELIDE_DEFER_ELIDED_TRY, /* count it as elided by a trylock or a timed call */
	ELIDE_DEFER_LOCKED,     /* count it as locked */
	ELIDE_DEFER_LOCKED_TRY, /* count it as locked by a trylock or a timed call */
	ELIDE_DEFER_UNELIDED,   /* ELIDE_ORDER=1: an elided lock, not the last, was released */
	ELIDE_DEFER_RELEASED,   /* a lock that was locked was released */
	ELIDE_DEFER_NEW,        /* it was initialised */
	ELIDE_DEFER_SHARED,     /* it was initialised process-shared */
	ELIDE_DEFER_GONE,       /* it was destroyed */
	ELIDE_DEFER_MISUSE,     /* count a misuse; enum elide_misuse_type is added to this */
};

/**
 * struct elide_pending - a lock call inside the open transaction.
 * @what:  enum elide_deferred
 * @kind:  enum elide_kind
 * @lock:  address of the lock, which may be gone after the commit
 * @site:  return address of the call
 * @row:   counters of the call, NULL if the call was not known yet
 */
struct elide_pending {
	uint32_t what;
	uint32_t kind;
	const void *lock;
	const void *site;
	struct elide_row *row;
};

/* elide_thread.open in the usual section: one lock, nothing else to be done. */
#define ELIDE_OPEN_ONE 1

/* Added to it by a nested lock whose call is known. */
#define ELIDE_OPEN_NESTED 0x10001

/* Below this the section has only elided locks whose calls are known. */
#define ELIDE_OPEN_ODD ((ELIDE_MAX_NESTED + 1) * 0x10000ull)

/*
 * A note of nested locks: the address of their call, plus the number of further locks in a row by the same
 * call, which is less than a cache line.
 */
#define ELIDE_NESTED_CALL(note) ((struct elide_call *)((note) & ~(CACHE_LINE - 1ull)))
#define ELIDE_NESTED_NR(note)   ((note) % CACHE_LINE + 1)

#pragma GCC visibility pop

#endif

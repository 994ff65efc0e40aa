/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load.h - what the loads and their driver share.
 *
 * An ordinary program with locks: must never include anything of the library.
 */
#ifndef TESTS_POLICY_LOAD_H
#define TESTS_POLICY_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lock.h"

#define CACHE_LINE 64
#define THREADS_MAX 256

/* Lines that are too many for the transactions of any machine: 32 KiB hold half. */
#define LINES_TOO_MANY 1024

/* Throughput of the phases is counted in slices of half a millisecond. */
#define SLICE_US 500
#define SLICES   400

/* struct numbers - the numbers of loads.def */
struct numbers {
#define NUMBER(name, min, max, def, help) uint32_t name;
#include "loads.def"
};

/* A line that is counted up. */
struct line {
	uint64_t value;
	char pad[CACHE_LINE - sizeof(uint64_t)];
} __attribute__((aligned(CACHE_LINE)));

/**
 * struct worker - a thread of the run
 * @own:      its own lines
 * @random:   state of its random numbers
 * @sections: it has done
 * @added:    what its sections have added to all lines, whosesoever
 * @bad:      sections that saw what no order of sections can show
 * @number:   0 to threads - 1
 * @hostile:  load phase: in the middle third
 * @guard:    for the lock
 * @second:   for the other lock of a section with two
 * @lock:     its own, of load alone
 * @slices:   sections done in each slice of the run
 */
struct worker {
	struct line *own;
	uint64_t random;
	uint64_t sections;
	uint64_t added;
	uint64_t bad;
	uint32_t number;
	uint32_t hostile;
	struct guard guard;
	struct guard second;
	union lock lock;
	uint64_t slices[SLICES];
} __attribute__((aligned(CACHE_LINE)));

/**
 * struct family - loads that share locks and data, in a file of their own
 * @init:  makes them, before the threads start; numbers is set
 * @sum:   of the shared data, at the end, which is what all sections added; false: the data is
 *         broken
 * @leave: a thread does no more sections; NULL
 */
struct family {
	void (*init)(void);
	bool (*sum)(uint64_t *sum);
	void (*leave)(struct worker *w);
};

/**
 * struct load - one of loads.def
 * @section: does one section
 */
struct load {
	const char *name;
	const char *help;
	const struct family *family;
	void (*section)(struct worker *w);
};

#define LOAD(name, data, help)                 \
	extern const struct family family_##data; \
	void load_##name(struct worker *w);
#include "loads.def"

extern struct numbers numbers;

/* A section is a function of its own: rules of a setting name call sites by it. */
#ifdef __clang__
#define site __attribute__((noinline))
#else
#define site __attribute__((noinline, noclone))
#endif

/* lines_of() - zeroed memory of whole cache lines, which stays until the end. */
void *lines_of(size_t bytes);

/* xorshift64 (Marsaglia 2003): enough for choosing lines. */
static inline uint32_t draw(struct worker *w, uint32_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (uint32_t)(((w->random >> 32) * below) >> 32);
}

/* Multiplicative hashing (TAOCP vol. 3, 6.4); a bijection of 32 bits. */
static inline uint32_t mix(uint32_t key)
{
	return (key + 1) * 0x9e3779b1u;
}

/* Two instructions a round. */
static inline void spend(uint32_t rounds)
{
	while (rounds--)
		__asm__ volatile("");
}

#endif

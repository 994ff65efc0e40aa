/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load.h - what the loads and their driver share.
 *
 * An ordinary program with locks: must never include anything of the library.
 */
#ifndef TESTS_POLICY_LOAD_H
#define TESTS_POLICY_LOAD_H

#include <stdbool.h>
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
 * @guard:    for the locks
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
	union lock lock;
	uint64_t slices[SLICES];
} __attribute__((aligned(CACHE_LINE)));

/**
 * struct load - one of loads.def
 * @section: does one section
 */
struct load {
	const char *name;
	const char *help;
	void (*section)(struct worker *w);
};

extern const struct load loads[];
extern const unsigned int nr_loads;
extern struct numbers numbers;

void sections_init(bool rwlock);
uint64_t sections_sum(void);

/* xorshift64 (Marsaglia 2003): enough for choosing lines. */
static inline uint32_t draw(struct worker *w, uint32_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (uint32_t)(((w->random >> 32) * below) >> 32);
}

/* Two instructions a round. */
static inline void spend(uint32_t rounds)
{
	while (rounds--)
		__asm__ volatile("");
}

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pmu-ring.h - records in the ring buffer of a perf event, perf_event_open(2).
 *
 * Must never make a system call, nor trust a size in the ring.
 */
#ifndef ELIDE_PMU_RING_H
#define ELIDE_PMU_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* What is asked for in a sample of an abort, and so its layout: struct elide_pmu_sample. */
#define ELIDE_PMU_SAMPLE_TYPE \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_TRANSACTION)

/**
 * struct elide_pmu_sample - a sample without its header, as the kernel writes it.
 * @ip:     instruction
 * @time:   ns of the kernel's local clock
 * @weight: of an abort the cycles of the transaction
 * @transaction: PERF_TXN_*
 */
struct elide_pmu_sample {
	uint64_t ip;
	uint64_t time;
	uint64_t weight;
	uint64_t transaction;
};

_Static_assert(sizeof(struct elide_pmu_sample) == 32, "no gaps");

/* The same of a load: struct elide_pmu_load. */
#define ELIDE_PMU_LOAD_TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_TRANSACTION)

/**
 * struct elide_pmu_load - a sample without its header, as the kernel writes it.
 * @ip:      instruction
 * @address: of its first byte; 0 if it is not known
 * @transaction: PERF_TXN_*
 */
struct elide_pmu_load {
	uint64_t ip;
	uint64_t address;
	uint64_t transaction;
};

_Static_assert(sizeof(struct elide_pmu_load) == 24, "no gaps");

/**
 * struct elide_pmu_news - what was in the ring.
 * @nr_samples:   samples
 * @nr_lost:      samples that the kernel had no room for
 * @nr_throttles: times that it held back, as there were too many
 * @nr_others:    records of other types, left out
 * @nr_damaged:   samples of another layout, and ends of the ring that make no sense
 */
struct elide_pmu_news {
	uint32_t nr_samples;
	uint32_t nr_throttles;
	uint32_t nr_others;
	uint32_t nr_damaged;
	uint64_t nr_lost;
};

/**
 * elide_pmu_ring_read() - go through the records between two positions.
 * @data: of the ring
 * @size: bytes of it, a power of two
 * @tail: where reading ended last
 * @head: where the kernel writes next; both count on and on
 * @newest: filled with the last sample, if there is one
 * @sample_size: its bytes; a sample of any other size is damage
 * @news: filled
 *
 * After a record that cannot be, the rest up to @head is given up.
 */
void elide_pmu_ring_read(const void *data, size_t size, uint64_t tail, uint64_t head,
			 void *newest, size_t sample_size, struct elide_pmu_news *news);

#pragma GCC visibility pop

#endif

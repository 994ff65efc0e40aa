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

/* What the kernel writes for an abort: the layout of struct elide_pmu_sample. */
#define ELIDE_PMU_SAMPLE_TYPE \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_TRANSACTION)

/**
 * struct elide_pmu_sample - a sample of an abort without its header, as the kernel writes it.
 * @ip:     address of the instruction
 * @time:   time by the kernel's local clock, ns
 * @weight: length of the transaction, cycles
 * @transaction: PERF_TXN_*
 */
struct elide_pmu_sample {
	uint64_t ip;
	uint64_t time;
	uint64_t weight;
	uint64_t transaction;
};

_Static_assert(sizeof(struct elide_pmu_sample) == 32, "no gaps");

/* What the kernel writes for a load: the layout of struct elide_pmu_load. */
#define ELIDE_PMU_LOAD_TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_TRANSACTION)

/**
 * struct elide_pmu_load - a sample of a load without its header, as the kernel writes it.
 * @ip:      address of the instruction
 * @address: address of the first byte that was loaded; 0 if it is not known
 * @transaction: PERF_TXN_*
 */
struct elide_pmu_load {
	uint64_t ip;
	uint64_t address;
	uint64_t transaction;
};

_Static_assert(sizeof(struct elide_pmu_load) == 24, "no gaps");

/**
 * struct elide_pmu_counts - records that were in the ring.
 * @nr_samples:   samples
 * @nr_lost:      samples for which the ring had no room
 * @nr_throttles: times that the kernel stopped sampling, as there were too many samples
 * @nr_others:    records of other types, which are left out
 * @nr_damaged:   samples of another layout, and impossible positions or sizes
 */
struct elide_pmu_counts {
	uint32_t nr_samples;
	uint32_t nr_throttles;
	uint32_t nr_others;
	uint32_t nr_damaged;
	uint64_t nr_lost;
};

/**
 * elide_pmu_ring_read() - read the records between two positions.
 * @data: the data of the ring
 * @size: its size in bytes, a power of two
 * @tail: position at which the last call ended
 * @head: position at which the kernel writes next; positions grow beyond @size
 * @newest: set to the last sample, if there is one
 * @sample_size: its size in bytes; a sample of another size counts as damaged
 * @counts: set to the numbers of records
 *
 * Stops at a record whose size is impossible.
 */
void elide_pmu_ring_read(const void *data, size_t size, uint64_t tail, uint64_t head,
			 void *newest, size_t sample_size, struct elide_pmu_counts *counts);

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pmu-ring.c - records in the ring buffer of a perf event.
 *
 * Layout: perf_event_open(2), "MMAP layout". Must never make a system call.
 */
#include "pmu-ring.h"

#include <string.h>

/* Copy @length bytes from position @at; they may wrap around to the start of the ring. */
static void copy(void *to, const void *data, size_t size, uint64_t at, size_t length)
{
	size_t first = size - (at & (size - 1));

	if (first > length)
		first = length;
	memcpy(to, (const char *)data + (at & (size - 1)), first);
	memcpy((char *)to + first, data, length - first);
}

/* Lost samples: PERF_RECORD_LOST has an id before the number, PERF_RECORD_LOST_SAMPLES has not. */
static void read_lost(const void *data, size_t size, uint64_t at,
		      const struct perf_event_header *header, struct elide_pmu_counts *counts)
{
	size_t offset = sizeof(*header) + (header->type == PERF_RECORD_LOST ? sizeof(uint64_t) : 0);
	uint64_t lost;

	if (header->size < offset + sizeof(lost)) {
		counts->nr_damaged++;
		return;
	}
	copy(&lost, data, size, at + offset, sizeof(lost));
	counts->nr_lost += lost;
}

static void read_record(const void *data, size_t size, uint64_t at,
			const struct perf_event_header *header, void *newest, size_t sample_size,
			struct elide_pmu_counts *counts)
{
	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		if (header->size != sizeof(*header) + sample_size) {
			counts->nr_damaged++;
			return;
		}
		copy(newest, data, size, at + sizeof(*header), sample_size);
		counts->nr_samples++;
		return;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		read_lost(data, size, at, header, counts);
		return;
	case PERF_RECORD_THROTTLE:
		counts->nr_throttles++;
		return;
	default:
		counts->nr_others++;
	}
}

void elide_pmu_ring_read(const void *data, size_t size, uint64_t tail, uint64_t head,
			 void *newest, size_t sample_size, struct elide_pmu_counts *counts)
{
	struct perf_event_header header;

	memset(counts, 0, sizeof(*counts));
	if (head - tail > size) {
		counts->nr_damaged++;
		return;
	}
	while (tail != head) {
		if (head - tail < sizeof(header)) {
			counts->nr_damaged++;
			return;
		}
		copy(&header, data, size, tail, sizeof(header));
		/* The kernel makes records whose size is a multiple of 8 bytes. */
		if (header.size < sizeof(header) || header.size % 8 || header.size > head - tail) {
			counts->nr_damaged++;
			return;
		}
		read_record(data, size, tail, &header, newest, sample_size, counts);
		tail += header.size;
	}
}

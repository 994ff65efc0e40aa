/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters.h - what the storage manager and the process have counted, to be taken at the begin and at
 * the end of the measured part. Reading it must never stop a thread.
 */
#ifndef DEMO_TATP_COUNTERS_H
#define DEMO_TATP_COUNTERS_H

#include "tatp.h"

struct helpers;

/**
 * struct counters - sums up to a moment, or their differences; all are 64-bit numbers
 * @sections: acquisitions of the latches of each role; none of a role without a latch
 * @elided: those of @sections that the program elided itself, or through elide.h
 * @waits: those under the latch that waited for it; unknown of pthread's locks
 * @wait_ticks: ticks of the time-stamp counter that these waited
 * @locks: of the lock manager
 * @log_bytes: bytes of the log
 * @log_writes: writes of the log
 * @checkpoints: checkpoints of the helper
 * @cleaned: pages that the cleaner wrote
 * @reads: pages that were read into the buffer pool
 * @user_ns: processor time of all threads, nanoseconds
 * @system_ns: the same, in the kernel
 * @ticks: the time-stamp counter
 * @ns: the monotonic clock, nanoseconds
 */
struct counters {
	uint64_t sections[NR_LATCH_ROLES];
	uint64_t elided[NR_LATCH_ROLES];
	uint64_t waits[NR_LATCH_ROLES];
	uint64_t wait_ticks[NR_LATCH_ROLES];
	struct lock_counts locks;
	uint64_t log_bytes, log_writes, checkpoints, cleaned, reads;
	uint64_t user_ns, system_ns;
	uint64_t ticks, ns;
};

void counters_read(struct counters *c, const struct sm *sm, const struct helpers *helpers);
void counters_since(struct counters *c, const struct counters *before);
double counters_wait_ns(const struct counters *c, enum latch_role role);

#endif

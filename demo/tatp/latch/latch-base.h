/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latch-base.h - what all kinds of latches share: modes, roles, the holder's record, the thread's
 * counters, how a thread waits.
 *
 * Counters are written by their thread alone. In a transaction only struct latch_thread.nested and
 * .total are, two lines of memory that no other thread reads meanwhile.
 */
#ifndef DEMO_TATP_LATCH_BASE_H
#define DEMO_TATP_LATCH_BASE_H

#include "../../base/base.h"
#include "../../base/rng.h"
#include "../../latch/back-off.h"

#include <stdbool.h>

#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)

enum latch_mode {
	LATCH_READ,
	LATCH_WRITE,
};

enum latch_kind {
#define LATCH_KIND(id, name, readers, locks, help) LATCH_KIND_##id,
#include "latches.def"
	NR_LATCH_KINDS
};

enum latch_role {
#define LATCH_ROLE(id, name, kind, help) LATCH_ROLE_##id,
#include "roles.def"
	NR_LATCH_ROLES
};

/*
 * LATCH_ABORTS(X): X(id, help) for each cause of an abort that the status word tells apart. An
 * abort has the first that fits.
 */
#define LATCH_ABORTS(X)                                                                            \
	X(busy, "the latch was held")                                                              \
	X(conflict, "another thread accessed the same memory")                                     \
	X(capacity, "the transaction's memory did not fit")                                        \
	X(other, "interrupt, system call and the like")

enum latch_abort {
#define LATCH_ABORT_ID(id, help) LATCH_ABORT_##id,
	LATCH_ABORTS(LATCH_ABORT_ID)
#undef LATCH_ABORT_ID
	NR_LATCH_ABORTS
};

/* Where a latch is counted as held, as Shore-MT does it for pages. */
enum latch_stats {
	LATCH_STATS_SHARED, /* in the latch */
	LATCH_STATS_THREAD, /* in the thread */
	LATCH_STATS_NONE,   /* nowhere: kinds that Shore-MT does not count */
};

/* Node of a thread that waits in an mcs latch, or holds it. */
struct latch_node {
	struct latch_node *next;
	uint64_t waiting;
};

/**
 * struct latch_hold - the holder's record of a latch, from acquire to release
 * @mode: enum latch_mode; LATCH_WRITE where a reader holds the latch as a writer does
 * @elided: a transaction holds the latch
 * @node: for mcs, and while a thread waits for srw
 */
struct latch_hold {
	uint8_t mode;
	uint8_t elided;
	struct latch_node node;
};

/**
 * struct latch_tally - what a thread counts for a role
 * @locked: acquisitions that were not elided
 * @contended: those of @locked that had to wait
 * @waited: ticks of the time-stamp counter that they waited
 * @elided: acquisitions whose release committed a transaction
 * @aborts: by cause, of the role whose latch began the transaction
 */
struct latch_tally {
	uint64_t locked;
	uint64_t contended;
	uint64_t waited;
	uint64_t elided;
	uint64_t aborts[NR_LATCH_ABORTS];
} __cacheline_aligned;

/**
 * struct latch_thread - counters of a thread
 * @next: in the list of all; a thread's stay when it ends
 * @rng: for random pauses
 * @nested: elided acquisitions released inside of a transaction, by role
 * @total: latches held, by role, with --latch-stats=thread
 * @tally: the rest, by role
 */
struct latch_thread {
	struct latch_thread *next;
	struct rng rng;
	uint64_t nested[NR_LATCH_ROLES] __cacheline_aligned;
	uint64_t total[NR_LATCH_ROLES];
	struct latch_tally tally[NR_LATCH_ROLES];
};

extern __thread struct latch_thread *latch_thread;

/** latch_thread_start() - make the calling thread's counters; ends the program without memory */
struct latch_thread *latch_thread_start(void);

/** latch_self() - the calling thread's counters. They are made outside of transactions. */
static __inline_always struct latch_thread *latch_self(void)
{
	struct latch_thread *me = latch_thread;

	return likely(me) ? me : latch_thread_start();
}

/* The thread waits from now on, unless it does already: *@since is 0 before. */
static __inline_always void latch_wait(uint64_t *since)
{
	*since = *since ? *since : __builtin_ia32_rdtsc();
}

/*
 * Ticks of the time-stamp counter since latch_wait(); 0: the thread did not wait, and no clock is
 * read. At least 1, as the processors' counters may differ.
 */
static __inline_always uint64_t latch_waited(uint64_t since)
{
	uint64_t now;

	if (likely(!since))
		return 0;
	now = __builtin_ia32_rdtsc();
	return now > since ? now - since : 1;
}

/*
 * The operations of a kind that knows no readers, for the dispatch in latch.h: each holder is a
 * writer already.
 */
#define LATCH_EXCLUSIVE_KIND(id)                                                                   \
	static inline bool latch_##id##_upgrade(struct latch_##id *l, struct latch_hold *h)        \
	{                                                                                          \
		return true;                                                                       \
	}                                                                                          \
	static inline bool latch_##id##_downgrade(struct latch_##id *l, struct latch_hold *h)      \
	{                                                                                          \
		return false;                                                                      \
	}

#endif

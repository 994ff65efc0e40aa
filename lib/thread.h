/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * thread.h - what a thread keeps for itself: held list, look-up cache, rows.
 *
 * A thread's block lies in memory that a fork wipes (MADV_WIPEONFORK): in the
 * child every look-up misses, and the slow path starts afresh with a data
 * file of its own. When a thread ends, its block with all that was counted
 * goes to the next one; nothing is folded, so nothing can be lost.
 *
 * Inside a transaction only the held list may be written.
 */
#ifndef ELIDE_THREAD_H
#define ELIDE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "datafile-writer.h"
#include "emulator.h"
#include "policy.h"
#include "registry.h"

#pragma GCC visibility push(hidden)

/* Elided locks open at once, and lock calls remembered, per transaction. */
#define ELIDE_MAX_HELD    16
#define ELIDE_MAX_PENDING 64

/*
 * Entries of the look-up cache: 32 KiB at first, for a thousand locks at one site. Where that does
 * not do it is doubled, up to 256 KiB, as long as there is room in what all threads together may
 * have more: 4 MiB, or 18 threads with ten thousand locks each.
 */
#define ELIDE_NR_CACHE       (1u << 11)
#define ELIDE_MAX_CACHE_BITS 14
#define ELIDE_MAX_CACHE      (1u << ELIDE_MAX_CACHE_BITS)
#define ELIDE_MAX_GROWN      (1u << 18)

/* Bytes; the smallest page of x86-64. */
#define ELIDE_PAGE 4096

/* Entries of it that are found again without a search: most threads use no more. */
#define ELIDE_NR_FILLED 64

/* No thread's id. */
#define ELIDE_NO_TID (~0u)

/* Rows (class, site, kind) a thread can count: slots of their hash, and how many may be in use. */
#define ELIDE_NR_ROWS  1024
#define ELIDE_MAX_ROWS (ELIDE_NR_ROWS * 3 / 4) /* or a search for what is not there never ends */

/**
 * struct elide_cache - what is known of (lock, site, kind), wherever in the cache it is.
 * @lock:       its address, NULL for an empty entry
 * @generation: of the lock's hash when the entry was made
 * @mark:       what the thread knows of the call, of which that has site and kind: its place in the
 *              thread's block, in bytes
 * @slot:       where in its neighbourhood in the registry the lock is
 */
struct elide_cache {
	const void *lock;
	uint32_t generation;
	uint16_t mark;
	uint16_t slot;
};

_Static_assert(sizeof(struct elide_cache) == 16, "four entries per cache line");

/**
 * struct elide_held - a lock held by elision.
 * @word:  lock word
 * @value: what it held when it was subscribed to
 * @size:  bytes of the word, 4 or 8
 * @depth: how often a recursive lock was relocked
 */
struct elide_held {
	const void *word;
	uint64_t value;
	uint32_t size;
	uint32_t depth;
};

/**
 * struct elide_taken - a lock that the thread holds, as ELIDE_ORDER=1 has it.
 * @lock: its address
 * @site: return address of the call that took it
 * @class_index: its class
 * @kind: enum elide_kind
 */
struct elide_taken {
	const void *lock;
	const void *site;
	uint32_t class_index;
	uint32_t kind;
};

/* Locks held at once whose order is looked at; the kernel's lockdep has room for 48. */
#define ELIDE_MAX_TAKEN 48

/* What is still to be done about a lock after the commit. */
enum elide_deferred {
	ELIDE_DEFER_ELIDED = 1, /* count it as elided */
	ELIDE_DEFER_ELIDED_TRY, /* the same, by a call that does not wait for ever */
	ELIDE_DEFER_REAL,       /* count it as taken really */
	ELIDE_DEFER_REAL_TRY,   /* the same, by a call that does not wait for ever */
	ELIDE_DEFER_UNELIDED,   /* an elided lock, not the last, was released: if orders are watched */
	ELIDE_DEFER_RELEASED,   /* a lock that was held really was released */
	ELIDE_DEFER_NEW,        /* it was initialised */
	ELIDE_DEFER_SHARED,     /* it was initialised process-shared */
	ELIDE_DEFER_GONE,       /* it was destroyed */
	ELIDE_DEFER_MISUSE,     /* count a misuse; enum elide_misuse_type is added to this */
};

/**
 * struct elide_pending - a lock call inside the open transaction.
 * @what:  enum elide_deferred
 * @kind:  enum elide_kind
 * @lock:  address of the lock; it may be gone when this is looked at
 * @site:  return address of the call
 * @row:   counters of the call, NULL if (lock, site) was not known yet
 *
 * Begins as struct rtmgrind_section does: the emulator reads in the first one
 * which section the thread is in.
 */
struct elide_pending {
	uint32_t what;
	uint32_t kind;
	const void *lock;
	const void *site;
	struct elide_row *row;
};

#define ELIDE_SAME_PLACE(a, b) \
	_Static_assert(offsetof(struct elide_pending, a) == offsetof(struct rtmgrind_section, b), \
		       "the emulator reads it")
ELIDE_SAME_PLACE(what, open);
ELIDE_SAME_PLACE(kind, kind);
ELIDE_SAME_PLACE(lock, lock);
ELIDE_SAME_PLACE(site, site);

/* How a wrapper treats a call whose lock it knows, before it asks anybody. */
enum elide_way {
	ELIDE_WAY_LONG,  /* by the functions that know every case */
	ELIDE_WAY_SHORT, /* the lock is taken really, and that is counted */
	ELIDE_WAY_ELIDE, /* as the policy's arm says */
};

/**
 * struct elide_mark - what a thread knows of a call site of a class: pace.h.
 * @way:     enum elide_way
 * @site:    number of the site in the class
 * @elided:  the policy is asked, at least now and then
 * @streak:  acquisitions in a row that have fallen back without hope
 * @probing: the next outcome is one of a probe
 * @doubts, @vain: aborts without a reason to come after which no more attempt is made, for so
 *           many were in vain: hope.c
 * @hot:     number of the lock's own state, if it has one: pace.h
 * @pacer:   number of that or of the class's state, 0 where nobody measures
 * @arm:     how the policy treats acquisitions now: enum policy_arm_name
 * @pace:    the thread's in that class
 * @row:     counters, in the data file; NULL for an unused mark
 * @commits: counted in the row when @probing began; else commits and real acquisitions that were
 *           not tried, at the last of @streak
 * @contended: counted in the row at the last report
 * @failed:  the one lock of @streak, NULL if there were several
 * @waits:   real sections since @seen that have waited for a condition
 * @seen:    low bits of the row's real acquisitions when a probe was last thought of
 */
struct elide_mark {
	uint8_t way;
	uint8_t site;
	uint8_t streak : 7, probing : 1;
	uint8_t elided : 1, doubts : 4, vain : 3;
	uint16_t hot;
	uint16_t waits;
	uint32_t pacer;
	uint32_t seen;
	const uint8_t *arm;
	struct elide_pace *pace;
	struct elide_row *row;
	uint64_t commits;
	uint64_t contended;
	const void *failed;
} __cacheline_aligned;

_Static_assert(sizeof(struct elide_mark) == CACHE_LINE, "one line for each call");

/**
 * struct elide_pace - how far a thread has come in a class of locks.
 * @start:     time of the last report; 0 before the first
 * @goal:      sections that will be over when the countdown is
 * @countdown: sections until the next report
 * @nr:        of so many
 * @pacer:     the class's state, 0 for an unused one
 * @epoch:     that the last report was in
 * @aborts:    of attempts, for which others were to blame
 */
struct elide_pace {
	uint64_t start;
	uint64_t goal;
	uint32_t countdown;
	uint32_t nr;
	uint32_t pacer;
	uint32_t epoch;
	uint64_t aborts;
};

/* elide_thread.open in the usual section: one lock, one call, nothing else to be done. */
#define ELIDE_OPEN_ONE 0x10001

/* Acquisitions after which a thread looks whether it is still to elide, where nothing is measured. */
#define ELIDE_NO_PACE 256

/**
 * struct elide_thread - a thread's block.
 * @open:       the next ones together: 0 outside sections, where nothing is watched
 * @nr_held:    elided locks open; not zero exactly inside a transaction of ours
 * @nr_pending: lock calls of the open transaction
 * @odd:        more is to be done at its end than to count it
 * @nr_taken:   locks in @taken; always 0 unless orders are watched
 * @in_real:    1 in a section under the real lock, where the emulator is told or loads are
 *              sampled: @real, by a call that counts in @real_row
 * @watched:    not 0 if either is not
 * @pending:    the calls; between transactions the first has the outermost lock held really, where
 *              that is watched, and is otherwise empty
 * @halted:     nothing is elided for now: elide_halted(), when the thread last looked
 * @ready:      false in a block that a fork has wiped
 * @tid:        Linux thread id, as glibc writes it into mutexes it locks
 * @short_tid:  @tid while unlock calls may take the wrappers' short way, else
 *              ELIDE_NO_TID: nothing is elided here, no hold time is being measured
 * @cache_mask: of an entry's place in the cache, in bytes; 0 in a block that a fork has wiped,
 *              where all look-ups go to the first entry and miss
 * @seed:       state of the back-off's random generator
 * @streak:     aborts since the watch last looked
 * @committed:  commits of all threads when it did
 * @arm:        how the adaptive policy treats the present acquisition
 * @socket:     that it was on at its last report, below POLICY_SOCKETS
 * @queue:      word of the lock at which it is the one that tries again; NULL
 * @time_countdown: first attempts until one is timed
 * @nr_spins, @nr_rwlocks: held really, as far as the wrappers have seen
 * @hold_lock, @hold_row, @hold_start: the acquisition being measured
 * @chunk:      chunk of the data file that rows are taken from
 * @nr_rows, @rows: hash of its rows: number of the mark, from 1
 * @last_mark:  that an entry was made for again, from 0
 * @next_free:  list of blocks whose thread has ended
 * @next:       list of all blocks
 * @sample_seed: state of the random generator that chooses what is sampled
 * @stack_top:  end of its stack; 0 in a block whose thread has ended
 * @first_seen: of each kind of event as many are looked at for certain, see evidence.h
 * @nr_blocked: locks it has released that others waited for
 * @ends:       times its thread has said that it ends
 * @nr_filled:  entries of the cache in use; the first are in @filled, see elide_cache_used()
 * @nr_evicted: entries of live locks that others have taken the place of, since it was last doubled
 * @windows:    this thread's judgement of the lock in the cache entry of that index: policy hpca,
 *              under which the cache does not grow
 * @cache:      the look-up cache; last, as most of it is never touched, and in pages of its own
 * @marks:      of calls: one for each row, and of hot locks one more each
 * @paces, @no_pace: of classes, see pace.h; for calls of which nothing is measured
 * @taken:      the locks held, the oldest first
 * @pmu:        ring of its samples of aborts, see pmu.h; NULL without
 * @loads:      ring of its samples of loads; NULL without
 */
struct elide_thread {
	union {
		struct {
			uint16_t nr_held;
			uint16_t nr_pending;
			uint16_t odd;
			union {
				struct {
					uint8_t nr_taken;
					uint8_t in_real;
				};
				uint16_t watched;
			};
		};
		uint64_t open;
	};
	struct elide_pending pending[ELIDE_MAX_PENDING];
	struct elide_held held[ELIDE_MAX_HELD];

	bool ready __cacheline_aligned;
	bool halted;
	uint32_t tid;
	uint32_t short_tid;
	uint64_t cache_mask;
	uint32_t seed;
	uint32_t streak;
	uint32_t time_countdown;
	uint32_t nr_spins;
	uint32_t nr_rwlocks;
	uint32_t arm;
	uint32_t socket;
	uint32_t *queue;
	const void *hold_lock;
	struct elide_row *hold_row;
	unsigned long long hold_start;
	uint64_t committed;

	struct elide_chunk *chunk;
	uint32_t nr_rows;
	uint32_t last_mark;
	uint16_t rows[ELIDE_NR_ROWS];
	struct elide_thread *next_free;
	struct elide_thread *next;
	uint64_t sample_seed;
	uint64_t stack_top;
	uint32_t first_seen;
	uint64_t nr_blocked;
	struct elide_pending real;
	uint32_t ends;
	uint32_t nr_filled;
	uint32_t nr_evicted;
	uint16_t filled[ELIDE_NR_FILLED];

	struct elide_mark marks[ELIDE_MAX_ROWS];
	struct elide_pace paces[ELIDE_NR_ROWS];
	struct elide_pace no_pace;
	struct policy_window windows[ELIDE_NR_CACHE];
	struct elide_taken taken[ELIDE_MAX_TAKEN];
	void *pmu;
	void *loads;
	const struct elide_row *real_row;

	struct elide_cache cache[ELIDE_MAX_CACHE] __attribute__((aligned(ELIDE_PAGE)));
};

_Static_assert(offsetof(struct elide_thread, marks[ELIDE_MAX_ROWS]) <= UINT16_MAX,
	       "an entry of the cache says where its mark is");

/* Bits of a key that hold the kind. */
#define ELIDE_CACHE_KIND 7

/* A call of a class, as one number. */
static inline uint64_t elide_cache_key(const void *site, enum elide_kind kind)
{
	return (uintptr_t)site * 8 | kind;
}

/* The calling thread's block; NULL before its first lock call and where there is none. */
extern __thread struct elide_thread *elide_self;

/*
 * The best of half a million random ones. At strides of 4 to 4096 bytes three fifths as many locks
 * as there are entries share none with another to 94 %, at the worst stride to 61 %; with
 * 2^64 / phi to 64 % and to 6 %. See strides_are_spread in tests/unit/test_cache.c.
 */
#define ELIDE_CACHE_FACTOR 0x6c6148add9f61debull

static inline struct elide_cache *elide_cache_slot(struct elide_thread *t, const void *lock,
						   const void *site)
{
	/* Multiplicative hashing (TAOCP vol. 3, 6.4). */
	uint64_t h = ((uintptr_t)lock + (uintptr_t)site * 8) * ELIDE_CACHE_FACTOR;

	/* The index in bytes, in two instructions. */
	return (struct elide_cache *)((char *)t->cache +
				      (h >> (64 - ELIDE_MAX_CACHE_BITS - 4) & t->cache_mask));
}

/* Entries of the cache now. */
static inline uint32_t elide_nr_cache(const struct elide_thread *t)
{
	return READ_ONCE(t->cache_mask) / sizeof(struct elide_cache) + 1;
}

/**
 * elide_cache_used() - go through the entries of the cache that are in use.
 * @i: 0, 1...
 *
 * Return: an entry, which may be empty; NULL after the last.
 */
static inline struct elide_cache *elide_cache_used(struct elide_thread *t, uint32_t i)
{
	if (t->nr_filled <= ELIDE_NR_FILLED)
		return i < t->nr_filled ? &t->cache[t->filled[i]] : NULL;
	return i < elide_nr_cache(t) ? &t->cache[i] : NULL;
}

static inline struct policy_window *elide_window(struct elide_thread *t,
						 const struct elide_cache *entry)
{
	return &t->windows[(entry - t->cache) % ELIDE_NR_CACHE];
}

/* What a thread knows of a call that a fork has wiped from its block in the middle of it. */
extern struct elide_mark elide_no_mark;

/**
 * elide_mark() - what the thread knows of a call.
 * @t: the calling thread
 * @entry: of its cache
 */
static inline struct elide_mark *elide_mark(struct elide_thread *t,
					    const struct elide_cache *entry)
{
	uint32_t at = READ_ONCE(entry->mark);

	return likely(at) ? (struct elide_mark *)((char *)t + at) : &elide_no_mark;
}

/* Where is counted what belongs to no row any more. */
extern struct elide_row elide_no_row;

/**
 * elide_mark_row() - the counters of a call.
 *
 * A signal handler may fork in the middle of a lock call; in the child the
 * entry is wiped, and the call still has to end.
 */
static inline struct elide_row *elide_mark_row(const struct elide_mark *mark)
{
	struct elide_row *row = READ_ONCE(mark->row);

	return likely(row) ? row : &elide_no_row;
}

/** elide_row() - the same of an entry. */
static inline struct elide_row *elide_row(const struct elide_cache *entry)
{
	return elide_mark_row(elide_mark(elide_self, entry));
}

/* Is it the entry of that call? Then @row, read before, is its row, and else may be anything. */
static inline bool elide_cache_fits(const struct elide_cache *entry, const struct elide_row *row,
				    const void *lock, const void *site, enum elide_kind kind)
{
	return entry->lock == lock && row->site == (uintptr_t)site && row->kind == kind &&
	       entry->generation == READ_ONCE(*elide_generation(lock));
}

/**
 * elide_cache_find() - the entry of (lock, site, kind) if the thread has it.
 *
 * Return: the entry or NULL. Reads only: allowed inside a transaction.
 */
static inline struct elide_cache *elide_cache_find(struct elide_thread *t, const void *lock,
						   const void *site, enum elide_kind kind)
{
	const struct elide_row *row;
	struct elide_cache *entry;

	if (unlikely(!t))
		return NULL;
	entry = elide_cache_slot(t, lock, site);
	row = elide_row(entry);
	barrier();
	return likely(elide_cache_fits(entry, row, lock, site, kind)) ? entry : NULL;
}

/* Where it is in the registry. */
static inline uint32_t elide_cache_index(const struct elide_cache *entry)
{
	return elide_registry_home(entry->lock) + entry->slot;
}

/** elide_threads_all() - the first of all blocks of threads, of ended ones too. In a slow path. */
struct elide_thread *elide_threads_all(void);

/** elide_way() - how the wrappers are to treat calls of a row of the thread @t. */
enum elide_way elide_way(const struct elide_thread *t, const struct elide_row *row);

/**
 * elide_cache_refill() - the entry of a lock and a call that are known both, evicted or never met.
 * @t: the calling thread, outside transactions
 *
 * Without the engine's lock, which thousands of locks would make the bottleneck.
 *
 * Return: the entry; NULL: one of them is not known.
 */
struct elide_cache *elide_cache_refill(struct elide_thread *t, const void *lock, const void *site,
				       enum elide_kind kind);

/**
 * elide_cache_fill() - the slow path of elide_cache_find().
 *
 * Makes the thread's block, the lock's registration, the row and the entry
 * as far as they are missing. Never inside a transaction.
 *
 * Return: the entry; NULL if this call has to pass through uncounted: before
 * the start, inside the engine itself, at a bound.
 */
struct elide_cache *elide_cache_fill(const void *lock, const void *site, enum elide_kind kind);

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * thread.h - a thread's block: held list, pending calls, calls and their guesses.
 *
 * A thread's block lies in memory that a fork wipes (MADV_WIPEONFORK): in the
 * child every look-up misses, and the slow path starts afresh with a data
 * file of its own. When a thread ends, its block with all that was counted
 * goes to the next one; nothing is folded, so nothing can be lost.
 *
 * Inside a transaction only the first union (nr_held to watched), @outer, @held and @pending of
 * struct elide_thread are written.
 */
#ifndef ELIDE_THREAD_H
#define ELIDE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/datafile-writer.h"
#include "../compiler.h"
#include "../emulator.h"
#include "../policy/published.h"
#include "ending.h"
#include "registry.h"

#pragma GCC visibility push(hidden)

/* Elided locks open at once, and lock calls remembered, per transaction. */
#define ELIDE_MAX_HELD    16
#define ELIDE_MAX_PENDING 64

/* Notes of elided locks inside the outermost whose calls are known, per transaction. */
#define ELIDE_MAX_NESTED (ELIDE_MAX_HELD - 1)

/* Semaphores that a thread is known to use as locks, which it posts after it has waited for them. */
#define ELIDE_NR_POSTED 2

/* Condition variables, semaphores and barriers that a thread has last waited for and remembers. */
#define ELIDE_NR_WAITED 8

/* Bytes; the smallest page of x86-64. */
#define ELIDE_PAGE 4096

/* No thread's id. */
#define ELIDE_NO_TID (~0u)

/*
 * Calls (tag, site, kind) that a thread can count, those of them that are in its block, and slots of the hash
 * of the others. A quarter of the slots stays empty.
 */
#define ELIDE_MAX_CALLS   768
#define ELIDE_FIRST_CALLS 96
#define ELIDE_NR_HASH     1024

/* Guesses by the site, 1 KiB, by site and lock, 4 KiB, and by site and tag, 1 KiB. */
#define ELIDE_NR_GUESSES        512
#define ELIDE_NR_SECOND_GUESSES 2048
#define ELIDE_NR_TAG_GUESSES    512

/*
 * Right second guesses of a thread, one of which becomes the guess of its site: so that is of the class which
 * comes there most by now, and of two sites that share a place it changes seldom. Chosen here.
 */
#define ELIDE_SECOND_PERIOD 8

/* Locks that a thread judges under policy hpca, by a hash. */
#define ELIDE_NR_JUDGED 2048

/* Measurements of a thread that are searched one by one: most threads have no more. */
#define ELIDE_FIRST_ADAPTS 8

/**
 * struct elide_held - a lock held by elision.
 * @word:  lock word
 * @value: what it held when it was subscribed to
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

/* What is still to be done about a lock after the commit. */
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
 * @row:   counters of the call, NULL if (lock, site) was not known yet
 *
 */
struct elide_pending {
	uint32_t what;
	uint32_t kind;
	const void *lock;
	const void *site;
	struct elide_row *row;
};

#define ELIDE_SAME_PLACE(type, a, other, b) \
	_Static_assert(offsetof(struct type, a) == offsetof(struct other, b), "the emulator reads it")
ELIDE_SAME_PLACE(elide_row, kind, rtmgrind_call, kind);
ELIDE_SAME_PLACE(elide_row, site, rtmgrind_call, site);

/*
 * How a wrapper treats a call that the thread knows. From ELIDE_WAY_PARKED on the lock
 * may be elided in the quick way inside a section.
 */
enum elide_way {
	ELIDE_WAY_LONG,   /* call the functions of engine.h, which know every case */
	ELIDE_WAY_SHORT,  /* lock it and count that: it is never elided */
	ELIDE_WAY_PARKED, /* the same for now */
	ELIDE_WAY_ELIDE,  /* do as the policy's arm says */
	ELIDE_NR_WAYS
};

/*
 * What elide_call.arm points to: a code of which one comparison tells whether an attempt is made at
 * once, below ELIDE_ARM_NOW. Other codes are of arms that wait first, of the arms that lock, and of
 * ways that do not depend on an arm. What "restrict" does besides is for calls that find the lock held.
 */
#define ELIDE_ARM_CODE(arm) \
	((arm) == POLICY_ARM_real || (arm) == POLICY_ARM_restrict ? ELIDE_ARM_LOCK : (arm) - 1)
#define ELIDE_ARM_OF(code)   ((code) == ELIDE_ARM_LOCK ? POLICY_ARM_real : (code) + 1)
#define ELIDE_ARM_NOW        POLICY_ARM_probe
#define ELIDE_ARM_LOCK       253
#define ELIDE_ARM_SHORT      254
#define ELIDE_ARM_LONG       255

/* The codes of ways, and that of an arm where the call is not measured, by enum elide_way. */
extern const uint8_t elide_way_arms[];

/* Greatest elide_call.credit. */
#define ELIDE_CREDIT_MAX 31

/**
 * struct elide_call - what a thread knows of a call: locks of one class, acquired at one site.
 * @key:      elide_call_key() of its site and kind; 0: it is not found
 * @mark:     elide_word() of no lock with the tag of its locks: elide_call_tag()
 * @row:      counters of the call, in the data file; NULL for one that is not used
 * @arm:      where the code of the arm of the site is, in that state, if @way is ELIDE_WAY_ELIDE;
 *            else that of @way: ELIDE_ARM_CODE()
 * @adapt:    the thread's measurement in that state
 * @lock:     the lock that it has locked last, or is about to lock
 * @way:      enum elide_way
 * @site:     number of the site in the class, below LEARN_SITES
 * @elided:   the policy decides about the call; 0: its locks are never elided
 * @credit:   grows by one with each commit, to ELIDE_CREDIT_MAX, and shrinks by one with each
 *            acquisition that fell back because the section cannot be elided
 * @streak:   such acquisitions in a row
 * @probing:  the next acquisition that ends is a probe
 * @retry_skip: next aborts without a cause after which no further attempt is made
 * @retry_failures: grows by two with each further attempt that aborted, shrinks by one with each
 *            that is made; adapt/giveup.c
 * @waits:    locked sections since @seen that have waited for a condition variable
 * @adapt_nr: index in adapt_classes of that state; 0: the call is not measured
 * @commits:  low 32 bits of the commits of @row at the last acquisition of @streak, or when
 *            @probing began if that was later
 * @others:   low 32 bits of its commits and its acquisitions that were not attempted, at the last
 *            acquisition of @streak
 * @contended: low 32 bits of the acquisitions of @row that found the lock held, at the last report
 * @failed:   low 32 bits of the address, in units of 4 bytes, of the lock of @streak; 0 if there
 *            were several
 * @seen:     low 32 bits of the locked acquisitions of @row when a probe was last due
 *
 * An acquisition needs the first line alone.
 */
struct elide_call {
	uint64_t key;
	uint64_t mark;
	struct elide_row *row;
	const uint8_t *arm;
	struct adapt_thread *adapt;
	const void *lock;
	uint8_t way;
	uint8_t site : 3, credit : 5;
	uint8_t streak : 7, probing : 1;
	uint8_t elided : 1, retry_skip : 4, retry_failures : 3;
	uint16_t waits;
	uint32_t adapt_nr;

	uint32_t commits __cacheline_aligned;
	uint32_t others;
	uint32_t contended;
	uint32_t failed;
	uint32_t seen;
} __attribute__((aligned(2 * CACHE_LINE)));

_Static_assert(offsetof(struct elide_call, commits) == CACHE_LINE, "one line for an acquisition");

/**
 * struct adapt_thread - a thread's measurement of the locks that share a struct adapt_class.
 * @start:     time of the last report, ns; 0 before the first
 * @goal:      sections that the thread will have completed when @countdown is 0; one more with each
 *             lock that is elided inside a section
 * @due:       sections that it will have completed when it reports next
 * @countdown: sections until the next event: the next attempt is timed, or the thread reports
 * @nr:        sections between the last report and the next
 * @adapt_nr:  index in adapt_classes; 0 for an unused entry
 * @epoch:     number of the epoch of the last report
 * @aborts:    attempts that other threads have aborted: conflicts, and locks found held
 */
struct adapt_thread {
	uint64_t start;
	uint64_t goal;
	uint64_t due;
	uint32_t countdown;
	uint32_t nr;
	uint32_t adapt_nr;
	uint32_t epoch;
	uint64_t aborts;
};

/**
 * struct elide_cond_call - what a thread knows of the wait at a condition variable that it made last.
 * @object: the condition variable; NULL: nothing is known
 * @mutex: the mutex that it releases
 * @site: return address of the call
 * @object_tag, @mutex_tag: of both; ELIDE_NONE: it is not registered
 * @nr_calls: elide_thread.nr_calls
 * @mutex_class: class of the mutex; ELIDE_NONE: it is not registered
 * @row: counters of the call
 * @reacquired: counters of the acquisition of the mutex afterwards; NULL: not known yet
 * @locked_by: the one call by which the thread locks the mutex, as far as is known; NULL: there are
 *             several, or the policy does not decide about it
 */
struct elide_cond_call {
	const void *object;
	const void *mutex;
	const void *site;
	uint32_t object_tag;
	uint32_t mutex_tag;
	uint32_t nr_calls;
	uint32_t mutex_class;
	struct elide_row *row;
	struct elide_row *reacquired;
	struct elide_call *locked_by;
};

/* elide_thread.open in the usual section: one lock, nothing else to be done. */
#define ELIDE_OPEN_ONE 1

/* What one more elided lock inside, whose call is known, adds to it. */
#define ELIDE_OPEN_NESTED 0x10001

/* Below this only locks are open, whose calls are known. */
#define ELIDE_OPEN_ODD ((ELIDE_MAX_NESTED + 1) * 0x10000ull)

/*
 * A note of elided locks inside the outermost: the address of their call, and what it is more than
 * a multiple of a cache line is the number of further locks in a row by the same call.
 */
#define ELIDE_NESTED_CALL(note) ((struct elide_call *)((note) & ~(CACHE_LINE - 1ull)))
#define ELIDE_NESTED_NR(note)   ((note) % CACHE_LINE + 1)

/**
 * struct elide_due - the wait of an acquisition that has locked, to be counted.
 * @lock: address of the lock or semaphore, or of the condition variable's mutex; NULL: there is none
 * @row: counters of the call
 * @end: time-stamp counter
 * @cycles: its length
 */
struct elide_due {
	const void *lock;
	struct elide_row *row;
	unsigned long long end;
	uint64_t cycles;
};

/**
 * struct elide_thread - a thread's block.
 * @open:       the next ones together: 0 outside sections, where nothing is watched
 * @nr_held:    elided locks open; not zero exactly inside a transaction of ours
 * @nr_pending: number of calls in @pending
 * @nr_nested:  notes in @nested
 * @odd:        more is to be done at its end than to count it and the locks elided in it
 * @nr_acquired: locks in @acquired; always 0 unless ELIDE_ORDER=1
 * @in_locked:  1 in a locked section, where the emulator is told of sections or loads are
 *              sampled: the lock @locked, by a call that counts in @locked_row
 * @watched:    not 0 if either is not
 * @outer:      counters of the outermost call: of an elided section, from the preparation of its
 *              attempt on; else @locked_row while @in_locked; else NULL. The emulator reads it and
 *              the first word of @held, which is the lock: struct rtmgrind_outer
 * @held:       the elided locks
 * @nested:     elided locks inside whose calls are known, as far as there is room:
 *              ELIDE_NESTED_CALL(), ELIDE_NESTED_NR()
 * @pending:    other lock calls of the open transaction; with ELIDE_ORDER=1 and under HPCA'14's
 *              policy all, the outermost first
 * @halted:     nothing is elided for now: elide_halted(), when the thread last looked
 * @ready:      false in a block that a fork has wiped
 * @joining:    it waits for the end of another thread
 * @catches_up: the calls in @pending are of a section that has committed, and are being counted
 * @tid:        Linux thread id, as glibc writes it into mutexes it locks
 * @short_tid:  @tid while unlock calls may take the wrappers' short way, else
 *              ELIDE_NO_TID: nothing is elided here, no hold time is being measured, no wait is due
 * @seed:       state of elide_random()
 * @streak:     aborts since the watch last looked
 * @committed:  commits of all threads when it did
 * @arm:        how the adaptive policy treats the present acquisition
 * @socket:     that it was on at its last report, below POLICY_SOCKETS
 * @queue:      word of the lock at which it is the one that tries again; NULL
 * @time_weight: the next attempt is timed, and stands for this number of attempts; 0: it is not
 * @nr_spins, @nr_rwlocks: locks of these kinds that it has locked, as far as the wrappers know
 * @hold_lock, @hold_row, @hold_start: the acquisition being measured
 * @due:        a wait that is counted after its lock is released; @short_tid is ELIDE_NO_TID meanwhile
 * @chunk:      chunk of the data file that rows are taken from
 * @nr_calls:   calls that it knows: elide_call_at()
 * @nr_second:  right second guesses
 * @has_second: second guesses were made
 * @full:       there is no room for further ones
 * @next_free:  list of blocks that no thread has: elide_block_pop()
 * @next:       list of all blocks
 * @sample_seed: state of the random generator that chooses what is sampled
 * @stack_top:  end of its stack; 0 in a block whose thread has ended
 * @first_seen: of each kind of event as many are looked at for certain, see evidence.h
 * @postponed_of, @postponed: the counter of the kind of event of which a sample was postponed, or
 *              NULL, and events that it counts as; evidence.c
 * @nr_blocked: locks it has released that others waited for
 * @posted, @last_posted: the semaphores that it has posted last, in a ring; blocking.h
 * @waited, @last_waited: the objects that it has last waited for, or taken a unit of, in a ring;
 *              blocking.h
 * @cond_call:  its last wait at a condition variable
 * @timed_out, @timed_out_cycles: the object that its last wait was for, if that timed out, and how
 *              long it has waited for it in calls that did; blocking.h
 * @pid:        its process, where tgkill(2) has to tell that the thread has ended; else 0
 * @handle:     its thread control block, which is what glibc's pthread_t points to
 * @ending:     the kernel tells in it that the thread has ended
 * @guesses:    by a hash of the site, where in the block a call is, in bytes; 0: none, and there is no key
 * @second_guesses: the same by a hash of site and lock
 * @tag_guesses: the same by a hash of site and tag
 * @calls:      what it knows of its calls: one for each row, one more for each lock of a row that has a
 *              state of its own; the first has no key. Further ones are in @more
 * @hash:       numbers of calls, as call.c has it
 * @more:       the further part of the block, in the memory that a fork wipes; NULL: it has none
 * @first_adapts: its first measurements, of classes and of hot locks, in pages that each thread
 *              writes anyway: adapt/epoch.h
 * @no_adapt:   the measurement of calls that are not measured
 * @acquired:   the locks it has acquired, the oldest first
 * @new_class, @nr_new: locks of a class that it has initialised and that are not counted yet: life/lock.c
 * @record:     of the data file, which names it; NULL if there was no room
 * @moment_sums: cycles of its waits and of its measured holds since the last record of each, see
 *              evidence/moments.h
 * @nr_names:   times that its name was read
 * @pmu:        ring of its samples of aborts, see pmu.h; NULL without
 * @loads:      ring of its samples of loads; NULL without
 * @waits:      lock that it waits for, in a call that found it held; NULL if in none. A call that
 *              failed with an error, or was left by longjmp(), may leave it: whoever reads it has to
 *              find the site of @waits_row in the thread's stack
 * @waits_row:  counters of that call
 */
struct elide_thread {
	union {
		struct {
			uint16_t nr_held;
			uint16_t nr_nested;
			uint8_t nr_pending;
			uint8_t odd;
			union {
				struct {
					uint8_t nr_acquired;
					uint8_t in_locked;
				};
				uint16_t watched;
			};
		};
		uint64_t open;
	};
	const void *locked;
	struct elide_row *locked_row;
	struct elide_row *outer;
	struct elide_held held[ELIDE_MAX_HELD];
	uint64_t nested[ELIDE_MAX_NESTED];

	bool ready __cacheline_aligned;
	bool halted;
	bool joining;
	bool catches_up;
	uint32_t tid;
	uint32_t short_tid;
	uint32_t seed;
	uint32_t streak;
	uint32_t time_weight;
	uint32_t nr_spins;
	uint32_t nr_rwlocks;
	uint32_t arm;
	uint32_t socket;
	uint32_t *queue;
	const void *hold_lock;
	struct elide_row *hold_row;
	unsigned long long hold_start;
	struct elide_due due;
	uint64_t committed;

	struct elide_chunk *chunk;
	uint32_t nr_calls;
	uint32_t nr_second;
	bool has_second;
	bool full;
	struct elide_thread *next_free;
	struct elide_thread *next;
	uint64_t sample_seed;
	uint64_t stack_top;
	uint32_t first_seen;
	const uint64_t *postponed_of;
	uint64_t postponed;
	uint64_t nr_blocked;
	const void *posted[ELIDE_NR_POSTED];
	uint32_t last_posted;
	const void *waited[ELIDE_NR_WAITED];
	uint32_t last_waited;
	struct elide_cond_call cond_call;
	const void *timed_out;
	uint64_t timed_out_cycles;
	int pid;
	const void *handle;
	struct elide_ending ending;
	uint32_t new_class;
	uint32_t nr_new;
	struct adapt_thread no_adapt;
	struct elide_thread_record *record;
	uint64_t moment_sums[ELIDE_MOMENT_END];
	uint32_t nr_names;
	void *pmu;
	void *loads;
	const void *waits;
	const struct elide_row *waits_row;
	struct adapt_thread first_adapts[ELIDE_FIRST_ADAPTS];

	struct elide_more *more;
	uint16_t guesses[ELIDE_NR_GUESSES];

	/* Most threads touch the first of these, in the page of what is before, and nothing that follows. */
	struct elide_call calls[ELIDE_FIRST_CALLS];
	uint16_t hash[ELIDE_NR_HASH];
	struct elide_pending pending[ELIDE_MAX_PENDING];
	uint16_t second_guesses[ELIDE_NR_SECOND_GUESSES];
	uint16_t tag_guesses[ELIDE_NR_TAG_GUESSES];
	struct elide_acquired acquired[ELIDE_MAX_ACQUIRED];
} __attribute__((aligned(ELIDE_PAGE)));

_Static_assert(sizeof(struct elide_thread) <= 32768, "what a thread costs");
_Static_assert(offsetof(struct elide_thread, calls[6]) <= ELIDE_PAGE, "most threads touch one page");
_Static_assert(offsetof(struct elide_thread, open) == offsetof(struct elide_call, key),
	       "where there is no guess the first word of the block is compared with a key");

/**
 * struct elide_judged - a thread's judgement of a lock at a call: policy hpca.
 * @lock, @call: what it is of
 * @window: the judgement
 */
struct elide_judged {
	const void *lock;
	const struct elide_call *call;
	struct policy_window window;
};

/**
 * struct elide_more - the further part of a thread's block, for what most threads do not need.
 * @calls: after those of the block
 * @adapts: hash of further measurements
 * @judged: hash of judgements
 */
struct elide_more {
	struct elide_call calls[ELIDE_MAX_CALLS + 1 - ELIDE_FIRST_CALLS];
	struct adapt_thread adapts[ELIDE_NR_HASH];
	struct elide_judged judged[ELIDE_NR_JUDGED];
};

_Static_assert(offsetof(struct elide_thread, held[0].word) - offsetof(struct elide_thread, outer) ==
		       offsetof(struct rtmgrind_outer, lock),
	       "the emulator reads both");

/* The calling thread's block; NULL before its first lock call and where there is none. */
extern __thread struct elide_thread *elide_self;

/**
 * struct elide_refused - a thread for which there was no block.
 * @left: acquisitions that pass through before the thread asks for a block again; 0: it may ask
 * @pause: what @left was after it has asked last; 0: it has a block, or has not asked yet
 */
struct elide_refused {
	uint32_t left;
	uint32_t pause;
};

extern __thread struct elide_refused elide_refused;

/*
 * Acquisitions between two times that a thread without a block asks for one: doubled from the first
 * number up to the second. To ask takes 2 us, so from 64 on that is 30 ns an acquisition in the first
 * pause, 15 in the second, and nothing to be felt afterwards. Chosen here.
 */
#define ELIDE_REFUSED_FIRST 64
#define ELIDE_REFUSED_MOST  65536

/*
 * The same for the quick way, which reads elide_thread.open first: where there is no block,
 * something of which that is not 0, and nothing else may be read.
 */
extern __thread struct elide_thread *elide_self_quick;

/* What a thread knows of a call that a fork has wiped from its block in the middle of it. */
extern struct elide_call elide_no_call;

/* Where is counted what belongs to no row any more. */
extern struct elide_row elide_no_row;

/**
 * elide_call_row() - the counters of a call.
 *
 * A signal handler may fork in the middle of a lock call; in the child the
 * entry is wiped, and the call still has to end.
 */
static inline struct elide_row *elide_call_row(const struct elide_call *call)
{
	struct elide_row *row = READ_ONCE(call->row);

	return likely(row) ? row : &elide_no_row;
}

/* xorshift32 (Marsaglia, "Xorshift RNGs", 2003). */
static inline uint32_t elide_random(struct elide_thread *t)
{
	t->seed ^= t->seed << 13;
	t->seed ^= t->seed >> 17;
	t->seed ^= t->seed << 5;
	return t->seed;
}

/* A sampling period of that mean: a fixed one may keep step with the program. 0 stays 0: never. */
static inline uint32_t elide_random_period(struct elide_thread *t, uint32_t mean)
{
	return mean > 1 ? 1 + ((uint64_t)elide_random(t) * (2 * mean - 1) >> 32) : mean;
}

/** elide_refused_passes() - use elide_passes(). */
bool elide_refused_passes(void);

/**
 * elide_passes() - does an acquisition of the calling thread pass through, as there is no block for it?
 *
 * One more does if so. No system call is made, and nothing that threads share is written.
 */
static __always_inline_fn bool elide_passes(void)
{
	return unlikely(elide_refused.left) && elide_refused_passes();
}

/** elide_is_refused() - the same for other calls, which are not counted. */
static __always_inline_fn bool elide_is_refused(void)
{
	return unlikely(elide_refused.left);
}

/** elide_threads_all() - the first of all blocks of threads, of ended ones too. In a slow path. */
struct elide_thread *elide_threads_all(void);

/**
 * elide_thread_of() - the block of the thread with that id, if it is known; NULL.
 *
 * Its thread has ended, or another one has the block, if elide_thread.tid is not @tid.
 */
struct elide_thread *elide_thread_of(uint32_t tid);

/** elide_thread_known() - elide_thread_of() finds @t from now on by its id. */
void elide_thread_known(struct elide_thread *t);

/** elide_threads_head() - where the address of the first block is: for elide_inspect_fill(). */
const void *elide_threads_head(void);

/** elide_threads_add() - a new block: put it in front of the others. */
void elide_threads_add(struct elide_thread *t);

/** elide_threads_clear() - in a forked child: there are no blocks. */
void elide_threads_clear(void);

/**
 * elide_call_set_way() - treat a call that way from now on.
 * @arm: where the code of its arm is
 */
static inline void elide_call_set_way(struct elide_call *call, enum elide_way way,
				      const uint8_t *arm)
{
	call->way = way == ELIDE_WAY_SHORT && call->elided ? ELIDE_WAY_PARKED : way;
	WRITE_ONCE(call->arm, way == ELIDE_WAY_ELIDE ? arm : &elide_way_arms[way]);
}

/** elide_state_is_chosen() - does the policy decide about a call of a row in that state? */
static inline bool elide_state_is_chosen(enum elide_row_state state)
{
	return state != ELIDE_STATE_PROFILED && state != ELIDE_STATE_OFF;
}

/** elide_way() - how the wrappers are to treat calls of a row of the thread @t. */
enum elide_way elide_way(const struct elide_thread *t, const struct elide_row *row);

/**
 * elide_may_judge() - is enough known to call something the calling thread does a misuse?
 *
 * Not before the start, in a forked child that has taken no lock, or after vfork().
 */
bool elide_may_judge(void);

/**
 * elide_tid_is_own() - is @tid this thread, now or before it was forked?
 * @t: the calling thread; NULL where it has taken no lock, then not inside a transaction
 *
 * A child of fork() may release what its parent's thread had locked, and so
 * may a child of that. Behind more forks than are remembered every thread is
 * taken for one's own. Allowed inside a transaction.
 */
bool elide_tid_is_own(const struct elide_thread *t, uint32_t tid);

/** elide_tid_now() - the Linux thread id of the caller; 0: not known, under a filter. */
uint32_t elide_tid_now(void);

/**
 * elide_tid_kept() - the Linux thread id of the caller, as libc has it; 0: not known.
 *
 * Libc does not know of a fork that is made by the system call itself: then it is the parent's.
 */
uint32_t elide_tid_kept(void);

/** elide_pid_now() - the number of the process. */
uint32_t elide_pid_now(void);

/** struct elide_closed - what elide_thread_close() has changed. */
struct elide_closed {
	struct elide_thread *self;
	struct elide_thread *quick;
};

/**
 * elide_thread_close() - the calling thread's calls pass through from now on, without a system call or
 * the time-stamp counter. Not in a slow path or a section.
 */
void elide_thread_close(struct elide_closed *was);

/** elide_thread_reopen() - take that back. */
void elide_thread_reopen(const struct elide_closed *was);

/** elide_tid_remember() - @tid is this thread's id from now on: it is new, or was forked. */
void elide_tid_remember(uint32_t tid);

#pragma GCC visibility pop

#endif

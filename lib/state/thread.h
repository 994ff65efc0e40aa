/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * thread.h - a thread's block: held list, pending calls, calls and their guesses.
 *
 * A thread's block lies in memory that a fork wipes (MADV_WIPEONFORK): in the
 * child every look-up misses, and the global-lock path starts afresh with a data
 * file of its own. When a thread ends, its block with all that was counted
 * goes to the next one; nothing is folded, so nothing can be lost.
 *
 * The rule of transactions: what the library may do from XBEGIN to the commit of a section that it elides.
 *
 *   store to  the members of the calling thread's own block that ELIDE_SECTION_STORES() names, and its own
 *             frames on the thread's stack
 *   read      these, what else the thread alone writes, lock words, and what seldom changes: the table of
 *             locks, classes, settings
 *   call      functions that keep the rule; for a lock that is not elided the real function, whose stores
 *             are to that lock; rtm_abort(), where a call needs more
 *
 * All other stores and reads are forbidden, and so are allocation, and system calls, PAUSE and CPUID, which
 * abort each attempt. Why:
 *
 *   write set  A written line must stay in the first-level cache until the commit. A section of one lock
 *              writes one line of the block, the first; one with another lock inside writes three; each
 *              pending call adds one or two.
 *   conflicts  A store to a line that another thread's transaction has read or written aborts that
 *              transaction, and so does a read of a line that it has written. No other thread writes the
 *              lines of the members named, and none reads them while the thread runs.
 *   rollback   An abort undoes all stores. Counters and evidence, which have to stay, are written after the
 *              commit: @pending and @nested keep what is to be counted. prepare() stores what is known of a
 *              section before XBEGIN. A signal aborts before its handler runs, which finds the block as it
 *              was at XBEGIN.
 *
 * Others that write in transactions:
 *
 *   base/detect.c    the probe at the start stores to a variable of its own, to see whether that commits
 *   the program      its lock calls in a transaction of its own are not elided and count in no row, but write
 *                    guesses and countdowns of the thread, which an abort undoes, too
 *   test builds      elide_test_point() keeps its state in thread-local variables
 *   an exit          in a section under a seccomp filter: elide_stop() writes without a system call before,
 *                    but the exit itself makes one, which aborts
 *
 * The emulator finds any other store: tests/emulated/stores.sh, and all of tests/semantics/run.sh.
 */
#ifndef ELIDE_THREAD_H
#define ELIDE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/datafile-writer.h"
#include "../compiler.h"
#include "../emulator.h"
#include "../policy/published.h"
#include "call-types.h"
#include "ending.h"
#include "open.h"
#include "registry.h"

#pragma GCC visibility push(hidden)

/* The members of struct elide_thread that may be stored to inside a transaction. */
#define ELIDE_SECTION_STORES(X) X(open) X(outer) X(held) X(nested) X(catches_up) X(pending)

/* Semaphores that a thread has posted last: if it also waits for one, it uses it as a lock. */
#define ELIDE_NR_POSTED 2

/* Condition variables, semaphores and barriers that a thread has last waited for. */
#define ELIDE_NR_WAITED 8

/* Bytes; the smallest page of x86-64. */
#define ELIDE_PAGE 4096

/* No thread's id. */
#define ELIDE_NO_TID (~0u)

/*
 * Calls (tag, site, kind) that a thread can count, those among them that are in its block, and slots of their
 * hash. A quarter of the slots stays empty.
 */
#define ELIDE_MAX_CALLS   768
#define ELIDE_FIRST_CALLS 96
#define ELIDE_NR_HASH     1024

/* Guesses by the site, 1 KiB, by site and lock, 4 KiB, and by site and tag, 1 KiB. */
#define ELIDE_NR_GUESSES        512
#define ELIDE_NR_SECOND_GUESSES 2048
#define ELIDE_NR_TAG_GUESSES    512

/*
 * One in this number of right second guesses of a thread becomes the guess of its site: so that mostly has
 * the class that is most frequent there now, and seldom changes between two sites in one place. Chosen.
 */
#define ELIDE_SECOND_PERIOD 8

/*
 * Locks held by a thread whose hold times are measured at a time, at most: of further ones the
 * oldest is dropped. Chosen.
 */
#define ELIDE_NR_OPEN_HOLDS 6

/* Judgements of a thread under policy hpca, by a hash of lock and call. */
#define ELIDE_NR_JUDGED 2048

/* Measurements of a thread that are searched one by one: most threads have no more. */
#define ELIDE_FIRST_ADAPTS 8

/**
 * struct elide_cond_call - what a thread knows of its last wait at a condition variable.
 * @object: the condition variable; NULL: nothing is known
 * @mutex: the mutex that it releases
 * @site: return address of the call
 * @object_tag, @mutex_tag: their tags; ELIDE_NONE: not registered
 * @nr_calls: elide_thread.nr_calls
 * @mutex_class: class of the mutex; ELIDE_NONE: it is not registered
 * @row: counters of the call
 * @reacquired: counters of the acquisition of the mutex afterwards; NULL: not known yet
 * @locked_by: the only call by which the thread locks the mutex, as far as is known; NULL: there are
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

/**
 * struct elide_due - a wait that ended in a locked acquisition, and is to be counted.
 * @lock: address of the lock or semaphore, or of the condition variable's mutex; NULL: there is none
 * @row: counters of the call
 * @end: time-stamp counter when it could end
 * @cycles: its length up to @end
 * @late: cycles from @end until the thread had locked
 */
struct elide_due {
	const void *lock;
	struct elide_row *row;
	unsigned long long end;
	uint64_t cycles;
	uint64_t late;
};

/**
 * struct elide_futex_wait - a wait in a futex call, which was counted.
 * @word: address of the futex; NULL: the thread has made another futex call since
 * @row: counters of the call
 * @over: time-stamp counter when the thread ran again
 * @cycles, @late: as in struct elide_due
 */
struct elide_futex_wait {
	const void *word;
	struct elide_row *row;
	unsigned long long over;
	uint64_t cycles;
	uint64_t late;
};

/**
 * struct elide_hold - an acquisition that is being measured.
 * @lock: address of the lock
 * @row: counters of the call
 * @start: time-stamp counter
 * @weight: number of acquisitions that the sampled one represents; 0: a contended one
 * @sampled: it is the sampled one of its block, contended or not
 * @faster: per mille by which the emulator makes the section faster: evidence/what-if.h
 */
struct elide_hold {
	const void *lock;
	struct elide_row *row;
	unsigned long long start;
	uint32_t weight;
	bool sampled;
	uint16_t faster;
};

/**
 * struct elide_thread - a thread's block.
 * @open:       the next ones together: 0 outside sections, if nothing is watched
 * @nr_held:    elided locks; not 0 exactly inside a transaction of ours
 * @nr_pending: number of calls in @pending
 * @odd:        a recursive mutex was locked again in the section: elide_release() counts the depth
 * @nr_nested:  notes in @nested
 * @nr_acquired: locks in @acquired; always 0 unless ELIDE_ORDER=1
 * @in_locked:  1 in a locked section, if the emulator is told of sections or loads are sampled: that of
 *              the lock @locked, by a call that counts in @locked_row
 * @watched:    @nr_acquired and @in_locked together
 * @outer:      counters of the outermost call: of an elided section, from the preparation of its
 *              attempt on; else @locked_row while @in_locked; else NULL. The emulator reads it and
 *              the first word of @held, which is the lock: struct rtmgrind_outer
 * @held:       the elided locks
 * @nested:     notes of nested locks whose calls are known, as far as there is room:
 *              ELIDE_NESTED_CALL(), ELIDE_NESTED_NR()
 * @catches_up: the calls in @pending are of a section that has committed, and are being counted
 * @pending:    other lock calls of the open transaction; with ELIDE_ORDER=1 and under HPCA'14's
 *              policy all, the outermost first
 * @halted:     elide_halted() when the thread last looked
 * @ready:      false in a block that a fork has wiped, or that is @stale
 * @listed:     it is in the list of all blocks
 * @stale:      it has rows and calls of an earlier data file: elide_threads_restart()
 * @joining:    the thread waits for the end of another one
 * @tid:        Linux thread id, as glibc writes it into mutexes that it locks
 * @short_tid:  @tid while unlock calls may take the wrappers' short way, as no hold time is being
 *              measured and no wait is due; else ELIDE_NO_TID
 * @seed:       state of elide_random()
 * @streak:     aborts since watch() last looked
 * @committed:  commits of all threads when it did
 * @arm:        how the adaptive policy treats the present acquisition
 * @time_weight: the next attempt is timed, and stands for this number of attempts; 0: it is not
 * @seen:       time-stamp counter when its hold time, its wait or its attempt was measured last
 * @nr_spins, @nr_rwlocks: locks of these kinds that the thread holds locked, as far as the wrappers know
 * @nr_faster:  those of @holds with a @faster
 * @window, @window_left: number of a window of evidence/holder.h, and acquisitions in it that are left
 * @holds:      the @nr_holds acquisitions whose hold times are being measured, the oldest first
 * @found_held: time-stamp counter when the present acquisition, which was contended, had locked; 0: it was
 *              not, or elide_hold_begin() has taken it
 * @due:        a wait that is counted after its lock is released; @short_tid is ELIDE_NO_TID meanwhile
 * @chunk:      chunk of the data file for new rows
 * @nr_calls:   calls that the thread knows: elide_call_at()
 * @nr_second:  right second guesses
 * @has_second: second guesses were made
 * @full:       there is no room for further calls
 * @next_free:  list of free blocks: elide_block_pop()
 * @next:       list of all blocks
 * @sample_seed: state of the random generator that chooses what is sampled
 * @stack_top:  end of its stack; 0 in a block whose thread has ended
 * @first_seen: events of each kind that are certainly sampled, see evidence.h
 * @postponed_of, @postponed: the counter of the kind of event of which a sample was postponed, or
 *              NULL, and events that it counts as; evidence.h
 * @nr_blocked: locks it has released for which others waited
 * @posted, @last_posted: the semaphores that it has posted last, in a ring; blocking.h
 * @waited, @last_waited: the objects for which it has last waited, or from which it has taken a unit, in a
 *              ring; blocking.h
 * @cond_call:  its last wait at a condition variable
 * @timed_out, @timed_out_cycles: the object of its last wait, if that timed out, and how long it has waited
 *              for it in calls that timed out; blocking.h
 * @pid:        its process, if tgkill(2) has to tell that the thread has ended; else 0
 * @handle:     its thread control block, to which glibc's pthread_t points
 * @ending:     in it the kernel tells that the thread has ended
 * @guesses:    by a hash of the site: offset of a call in the block; 0: none, where the first word of the
 *              block is no key
 * @second_guesses: the same by a hash of site and lock
 * @tag_guesses: the same by a hash of site and tag
 * @calls:      its calls: one for each row, and one more for each lock of a row that has a state of its own;
 *              the first has no key. Further ones are in @more
 * @hash:       numbers of calls, see call.c
 * @more:       the further part of the block, in wiped memory; NULL: there is none
 * @first_adapts: its first measurements, of classes and of locks with a state of their own, in pages that
 *              each thread writes anyway: adapt/measure.h
 * @no_adapt:   the measurement of calls that are not measured
 * @acquired:   the locks it has acquired, the oldest first
 * @futex:      its last wait in a futex call, which may go on in the next one
 * @new_class, @nr_new: class of locks that it has initialised and not counted yet, and their number:
 *              life/lock.c
 * @record:     its record in the data file; NULL if there was no room
 * @span_sums: cycles of its waits and of its measured holds since the last record of each, see
 *              evidence/spans.h
 * @nr_names:   rows that it has made, which decide when its name is read again
 * @pmu:        ring of its samples of aborts, see pmu.h; NULL: none
 * @loads:      ring of its samples of loads; NULL: none
 * @waits:      lock for which it waits, in a call that found it held; else NULL. A call that was left by
 *              longjmp() may leave it: a reader has to find the site of @waits_row in the thread's stack
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
	bool catches_up;

	bool ready __cacheline_aligned;
	bool listed;
	bool stale;
	bool halted;
	bool joining;
	uint32_t tid;
	uint32_t short_tid;
	uint32_t seed;
	uint32_t streak;
	uint32_t time_weight;
	uint32_t nr_spins;
	uint32_t nr_rwlocks;
	uint32_t arm;
	uint32_t nr_holds;
	uint32_t nr_faster;
	uint32_t window;
	uint32_t window_left;
	struct elide_hold holds[ELIDE_NR_OPEN_HOLDS];
	unsigned long long found_held;
	struct elide_due due;
	uint64_t committed;
	uint64_t seen;

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
	uint64_t span_sums[ELIDE_SPAN_END];
	uint32_t nr_names;
	void *pmu;
	void *loads;
	const void *waits;
	const struct elide_row *waits_row;
	struct adapt_thread first_adapts[ELIDE_FIRST_ADAPTS];

	struct elide_more *more;
	uint16_t guesses[ELIDE_NR_GUESSES];

	/* Most threads touch only the first of these, which are in the same page as all before. */
	struct elide_call calls[ELIDE_FIRST_CALLS];
	uint16_t hash[ELIDE_NR_HASH];
	struct elide_pending pending[ELIDE_MAX_PENDING];
	uint16_t second_guesses[ELIDE_NR_SECOND_GUESSES];
	uint16_t tag_guesses[ELIDE_NR_TAG_GUESSES];
	struct elide_acquired acquired[ELIDE_MAX_ACQUIRED];
	struct elide_futex_wait futex;
} __attribute__((aligned(ELIDE_PAGE)));

_Static_assert(sizeof(struct elide_thread) <= 32768, "what a thread costs");
_Static_assert(offsetof(struct elide_thread, calls[6]) <= ELIDE_PAGE, "most threads touch one page");
_Static_assert(offsetof(struct elide_thread, open) == offsetof(struct elide_call, key),
	       "without a guess the first word of the block is compared with a key");

/**
 * struct elide_judged - a thread's judgement of a lock at a call: policy hpca.
 * @lock, @call: both
 * @window: the judgement
 */
struct elide_judged {
	const void *lock;
	const struct elide_call *call;
	struct policy_window window;
};

/**
 * struct elide_more - the further part of a thread's block, which most threads do not need.
 * @calls: after those of the block
 * @adapts: hash of further measurements
 * @judged: hash of judgements
 */
struct elide_more {
	struct elide_call calls[ELIDE_MAX_CALLS + 1 - ELIDE_FIRST_CALLS];
	struct adapt_thread adapts[ELIDE_NR_HASH];
	struct elide_judged judged[ELIDE_NR_JUDGED];
};

#define ELIDE_SAME_PLACE(type, a, other, b) \
	_Static_assert(offsetof(struct type, a) == offsetof(struct other, b), "the emulator reads it")
ELIDE_SAME_PLACE(elide_row, kind, rtmgrind_call, kind);
ELIDE_SAME_PLACE(elide_row, site, rtmgrind_call, site);

_Static_assert(offsetof(struct elide_thread, held[0].word) - offsetof(struct elide_thread, outer) ==
		       offsetof(struct rtmgrind_outer, lock),
	       "the emulator reads both");

/* The calling thread's block; NULL before its first lock call, or if it has none. */
extern __thread struct elide_thread *elide_self;

/*
 * The calling thread's block for the fast path, which reads elide_thread.open first. Without a block, a
 * dummy whose @open is not 0, and of which nothing else may be read.
 */
extern __thread struct elide_thread *elide_self_fast;

/**
 * struct elide_refused - a thread for which there was no block.
 * @left: acquisitions that pass through before the thread asks for a block again; 0: it may ask
 * @pause: value of @left after it last asked; 0: it has a block, or has not asked yet
 */
struct elide_refused {
	uint32_t left;
	uint32_t pause;
};

extern __thread struct elide_refused elide_refused;

/*
 * Acquisitions after which a thread without a block asks for one again: doubled from the first number up to
 * the second. Asking takes 2 us: 30 ns an acquisition in the first pause of 64, 15 in the second, and
 * negligible afterwards. Chosen here.
 */
#define ELIDE_REFUSED_FIRST 64
#define ELIDE_REFUSED_MOST  65536

/** elide_refused_passes() - the part of elide_passes() that is not inlined. */
bool elide_refused_passes(void);

/**
 * elide_passes() - does this acquisition pass through, as there is no block for the calling thread?
 *
 * Counts it. Makes no system call, and writes nothing that threads share.
 */
static __always_inline_fn bool elide_passes(void)
{
	return unlikely(elide_refused.left) && elide_refused_passes();
}

/** elide_is_refused() - elide_passes() for other calls, which do not count. */
static __always_inline_fn bool elide_is_refused(void)
{
	return unlikely(elide_refused.left);
}

/**
 * elide_may_judge() - is enough known to call something that the calling thread does a misuse?
 *
 * Not before the start, in a forked child that has taken no lock, or after vfork().
 */
bool elide_may_judge(void);

/** struct elide_closed - what elide_thread_close() has changed, for elide_thread_reopen(). */
struct elide_closed {
	struct elide_thread *self;
	struct elide_thread *fast;
};

/**
 * elide_thread_close() - the calling thread's calls pass through from now on, without a system call or
 * the time-stamp counter. Not in a global-lock path or a section.
 */
void elide_thread_close(struct elide_closed *was);

/** elide_thread_reopen() - undo elide_thread_close(). */
void elide_thread_reopen(const struct elide_closed *was);

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * datafile-rows.h - records of the data file that count: objects, classes of locks, rows of calls and
 * threads; sampled spans; misuse and cycles of locks.
 *
 * A part of the format in datafile.h, whose version it has.
 */
#ifndef ELIDE_DATAFILE_ROWS_H
#define ELIDE_DATAFILE_ROWS_H

#include <stddef.h>
#include <stdint.h>

/* Abort causes, in the order of aborts.def. */
enum elide_cause {
#define ELIDE_CAUSE(id, code, column, help, advice) ELIDE_CAUSE_##id,
#include "aborts.def"
#undef ELIDE_CAUSE
	ELIDE_NR_CAUSES
};

/* Room in a record, so that a new cause does not need a new version of the format. */
#define ELIDE_MAX_CAUSES 24

_Static_assert(ELIDE_NR_CAUSES <= ELIDE_MAX_CAUSES, "aborts.def has more causes than a row");

/*
 * Those for which elide_kind_is_lock() is false are not locks that a thread holds, but calls in which it waits
 * for another thread. They are never elided.
 */
enum elide_kind {
	ELIDE_KIND_NONE,
	ELIDE_KIND_MUTEX,
	ELIDE_KIND_RWLOCK_READ,
	ELIDE_KIND_RWLOCK_WRITE,
	ELIDE_KIND_SPIN,
	ELIDE_KIND_CUSTOM,
	ELIDE_KIND_COND,      /* waits for a condition variable */
	ELIDE_KIND_SEM,       /* waits for a semaphore */
	ELIDE_KIND_BARRIER,   /* waits at a barrier */
	ELIDE_KIND_REACQUIRE, /* locks the mutex again after a wait for a condition variable */
	ELIDE_KIND_FUTEX,     /* waits in a futex call for a thread that signals, posts or arrives */
	ELIDE_KIND_FUTEX_LOCK, /* waits in a futex call for the holder of a lock */
	ELIDE_KIND_LIBRARY,   /* a mutex that is not libc's: GLib's, OpenMP's */
	ELIDE_NR_KINDS
};

/** elide_kind_is_lock() - is it a lock that a thread holds, and not a call that waits? */
static inline int elide_kind_is_lock(unsigned int kind)
{
	return kind < ELIDE_KIND_COND || kind == ELIDE_KIND_LIBRARY;
}

/** elide_kind_is_futex() - does a row of that kind count waits alone? Locks made of futexes make no other calls. */
static inline int elide_kind_is_futex(unsigned int kind)
{
	return kind == ELIDE_KIND_FUTEX || kind == ELIDE_KIND_FUTEX_LOCK;
}

/**
 * elide_kind_waits_for_lock() - are the waits of its rows "waiting for locks", and not "waiting for others",
 * for a thread that signals, posts or arrives? Every sum of waits is of one of the two.
 */
static inline int elide_kind_waits_for_lock(unsigned int kind)
{
	return elide_kind_is_lock(kind) || kind == ELIDE_KIND_REACQUIRE || kind == ELIDE_KIND_FUTEX_LOCK;
}

/**
 * struct elide_module - an object mapped into the process.
 * @base:     load bias: run-time address minus address in the object
 * @start, @end: range of its mapping
 * @build_id_len: bytes of @build_id, 0 if the object has none
 * @build_id: GNU build-id
 * @path:     path of the file
 */
struct elide_module {
	uint64_t base;
	uint64_t start;
	uint64_t end;
	uint32_t build_id_len;
	uint8_t build_id[36];
	char path[448];
};

_Static_assert(sizeof(struct elide_module) == 512, "fixed layout");

/* What names a lock class. */
enum elide_class_type {
	ELIDE_CLASS_INIT = 1, /* address: return address of the call that initialised the lock */
	ELIDE_CLASS_STATIC,   /* address: the lock itself, or the array, inside an object's data */
	/* address: return address of the first call that locked it. Which call that is may be chance: readers
	 * join such classes of one kind where they have rows of the same site. */
	ELIDE_CLASS_FIRST,
	ELIDE_CLASS_BEYOND,   /* address: 0; locks beyond ELIDE_MAX_LOCKS or of classes beyond 4096 */
};

/**
 * struct elide_class - a lock class.
 * @type:     enum elide_class_type
 * @kind:     of the locks: ELIDE_KIND_RWLOCK_READ for a rwlock, ELIDE_KIND_MUTEX for ELIDE_KIND_REACQUIRE,
 *            ELIDE_KIND_FUTEX for ELIDE_KIND_FUTEX_LOCK
 * @address:  see the types
 * @nr_locks: number of locks that have been given the class, destroyed ones included
 * @array:    bytes of the array that contains them, at most 2^32 - 1; 0 if there is none
 * @nr_shared: those of the locks that more than one thread of the process has locked, counted up to
 *            ELIDE_SHARED_COUNTED; a thread with the block of an ended one counts as that one
 */
struct elide_class {
	uint32_t type;
	uint32_t kind;
	uint64_t address;
	uint64_t nr_locks;
	uint32_t array;
	uint32_t nr_shared;
};

/* Threads that find a lock shared at the same time may each count one more. */
#define ELIDE_SHARED_COUNTED 64

/**
 * struct elide_times - a distribution of times, in cycles.
 * @count: measurements
 * @total: their sum
 * @min: the shortest
 * @max: the longest
 */
struct elide_times {
	uint64_t count;
	uint64_t total;
	uint64_t min;
	uint64_t max;
};

/*
 * Bins of a histogram of times. Bin 0 has times below 2^(ELIDE_BIN_SHIFT + 1) cycles, each further bin times
 * up to twice as long, the last bin all longer ones: 2^35 cycles are 11 s at 3 GHz.
 */
#define ELIDE_NR_BINS   31
#define ELIDE_BIN_SHIFT 5

/** elide_bin() - the bin of a time in cycles. */
static inline unsigned int elide_bin(uint64_t cycles)
{
	unsigned int log2 = 63 - (unsigned int)__builtin_clzll(cycles | 1 << ELIDE_BIN_SHIFT);

	return log2 - ELIDE_BIN_SHIFT < ELIDE_NR_BINS ? log2 - ELIDE_BIN_SHIFT : ELIDE_NR_BINS - 1;
}

/**
 * struct elide_holds - hold times of the locked acquisitions of a row, in cycles: a stratified sample.
 *
 * The hold time of each contended acquisition is measured where mode is profile. The uncontended acquisitions
 * are numbered and divided into blocks; one acquisition of each block, chosen at random, is measured, and its
 * weight is the length of the block. section/locked.c chooses the length before the block begins.
 * elide_row_held() estimates from both the time that the locks were held, and elide_row_held_variance() the
 * variance of that estimate.
 *
 * @count:        number of hold times measured
 * @min, @max:    the shortest and the longest of them
 * @exact:        number of contended acquisitions measured
 * @exact_total:  sum of their hold times
 * @weight:       sum of the weights of the sampled acquisitions
 * @total:        sum of their hold times, each multiplied by its weight
 * @spread, @spread_total, @spread_squares: with the weight w and the hold time x of each sampled acquisition,
 *                the sums of w (w - 1), of w (w - 1) x and of w (w - 1) x^2
 * @end:          number of the last acquisition of the present block
 * @gap:          length of the present block, acquisitions; 0 before the first sample
 * @last:         number of the acquisition sampled last
 * @from, @from_nr: time-stamp counter at the beginning of the window over which the rate of acquisitions is
 *                measured, and the number of acquisitions by then
 */
struct elide_holds {
	uint64_t count;
	uint64_t min;
	uint64_t max;
	uint64_t exact;
	uint64_t exact_total;
	uint64_t weight;
	uint64_t total;
	double spread;
	double spread_total;
	double spread_squares;
	uint64_t end;
	uint64_t gap;
	uint64_t last;
	uint64_t from;
	uint64_t from_nr;
};

/* How a row's locks are treated now: elide_row.state. */
enum elide_row_state {
	ELIDE_STATE_PROFILED, /* not elided by mode, kind or rule */
	ELIDE_STATE_ELIDING,
	ELIDE_STATE_PAUSED,   /* the policy makes no attempts for now */
	ELIDE_STATE_OFF,      /* cannot be elided: robust, PI, process-shared, or a rule says off */
	ELIDE_STATE_RESTRICTED, /* locked, and most of the threads that find it held are parked */
	ELIDE_STATE_LOCKING,  /* mode restrict: locked, and the policy restricts no thread for now */
	ELIDE_NR_STATES
};

/**
 * struct elide_row - counters of one thread, lock class, call site and kind.
 *
 * Only the owning thread writes a row, with plain adds outside transactions; a reader sums the rows of equal
 * (class, site, kind). Sums are not stored, so that these equations hold whenever the process is killed:
 *
 *   elided   = commits + nested
 *   acquired = elided + fallback + not_attempted
 *   aborts   = sum of causes
 *   attempts = commits + aborts
 *
 * @class_index:   index of the class, counted over all class chunks in file order
 * @kind:          enum elide_kind
 * @state:         enum elide_row_state
 * @unused:        0
 * @site:          return address of the lock call
 * @not_attempted: acquisitions that locked without an attempt
 * @fallback:      acquisitions that locked after one or more aborts
 * @commits:       elided acquisitions of the outermost lock of a section
 * @nested:        elided acquisitions inside another elided section
 * @contended:     acquisitions that locked and found the lock held
 * @hold_next:     number of locked acquisitions after which the next one is sampled for its hold time
 * @wasted_cycles: cycles in aborted attempts; sampled and scaled on a processor, exact in the
 *                 emulator
 * @wait:          time that the @contended acquisitions waited, up to the release after which they could lock
 * @hold:          time from acquisition to release of locked acquisitions; of a recursive mutex that of the
 *                 outermost one to the last release
 * @causes:        aborts by enum elide_cause
 * @failed:        trylock and timed calls that found the lock held and did not get it
 * @wait_bins:     the measurements of @wait by elide_bin()
 * @hold_bins:     histogram of @hold by elide_bin(): a sampled hold time counts with its weight, that of a
 *                 contended acquisition once
 * @parked:        acquisitions and timed calls that the arm "restrict" has parked
 * @unparked:      of these, those that are no longer parked
 * @parked_cycles: cycles that @unparked were parked; they are in @wait as well
 * @late:          cycles from that release, or the call that ended another wait, until they had locked: the
 *                 threads had been woken and were not running yet. Only where mode is profile, and in rows of
 *                 kind reacquire: else it is a part of @wait
 * @stacked:       number of the locked acquisition whose stack was recorded last, see elide_wrapper_acquired();
 *                 ~0: no more are recorded
 *
 * In rows of kinds that are no locks, an acquisition is a wait that has ended as the caller wanted: the
 * condition variable was signalled, the semaphore had a unit left, all have arrived at the barrier, the
 * mutex is locked again, a futex call has been ended by another thread. It is in @not_attempted, and in @contended if
 * the thread had to wait. Only
 * a row of ELIDE_KIND_REACQUIRE has hold times, those of the mutex after the wait. @failed has the waits that
 * timed out, and sem_trywait() calls that found no unit.
 */
struct elide_row {
	uint32_t class_index;
	uint16_t kind;
	uint8_t state;
	uint8_t unused;
	uint64_t site;
	uint64_t not_attempted;
	uint64_t fallback;
	uint64_t commits;
	uint64_t nested;
	uint64_t contended;
	uint64_t hold_next;

	uint64_t wasted_cycles;
	struct elide_times wait;
	struct elide_holds hold;
	uint64_t causes[ELIDE_MAX_CAUSES];
	uint64_t failed;
	uint64_t parked;
	uint64_t unparked;
	uint64_t parked_cycles;
	uint64_t wait_bins[ELIDE_NR_BINS];
	uint64_t hold_bins[ELIDE_NR_BINS];
	uint64_t late;
	uint64_t stacked;
};

_Static_assert(sizeof(struct elide_row) == 960, "15 cache lines");
_Static_assert(offsetof(struct elide_row, state) == 6, "elide_record_check() leaves it out");

/* What a thread record describes: elide_thread_record.state. */
enum elide_thread_state {
	ELIDE_THREAD_NONE, /* the record is not in use: no thread has had its block */
	ELIDE_THREAD_RUNS, /* a thread that counts in the rows of its block */
	ELIDE_THREAD_ENDED,    /* a thread that has ended; no other one has its block yet */
	ELIDE_THREAD_PAST,     /* ended threads of one name, whose blocks others have got */
	ELIDE_THREAD_END       /* one more than the last */
};

/* Names of ended threads, at most: threads of further names are summed up under an empty name. */
#define ELIDE_PAST_NAMES 64

/**
 * struct elide_thread_record - a thread, or ended threads of one name.
 *
 * Rows belong to blocks, and a new thread gets the block of an ended one. So a thread with a block has
 * counted what the rows of the block have now, less what they had when the thread began: the numbers here.
 * For past threads the numbers here are their own.
 *
 * @state:    enum elide_thread_state
 * @block:    number of its block, from 1, as in chunks of rows; 0 for past threads
 * @tid:      Linux thread id; 0 for past threads
 * @nr:       threads: 1, or the number of past ones
 * @name:     name of the thread when it was last read, as in /proc/PID/comm; ended by a NUL
 * @acquired: acquisitions
 * @elided:   of these, elided ones
 * @contended: of these, those that locked and found the lock held
 * @wait:     cycles waited
 * @held:     cycles that locks were held: the sum of elide_row_held()
 * @waits_since: time-stamp counter when the present wait of the thread began; 0: it does not wait. The row of
 *            that call has the wait only after it has ended
 * @waits_class, @waits_kind, @waits_site: that row
 * @waits_for: thread id of the lock's holder when the wait began; 0: unknown
 * @stack:    the stack of its first sampled wait, a number as in struct elide_sample; 0: none
 * @lived, @ran, @late: nanoseconds for which the thread existed, was on a processor, and was ready to run
 *            without one, up to its last sample: struct elide_account; written by the launcher at the end of the
 *            process; 0: not sampled
 */
struct elide_thread_record {
	uint32_t state;
	uint32_t block;
	uint32_t tid;
	uint32_t nr;
	char name[16];
	uint64_t acquired;
	uint64_t elided;
	uint64_t contended;
	uint64_t wait;
	uint64_t held;
	uint64_t waits_since;
	uint64_t waits_site;
	uint32_t waits_class;
	uint32_t waits_kind;
	uint32_t waits_for;
	uint32_t stack;
	uint64_t lived;
	uint64_t ran;
	uint64_t late;
};

_Static_assert(sizeof(struct elide_thread_record) == 128, "two cache lines, which no other thread writes");

enum elide_span_type {
	ELIDE_SPAN_NONE, /* the record is not in use */
	ELIDE_SPAN_WAIT,
	ELIDE_SPAN_HOLD,
	ELIDE_SPAN_ABORT, /* an attempt that aborted; in chunks of their own, which older readers skip */
	ELIDE_SPAN_END   /* one more than the last */
};

/* Records of each type, at most. */
#define ELIDE_MAX_SPANS 2016

/**
 * struct elide_span - a wait, a hold or an aborted attempt that was sampled, with its time.
 *
 * A thread makes a record each time that its waits, its measured holds, or its measured aborted attempts
 * add up to some number of cycles. So the probability to be sampled is proportional to the length, and each
 * record stands for @weight cycles. When there is no room for more, that number is doubled, and every second
 * one of the records that stand for less is removed. A record that is not in use has the @type
 * ELIDE_SPAN_NONE.
 *
 * @class_index, @kind, @site: the row
 * @type:   enum elide_span_type
 * @time:   time-stamp counter at its end
 * @cycles: its length
 * @weight: cycles of waits, or of measured holds or aborted attempts, for which it stands
 * @block:  block of the thread, see struct elide_thread_record; for an aborted attempt enum elide_cause
 * @tid:    the thread
 */
struct elide_span {
	uint32_t class_index;
	uint16_t kind;
	uint16_t type;
	uint64_t site;
	uint64_t time;
	uint64_t cycles;
	uint64_t weight;
	uint32_t block;
	uint32_t tid;
};

_Static_assert(sizeof(struct elide_span) == 48, "fixed layout");

enum elide_misuse_type {
	ELIDE_MISUSE_UNLOCK_FREE = 1, /* unlock of a lock that no thread holds */
	ELIDE_MISUSE_UNLOCK_FOREIGN,  /* unlock by a thread that does not hold it */
	ELIDE_MISUSE_DESTROY_HELD,    /* destroy of a held lock */
	ELIDE_MISUSE_RELOCK,          /* lock of a non-recursive lock that the thread holds */
	ELIDE_MISUSE_EXIT_HELD,       /* a thread ended holding the lock; the site locked it */
	ELIDE_MISUSE_OWNER_DIED,      /* EOWNERDEAD: the holder of a robust mutex ended; the site is the next */
	ELIDE_MISUSE_NOT_RECOVERABLE, /* ENOTRECOVERABLE: nobody called pthread_mutex_consistent() after that */
	ELIDE_MISUSE_END              /* one more than the last */
};

/**
 * struct elide_misuse - one kind of misuse at one place.
 * @type:  enum elide_misuse_type
 * @tid:   of ELIDE_MISUSE_OWNER_DIED the first owner that died, 0 if it is not known; ids have 22 bits
 * @kind:  enum elide_kind of the lock
 * @class: class of the first lock that was misused + 1, 0 if it is not known
 * @site:  return address of the call
 * @lock:  address of the first lock that was misused
 * @count: times that it happened
 */
struct elide_misuse {
	uint32_t type : 8;
	uint32_t tid : 24;
	uint16_t kind;
	uint16_t class;
	uint64_t site;
	uint64_t lock;
	uint64_t count;
};

/* Locks in a cycle, at most. */
#define ELIDE_ORDER_EDGES 8

/* elide_order.flags */
#define ELIDE_ORDER_LOCKS 1u

/**
 * struct elide_order_edge - a thread acquired a lock while it held another one.
 * @class_index: class of the held lock
 * @tid:         first thread that did so
 * @held_kind, @taken_kind: enum elide_kind of the two acquisitions
 * @held_site:   return address of the call that acquired the held lock
 * @taken_site:  return address of the call that acquired the other one
 */
struct elide_order_edge {
	uint32_t class_index;
	uint32_t tid;
	uint32_t held_kind;
	uint32_t taken_kind;
	uint64_t held_site;
	uint64_t taken_site;
};

/**
 * struct elide_order - locks that were acquired in a cycle.
 * @nr_edges: edges in @edges, at least 2
 * @flags:    ELIDE_ORDER_LOCKS: each edge acquires the very lock that the next one holds
 * @edges:    each acquires a lock of the class that the next one holds; the last one a lock of the
 *            class that the first one holds
 */
struct elide_order {
	uint32_t nr_edges;
	uint32_t flags;
	struct elide_order_edge edges[ELIDE_ORDER_EDGES];
};

#endif

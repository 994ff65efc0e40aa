/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * datafile.h - the format of elide.data, shared by its writer and its readers.
 *
 * The file is a shared mapping of the running process: what was counted is
 * in it whatever becomes of the process. It is a header of one page followed
 * by chunks of ELIDE_CHUNK_SIZE bytes, each holding records of one type.
 * Chunks are never moved, freed or reused for another type. Everything is
 * little-endian; times are cycles of the time-stamp counter unless the name
 * says otherwise. See elide-data(5).
 *
 * Must never hold a pointer that a reader would have to follow.
 */
#ifndef ELIDE_DATAFILE_H
#define ELIDE_DATAFILE_H

#include <stdint.h>

#define ELIDE_DATA_MAGIC   0x4154414445444c45ull /* "ELDEDATA" */
#define ELIDE_DATA_VERSION 1
#define ELIDE_HEADER_SIZE  8192
#define ELIDE_CHUNK_SIZE   16384
#define ELIDE_CHUNK_MAGIC  0x4b4e4843u /* "CHNK" */

/* Abort causes, in the order of aborts.def. */
enum elide_cause {
#define ELIDE_CAUSE(id, code, column, help, advice) ELIDE_CAUSE_##id,
#include "aborts.def"
#undef ELIDE_CAUSE
	ELIDE_NR_CAUSES
};

/* Room in a record, so that a new cause needs no new version. */
#define ELIDE_MAX_CAUSES 24

enum elide_kind {
	ELIDE_KIND_NONE,
	ELIDE_KIND_MUTEX,
	ELIDE_KIND_RWLOCK_READ,
	ELIDE_KIND_RWLOCK_WRITE,
	ELIDE_KIND_SPIN,
	ELIDE_KIND_CUSTOM,
	ELIDE_NR_KINDS
};

/* What the library does in this process: header.mode. */
enum elide_run_mode {
	ELIDE_RUN_OFF,
	ELIDE_RUN_PROFILE,
	ELIDE_RUN_ELIDE,
};

/* header.rtm */
enum elide_rtm {
	ELIDE_RTM_NONE,
	ELIDE_RTM_HARDWARE,
	ELIDE_RTM_EMULATED,
};

/* header.state */
enum elide_file_state {
	ELIDE_FILE_LIVE = 1, /* the process runs, or was killed */
	ELIDE_FILE_CLOSED,   /* the process ended through exit() */
};

/* Calls that elide cannot count, header.dropped[]. */
enum elide_dropped {
	ELIDE_DROPPED_LOCKS,   /* acquisitions of locks beyond MAX_LOCKS */
	ELIDE_DROPPED_CLASSES, /* locks of classes beyond MAX_CLASSES */
	ELIDE_DROPPED_THREADS, /* threads beyond MAX_THREADS */
	ELIDE_DROPPED_ROWS,    /* (class, site) pairs beyond a thread's table, or the file is full */
	ELIDE_DROPPED_MODULES, /* objects beyond the room for them */
	ELIDE_DROPPED_ORDERS,  /* locks held, orders and circles beyond the room for them */
	ELIDE_DROPPED_STACKS,  /* sampled stacks beyond the room for them */
	ELIDE_DROPPED_DETAILS, /* sampled aborts and waits of which the room is full */
	ELIDE_DROPPED_EVENTS,  /* decisions of the policy beyond the room for the timeline */
	ELIDE_NR_DROPPED
};

#define ELIDE_MAX_DROPPED 16

/**
 * struct elide_header - the first page of the file.
 * @size:            bytes of the file that hold header and chunks; grows
 * @state:           enum elide_file_state
 * @pid:             process that writes; its start time is in @pid_start
 * @pid_start:       field 22 of /proc/PID/stat, so that a reused pid is told apart
 * @run:             identifies the processes of one elide run, 0 without launcher
 * @mode:            enum elide_run_mode
 * @rtm:             enum elide_rtm
 * @exit_status:     as of wait(2), written by the launcher; -1 unknown
 * @start_realtime_ns: CLOCK_REALTIME at start
 * @start_ns, @start_cycles: CLOCK_MONOTONIC and time-stamp counter at start
 * @end_ns, @end_cycles: the same at exit; of a process that runs or was killed, at
 *                   some time before
 * @rtm_off:         1 when elision was switched off: nothing committed, or glibc elides
 * @nr_threads:      threads seen in all
 * @dropped:         by enum elide_dropped
 * @cores:           cores of the emulated machine, else processors that are online
 * @sample_period:   one in so many first attempts has its cycles measured natively
 * @control:         enum elide_control, see elide-ctl(1)
 * @exe, @args:      path, and the arguments each ended by a NUL, @args_len bytes
 * @why:             why @mode is what it is, in words
 * @policy:          name of the policy
 * @model:           name of the emulated machine; empty on a real one, as the next four
 * @smt, @sockets:   its hardware threads of a core, and sockets
 * @mhz:             its clock; all times are cycles of it
 * @changes:         numbers of it that differ from the model's, NUMBER=VALUE,...
 */
struct elide_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_size;
	uint32_t chunk_size;
	uint32_t state;
	uint64_t size;
	uint32_t pid;
	uint32_t mode;
	uint32_t rtm;
	int32_t exit_status;
	uint64_t pid_start;
	uint64_t run;
	uint64_t start_realtime_ns;
	uint64_t start_ns;
	uint64_t start_cycles;
	uint64_t end_ns;
	uint64_t end_cycles;
	uint32_t rtm_off;
	uint32_t nr_threads;
	uint32_t cores;
	uint32_t sample_period;
	uint64_t dropped[ELIDE_MAX_DROPPED];
	uint32_t args_len;
	uint32_t control;
	char policy[32];
	char model[32];
	char why[256];
	char exe[1024];
	char args[4096];
	uint32_t smt;
	uint32_t sockets;
	uint32_t mhz;
	uint32_t reserved;
	char changes[256];
};

_Static_assert(sizeof(struct elide_header) <= ELIDE_HEADER_SIZE, "the header is one unit");

/* header.control: the one word that others than the process write. */
enum elide_control {
	ELIDE_CONTROL_NONE,
	ELIDE_CONTROL_OFF, /* elide nothing for the time being */
};

enum elide_chunk_type {
	ELIDE_CHUNK_MODULES = 1,
	ELIDE_CHUNK_CLASSES,
	ELIDE_CHUNK_ROWS,
	ELIDE_CHUNK_MISUSE,
	ELIDE_CHUNK_ORDER,
	ELIDE_CHUNK_STACKS,
	ELIDE_CHUNK_SAMPLES,
	ELIDE_CHUNK_DETAILS,
	ELIDE_CHUNK_BLAME,
	ELIDE_CHUNK_TIMELINE,
	ELIDE_CHUNK_COUNTERS,
};

/**
 * struct elide_chunk - header of a chunk, its records follow.
 * @magic:       ELIDE_CHUNK_MAGIC; 0 for a chunk not yet in use
 * @type:        enum elide_chunk_type; a reader skips types it does not know
 * @record_size: bytes of a record
 * @nr_records:  complete records; raised after a record is filled
 */
struct elide_chunk {
	uint32_t magic;
	uint16_t type;
	uint16_t record_size;
	uint32_t nr_records;
	uint32_t reserved[13];
};

_Static_assert(sizeof(struct elide_chunk) == 64, "records begin on a cache line");

/**
 * struct elide_module - an object mapped into the process.
 * @base:     load bias: run-time address minus address in the object
 * @start, @end: range of its mapping
 * @build_id: of @build_id_len bytes, 0 if it has none
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

/* What a lock class is named after. */
enum elide_class_type {
	ELIDE_CLASS_INIT = 1, /* address: return address of the call that initialised the lock */
	ELIDE_CLASS_STATIC,   /* address: the lock itself, or the array, inside an object's data */
	ELIDE_CLASS_FIRST,    /* address: return address of the first call that locked it */
};

/**
 * struct elide_class - a lock class.
 * @type:     enum elide_class_type
 * @kind:     of the locks: ELIDE_KIND_MUTEX, _SPIN, _CUSTOM, or _RWLOCK_READ for a rwlock
 * @address:  see the types
 * @nr_locks: locks of the class registered so far
 * @array:    bytes of the array they lie in, at most 2^32 - 1; 0 if they are in none
 * @nr_shared: of @nr_locks, those that more than one thread of the process has locked, at most
 *            2^32 - 1; a thread that begins after another has ended may count as the same one
 */
struct elide_class {
	uint32_t type;
	uint32_t kind;
	uint64_t address;
	uint64_t nr_locks;
	uint32_t array;
	uint32_t nr_shared;
};

/**
 * struct elide_times - a distribution in four numbers, cycles.
 * @count: measurements
 */
struct elide_times {
	uint64_t count;
	uint64_t total;
	uint64_t min;
	uint64_t max;
};

/* What was last decided about a row's locks: elide_row.state. */
enum elide_row_state {
	ELIDE_STATE_PROFILED, /* not elided by mode, kind or rule */
	ELIDE_STATE_ELIDING,
	ELIDE_STATE_PAUSED,   /* the policy has stopped trying for a while */
	ELIDE_STATE_OFF,      /* cannot be elided: robust, PI, process-shared, or a rule says off */
};

/**
 * struct elide_row - counters of one thread, lock class, call site and kind.
 *
 * Only the owning thread writes a row, with plain adds outside transactions;
 * a reader sums the rows of equal (class, site, kind). Each counter counts
 * one thing; what follows from them is not stored, so that the sums below
 * hold whenever the process was killed:
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
 * @not_attempted: taken really without trying
 * @fallback:      taken really after one or more aborts
 * @commits:       elided, as the outermost section
 * @nested:        elided, inside another elided section
 * @contended:     real acquisitions that found the lock held
 * @wasted_cycles: in aborted attempts; sampled and scaled natively, exact when emulated
 * @wait:          time to get the real lock, of the @contended ones
 * @hold:          sampled time from acquisition to release
 * @causes:        aborts by enum elide_cause
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
	uint64_t wasted_cycles;

	struct elide_times wait;
	struct elide_times hold;
	uint64_t causes[ELIDE_MAX_CAUSES];
};

_Static_assert(sizeof(struct elide_row) == 320, "five cache lines");

static inline uint64_t elide_row_elided(const struct elide_row *row)
{
	return row->commits + row->nested;
}

static inline uint64_t elide_row_acquired(const struct elide_row *row)
{
	return elide_row_elided(row) + row->fallback + row->not_attempted;
}

static inline uint64_t elide_row_aborts(const struct elide_row *row)
{
	uint64_t sum = 0;

	for (int i = 0; i < ELIDE_MAX_CAUSES; i++)
		sum += row->causes[i];
	return sum;
}

enum elide_misuse_type {
	ELIDE_MISUSE_UNLOCK_FREE = 1, /* unlock of a lock nobody holds */
	ELIDE_MISUSE_UNLOCK_FOREIGN,  /* unlock by a thread that does not hold it */
	ELIDE_MISUSE_DESTROY_HELD,    /* destroy of a held lock */
	ELIDE_MISUSE_RELOCK,          /* lock of a non-recursive lock the thread holds */
	ELIDE_MISUSE_EXIT_HELD,       /* a thread ended and holds the lock; the site locked it */
	ELIDE_MISUSE_END              /* one more than the last */
};

/**
 * struct elide_misuse - one kind of misuse at one place.
 * @type:  enum elide_misuse_type
 * @kind:  enum elide_kind of the lock
 * @class: class of the first lock it happened to + 1, 0 if that is not known
 * @site:  return address of the call
 * @lock:  address of the first lock it happened to
 * @count: how often
 */
struct elide_misuse {
	uint32_t type;
	uint16_t kind;
	uint16_t class;
	uint64_t site;
	uint64_t lock;
	uint64_t count;
};

/* Locks of a circle, at most. */
#define ELIDE_ORDER_EDGES 8

/**
 * struct elide_order_edge - a lock was taken while another was held.
 * @class_index: class of the lock that was held
 * @tid:         first thread that did so
 * @held_kind, @taken_kind: enum elide_kind of the two acquisitions
 * @held_site:   return address of the call that took the lock that was held
 * @taken_site:  of the call that took the other one
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
 * struct elide_order - locks that were taken in a circle.
 * @nr_edges: of @edges, at least 2
 * @edges:    each takes a lock of the class that the next one holds, the last of the first's
 *
 * Where all are of one class it is the locks themselves that make the circle.
 */
struct elide_order {
	uint32_t nr_edges;
	uint32_t reserved;
	struct elide_order_edge edges[ELIDE_ORDER_EDGES];
};

/* Frames of a stack, at most: what is further out is cut off. */
#define ELIDE_STACK_FRAMES 31


/**
 * struct elide_stack - where a thread was; each stack is in the file once.
 * @frames: return addresses, the innermost call first; but for the innermost frame of a stack
 *          taken at an instruction, which is that instruction: @exact is 1 then
 *
 * Other records name a stack by its index in file order + 1, 0 for none.
 */
struct elide_stack {
	uint16_t nr_frames;
	uint16_t exact;
	uint32_t reserved;
	uint64_t frames[ELIDE_STACK_FRAMES];
};

_Static_assert(sizeof(struct elide_stack) == 256, "fixed layout");

/* What the stack of a sample shows. */
enum elide_sample_type {
	ELIDE_SAMPLE_ABORT = 1, /* the lock call whose attempt aborted; cycles are those wasted */
	ELIDE_SAMPLE_WAIT,      /* the lock call that found the lock held; cycles waited: the blockee */
	ELIDE_SAMPLE_BLOCK,     /* the unlock call of a lock that others waited for: the blocker;
				 * the site is the call that took it, cycles 0
				 */
	ELIDE_SAMPLE_END        /* one more than the last */
};

/**
 * struct elide_sample - a stack of a row, sampled.
 * @class_index, @kind, @site: the row
 * @type:    enum elide_sample_type
 * @stack:   see struct elide_stack
 * @samples: times it was met
 * @count:   events these stand for
 * @cycles:  of these
 */
struct elide_sample {
	uint32_t class_index;
	uint16_t kind;
	uint16_t type;
	uint64_t site;
	uint32_t stack;
	uint32_t samples;
	uint64_t count;
	uint64_t cycles;
};

/* Who says what a detail says. */
enum elide_detail_source {
	ELIDE_DETAIL_STATUS = 1, /* the status word alone */
	ELIDE_DETAIL_EMULATOR,   /* rtmgrind: exact */
	ELIDE_DETAIL_PMU,        /* PEBS sample of the abort: own_pc and cause are exact */
	ELIDE_DETAIL_HINT,       /* of no abort: own_pc, in a section of the row under the real lock,
				  * loaded @line, which another core had modified; count is 0
				  */
	ELIDE_DETAIL_END         /* one more than the last */
};

/* What lies at the line of a detail. */
enum elide_data_type {
	ELIDE_DATA_UNKNOWN,
	ELIDE_DATA_STATIC, /* in an object: a symbol names it */
	ELIDE_DATA_HEAP,   /* in the block data_base, data_size, allocated at alloc_stack if that is known */
	ELIDE_DATA_STACK,  /* of a thread */
	ELIDE_DATA_LOCK,   /* the lock itself: the line holds its word */
	ELIDE_DATA_END     /* one more than the last */
};

/**
 * struct elide_detail - aborts of a row that came about in the same way.
 * @class_index, @kind, @site: the row
 * @cause:       enum elide_cause
 * @source:      enum elide_detail_source
 * @data_type:   enum elide_data_type
 * @other_write: the other access was a write
 * @samples:     aborts looked at, of a hint loads
 * @count:       aborts these stand for, of a hint none
 * @cycles:      wasted in these
 * @own_pc:      instruction of this thread: its first access to @line, or the one that aborted
 * @other_pc:    the other thread's instruction, 0 if there is none
 * @other_site:  lock call of the section the other thread was in, 0 if it was in none
 * @other_class: class of that lock + 1, 0 if it was in none
 * @other_kind:  enum elide_kind of that call
 * @line:        address of the cache line, 0 if there is none; in the first abort of these
 * @own_bytes, @other_bytes: bytes of the line that each touched, a bit each; of all @samples
 * @data_base, @data_size: heap block that holds the line's first touched byte, 0 if there is none
 * @own_stack:   of the lock call
 * @abort_stack: of the instruction that aborted, for causes inside this thread
 * @other_stack: of @other_pc
 * @alloc_stack: that allocated the block
 * @syscall_nr:  -1 if there is none
 * @signal:      of a fault: 0 for one the system mends (a page touched first), else the signal
 *               it would have raised
 * @fault_addr:  address that faulted
 * @read_lines, @write_lines: of the first, and the largest of @samples
 * @cache_set:   set of the first-level cache that overflowed, @cache_ways of it needed;
 *               @cache_ways is 0 if it is not known, or not a set alone was too small
 * @lock:        address of the lock, of the first
 * @own_written, @other_written: of @own_bytes and @other_bytes, those that were written
 */
struct elide_detail {
	uint32_t class_index;
	uint16_t kind;
	uint16_t cause;
	uint64_t site;
	uint16_t source;
	uint16_t data_type;
	uint16_t other_write;
	uint16_t other_kind;
	uint32_t other_class;
	uint32_t samples;
	uint64_t count;
	uint64_t cycles;
	uint64_t own_pc;
	uint64_t other_pc;
	uint64_t other_site;
	uint64_t line;
	uint64_t own_bytes;
	uint64_t other_bytes;
	uint64_t data_base;
	uint64_t data_size;
	uint32_t own_stack;
	uint32_t abort_stack;
	uint32_t other_stack;
	uint32_t alloc_stack;
	int32_t syscall_nr;
	uint32_t signal;
	uint64_t fault_addr;
	uint32_t read_lines;
	uint32_t write_lines;
	uint32_t max_read_lines;
	uint32_t max_write_lines;
	uint32_t cache_set;
	uint32_t cache_ways;
	uint64_t lock;
	uint64_t own_written;
	uint64_t other_written;
};

_Static_assert(sizeof(struct elide_detail) == 192, "fixed layout");

enum elide_blame_type {
	ELIDE_BLAME_ABORT = 1, /* a speculator found the lock really held, or was aborted by its
				* being taken
				*/
	ELIDE_BLAME_INNER,     /* it found another lock really held, that it took inside its section:
				* held_class is that lock's; natively it is not known, and ~0
				*/
	ELIDE_BLAME_WAIT,      /* a real acquisition found the lock held, and waited */
	ELIDE_BLAME_END        /* one more than the last */
};

/**
 * struct elide_blame - who held a lock that another call found held.
 * @class_index, @kind, @site: the row that aborted or waited
 * @type:        enum elide_blame_type
 * @held_class:  class of the lock that was held
 * @held_kind:   enum elide_kind of the call that had taken it; ELIDE_KIND_NONE if not known
 * @held_site:   that call, 0 if not known
 * @samples:     times it was met
 * @count:       aborts or waits these stand for
 * @cycles:      wasted or waited in these
 */
struct elide_blame {
	uint32_t class_index;
	uint16_t kind;
	uint16_t type;
	uint64_t site;
	uint32_t held_class;
	uint16_t held_kind;
	uint16_t reserved;
	uint64_t held_site;
	uint64_t samples;
	uint64_t count;
	uint64_t cycles;
};

enum elide_event_type {
	ELIDE_EVENT_PAUSED = 1, /* the policy stops trying; a: acquisitions to forgo, 0 until found better */
	ELIDE_EVENT_RESUMED,    /* and tries again, having probed; a: 0 */
	ELIDE_EVENT_OFF,        /* elision is switched off for the whole process; no row */
	ELIDE_EVENT_CHOSE,      /* the adaptive policy has compared two ways; a: 1 if the new one is better */
	ELIDE_EVENT_END         /* one more than the last */
};

/**
 * struct elide_event - a decision of the policy.
 * @time:   time-stamp counter
 * @class_index, @kind, @site: the row that decided
 * @type:   enum elide_event_type
 * @lock:   address of the lock
 * @a:      see the types
 * @tries, @fails: what it was decided on: acquisitions tried in the window; those that fell
 *          back, weighted
 * @arm, @before: of the adaptive policy: number in arms.def of the way that was compared, and
 *          of the one that was in use
 * @ratio:  logarithm of the sections per time with the one by those with the other, in 1/1000
 * @confidence: that its sign is right, in 1/1000
 * @pairs:  measurements of each; 0 where nothing was measured, because nothing could be elided
 *
 * Of a decision about all call sites of a class, @site is 0, and @kind that of the first. Of the
 * adaptive policy's, @lock is 0 but for a single lock that has become hot.
 */
struct elide_event {
	uint64_t time;
	uint32_t class_index;
	uint16_t kind;
	uint16_t type;
	uint64_t site;
	uint64_t lock;
	uint64_t a;
	uint32_t tries;
	uint32_t fails;
	uint16_t arm;
	uint16_t before;
	int32_t ratio;
	uint32_t confidence;
	uint32_t pairs;
};

_Static_assert(sizeof(struct elide_event) == 64, "one cache line");

/* Who counted. */
enum elide_counter_source {
	ELIDE_COUNTER_PMU = 1, /* the processor's counters, by perf_event_open(2) */
	ELIDE_COUNTER_PCM,     /* pcm-tsx; of the whole machine */
	ELIDE_COUNTER_END      /* one more than the last */
};

/**
 * struct elide_counter - a hardware counter over the run, written by the launcher at its end.
 * @source:  enum elide_counter_source
 * @value:   scaled to the whole run
 * @enabled_ns, @running_ns: time it should have counted, and time it did
 * @name:    of the event
 */
struct elide_counter {
	uint32_t source;
	uint32_t reserved;
	uint64_t value;
	uint64_t enabled_ns;
	uint64_t running_ns;
	char name[64];
};

#endif

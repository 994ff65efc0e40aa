/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * datafile.h - the format of elide.data, shared by its writer and its readers.
 *
 * The file is a shared mapping of the running process: what was counted is in it even if the
 * process is killed. It is a header of ELIDE_HEADER_SIZE bytes, followed by chunks of
 * ELIDE_CHUNK_SIZE bytes, each with records of one type. Chunks are never moved, freed or reused
 * for another type. Everything is little-endian; times are cycles of the time-stamp counter unless
 * the name says otherwise. See elide-data(5).
 *
 * While its process runs, the file that is to be NAME is called .NAME.live: live-name.h. row-sums.h computes
 * sums from a row.
 *
 * Must never hold a pointer that a reader would have to follow. One header, as it is one format with one
 * version.
 */
#ifndef ELIDE_DATAFILE_H
#define ELIDE_DATAFILE_H

#include <stddef.h>
#include <stdint.h>

#define ELIDE_DATA_MAGIC   0x4154414445444c45ull /* "ELDEDATA" */
/* The only version that readers accept: no older one was released. */
#define ELIDE_DATA_VERSION 7
#define ELIDE_HEADER_SIZE  8192
/* A page: each thread has a chunk of rows of its own, and most threads have few rows. */
#define ELIDE_CHUNK_SIZE   4096
#define ELIDE_CHUNK_MAGIC  0x4b4e4843u /* "CHNK" */

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

/* What became of the file of ELIDE_LEARNED, in the order of learned.def: header.learned_state. */
enum elide_learned {
#define ELIDE_LEARNED(id, help) ELIDE_LEARNED_##id,
#include "learned.def"
#undef ELIDE_LEARNED
	ELIDE_NR_LEARNED
};

/*
 * The kinds from ELIDE_KIND_COND on are not locks that a thread holds, but calls in which it waits for
 * another thread. They are never elided.
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
	ELIDE_NR_KINDS
};

/** elide_kind_is_lock() - is it a lock that a thread holds, and not a call that waits? */
static inline int elide_kind_is_lock(unsigned int kind)
{
	return kind < ELIDE_KIND_COND;
}

/* What the library does in this process: header.mode. */
enum elide_run_mode {
	ELIDE_RUN_OFF,
	ELIDE_RUN_PROFILE,
	ELIDE_RUN_ELIDE,
	ELIDE_RUN_RESTRICT, /* the policy has only the arms that make no attempt */
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

/* What found no room: header.dropped[]. */
enum elide_dropped {
	ELIDE_DROPPED_LOCKS,   /* locks beyond MAX_LOCKS, which are counted by call site alone */
	ELIDE_DROPPED_CLASSES, /* locks of classes beyond 4096, which are counted by call site alone */
	ELIDE_DROPPED_THREADS, /* threads beyond MAX_THREADS */
	ELIDE_DROPPED_ROWS,    /* (class, site) pairs beyond a thread's table, or the file is full */
	ELIDE_DROPPED_MODULES, /* objects beyond the room for them */
	ELIDE_DROPPED_ORDERS,  /* locks held, orders and cycles beyond the room for them */
	ELIDE_DROPPED_STACKS,  /* sampled stacks beyond the room for them */
	ELIDE_DROPPED_DETAILS, /* samples of aborts and waits beyond the room for their records */
	ELIDE_DROPPED_EVENTS,  /* decisions of the policy beyond the room for the timeline */
	ELIDE_DROPPED_PROCESSES, /* forked processes that could not write a file of their own */
	ELIDE_DROPPED_CROWDS,  /* acquisitions not restricted, without room for their lock or to park them */
	ELIDE_DROPPED_FILES,   /* files of child processes beyond MAX_FILES that this process removed */
	ELIDE_DROPPED_FILTER,  /* acquisitions not looked up under a seccomp filter */
	ELIDE_NR_DROPPED
};

#define ELIDE_MAX_DROPPED 16

/* The header counts the chunks of types below this number. */
#define ELIDE_MAX_CHUNK_TYPES 32

/* Tags of the words of struct elide_inspect. */
#define ELIDE_INSPECT_HOT  0x7f00u
#define ELIDE_INSPECT_GONE 0x8000u

/**
 * struct elide_inspect - where a running process keeps what it knows of its locks.
 *
 * For elide-stacks(1), which reads the memory of the process; a reader of the file does not need it.
 * Addresses are those of the process; offsets and sizes are in bytes. All 0 in a file of an older library,
 * and if the process has no such tables.
 *
 * @size:      bytes of this structure as the process knows it
 * @locks:     address of: 64 bits that a reader does not need, the address of a table, and the classes of
 *             the tags from ELIDE_INSPECT_HOT on, 16 bits each
 * @lock_words: in a table: its words, 64 bits each: address of a lock + (tag << @tag_shift). The tag is the
 *             index of its class, or from ELIDE_INSPECT_HOT on; ELIDE_INSPECT_GONE is added once the lock is
 *             destroyed. Words with an address of 0 are not in use. A table begins with the number of its
 *             words, 32 bits, 32 bits that are not used, and the address of the next table or 0
 * @threads:   address of the address of the first thread's block
 * @next, @tid: in a block: address of the next block; thread id, 32 bits, 0 if the thread has ended
 * @waits:     in a block: address of the lock for which the thread waits, or 0; then address of the call's
 *             struct elide_row
 * @row_site, @row_kind: in a row: return address of the call, and 16 bits of enum elide_kind
 * @nr_held:   in a block: number of locks held, 8 bits; always 0 unless ELIDE_ORDER=1
 * @held:      in a block: these locks, of @held_size: address of the lock, return address of the call,
 *             32 bits of class index, 32 bits of enum elide_kind
 * @holder:    by enum elide_kind: in a lock, the thread id of its holder, 32 bits; 0: there is none
 */
struct elide_inspect {
	uint32_t size;
	uint32_t tag_shift;
	uint32_t unused;
	uint32_t held_size;
	uint64_t locks;
	uint64_t lock_words;
	uint64_t threads;
	uint32_t next;
	uint32_t tid;
	uint32_t waits;
	uint32_t row_site;
	uint32_t row_kind;
	uint32_t nr_held;
	uint32_t held;
	uint32_t holder[16];
};

/**
 * struct elide_header - the header of the file.
 * @size:            bytes of the file that hold header and chunks; grows
 * @state:           enum elide_file_state
 * @pid:             process that writes; its start time is in @pid_start
 * @pid_start:       field 22 of /proc/PID/stat, which differs in a process that reuses @pid
 * @run:             identifies the processes of one elide run; 0 without launcher
 * @mode:            enum elide_run_mode
 * @rtm:             enum elide_rtm
 * @exit_status:     status of wait(2), written by the launcher; -1: unknown
 * @start_realtime_ns: CLOCK_REALTIME at start
 * @start_ns, @start_cycles: CLOCK_MONOTONIC and time-stamp counter at start
 * @end_ns, @end_cycles: both at exit; while the process runs, or if it was killed, at some earlier time
 * @rtm_off:         1 when elision was switched off: nothing committed, or glibc elides
 * @nr_threads:      threads that have called a lock function
 * @dropped:         by enum elide_dropped
 * @cores:           cores of the emulated machine, else online processors
 * @sample_period:   N: on a processor one in N first attempts has its cycles measured
 * @control:         enum elide_control, see elide-ctl(1)
 * @exe:             path of the program
 * @args:            its arguments, each ended by a NUL, @args_len bytes in all
 * @why:             why @mode is what it is, in words
 * @policy:          name of the policy
 * @model:           name of the emulated machine; empty on a processor, as are the next four
 * @smt, @sockets:   hardware threads of each core, and sockets, of the emulated machine
 * @mhz:             its clock; all times are cycles of it
 * @changes:         its numbers that differ from the model's, NUMBER=VALUE,...
 * @lost_error:      errno of the last process counted in @dropped as ELIDE_DROPPED_PROCESSES
 * @inspect:         for a reader of the memory of the running process
 * @learned_state:   enum elide_learned: what became of the file of ELIDE_LEARNED
 * @learned_classes, @learned_sites: classes and call sites that began with what that file has
 * @args_left_out:   1 if @args has only the first one, by which the program was called
 * @filter:          1: the process has installed a seccomp filter, after which no system call was made
 * @learned:         name of the file of ELIDE_LEARNED, cut to fit
 * @unsaid:          the last line that could not be written to standard error without harm, cut to fit
 * @nr_unsaid:       number of such lines
 * @host:            name of the machine, from uname(2)
 * @nr_chunks:       chunks by enum elide_chunk_type, counted after @size has grown
 * @nr_records:      records by enum elide_chunk_type, each counted after its chunk has counted it
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
	int32_t lost_error;
	char changes[256];
	struct elide_inspect inspect;
	uint32_t learned_state;
	uint32_t learned_classes;
	uint32_t learned_sites;
	uint32_t args_left_out;
	uint32_t filter;
	char learned[1024];
	char host[65];
	char unsaid[255];
	uint32_t nr_unsaid;
	uint32_t nr_chunks[ELIDE_MAX_CHUNK_TYPES];
	uint32_t nr_records[ELIDE_MAX_CHUNK_TYPES];
};

_Static_assert(sizeof(struct elide_header) <= ELIDE_HEADER_SIZE, "the header is one unit");

/* header.control: the one word that other processes write, see elide-ctl(1). */
enum elide_control {
	ELIDE_CONTROL_NONE,
	ELIDE_CONTROL_OFF, /* elide nothing until the word changes */
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
	ELIDE_CHUNK_THREADS,
	ELIDE_CHUNK_SPANS,
	ELIDE_CHUNK_SOURCES,
	ELIDE_CHUNK_ABORTS,
};

/**
 * struct elide_chunk - header of a chunk, its records follow.
 * @magic:       ELIDE_CHUNK_MAGIC, written before the header's size covers the chunk
 * @type:        enum elide_chunk_type; a reader skips types it does not know
 * @record_size: bytes of a record
 * @nr_records:  complete records; it grows after a record is written
 * @block:       of rows: number of their block, as in struct elide_thread_record; 0 if it is not known
 * @nr:          chunks of the same type before this one
 * @check:       elide_record_check() of the records, in their order, from ELIDE_CHECK_START. It is
 *               written before @nr_records, so it may cover one record more
 */
struct elide_chunk {
	uint32_t magic;
	uint16_t type;
	uint16_t record_size;
	uint32_t nr_records;
	uint32_t block;
	uint32_t nr;
	uint32_t check;
	uint32_t reserved[10];
};

_Static_assert(sizeof(struct elide_chunk) == 64, "records begin on a cache line");

/* The checksum is FNV-1a of 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
#define ELIDE_CHECK_START 2166136261u
#define ELIDE_CHECK_PRIME 16777619u

/**
 * elide_record_fixed() - bytes at the beginning of a record that do not change once it is published.
 * @type: enum elide_chunk_type of the record
 * @size: bytes of the record
 *
 * The state of a row changes but lies among bytes that do not: elide_record_check() leaves it out.
 */
static inline unsigned int elide_record_fixed(unsigned int type, unsigned int size)
{
	switch (type) {
	case ELIDE_CHUNK_MODULES:
	case ELIDE_CHUNK_ORDER:
	case ELIDE_CHUNK_STACKS:
	case ELIDE_CHUNK_TIMELINE:
	case ELIDE_CHUNK_COUNTERS:
	case ELIDE_CHUNK_SOURCES:
		return size;
	case ELIDE_CHUNK_CLASSES: /* up to address, which changes with an array of locks */
		return 8;
	case ELIDE_CHUNK_ROWS: /* up to not_attempted */
		return 16;
	case ELIDE_CHUNK_MISUSE: /* up to count */
		return 24;
	case ELIDE_CHUNK_SAMPLES: /* up to samples */
	case ELIDE_CHUNK_DETAILS: /* up to other_write */
		return 20;
	case ELIDE_CHUNK_BLAME: /* up to samples */
		return 32;
	default:
		return 0;
	}
}

/**
 * elide_record_check() - add a record to the checksum of its chunk.
 * @check: checksum of the records before it
 * @type: enum elide_chunk_type
 * @record: its @size bytes
 */
static inline uint32_t elide_record_check(uint32_t check, unsigned int type, const void *record,
					  unsigned int size)
{
	const uint8_t *bytes = (const uint8_t *)record;
	unsigned int nr = elide_record_fixed(type, size);

	for (unsigned int i = 0; i < nr; i++)
		if (type != ELIDE_CHUNK_ROWS || i != 6) /* struct elide_row.state */
			check = (check ^ bytes[i]) * ELIDE_CHECK_PRIME;
	return check;
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
	ELIDE_CLASS_FIRST,    /* address: return address of the first call that locked it */
	ELIDE_CLASS_BEYOND,   /* address: 0; locks beyond ELIDE_MAX_LOCKS or of classes beyond 4096 */
};

/**
 * struct elide_class - a lock class.
 * @type:     enum elide_class_type
 * @kind:     of the locks: ELIDE_KIND_RWLOCK_READ for a rwlock, ELIDE_KIND_MUTEX for ELIDE_KIND_REACQUIRE
 * @address:  see the types
 * @nr_locks: locks of the class registered so far
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
 * @wasted_cycles: cycles in aborted attempts; sampled and scaled on a processor, exact in the
 *                 emulator
 * @wait:          time that the @contended acquisitions waited until they had locked
 * @hold:          time from acquisition to release of sampled locked acquisitions
 * @causes:        aborts by enum elide_cause
 * @failed:        trylock and timed calls that found the lock held and did not get it
 * @wait_bins:     the measurements of @wait by elide_bin()
 * @hold_bins:     the measurements of @hold by elide_bin()
 * @parked:        acquisitions and timed calls that the arm "restrict" has parked
 * @unparked:      of these, those that are no longer parked
 * @parked_cycles: cycles that @unparked were parked; they are in @wait as well
 * @spare:         0
 *
 * In rows of kinds that are no locks, an acquisition is a wait that has ended as the caller wanted: the
 * condition variable was signalled, the semaphore had a unit left, all have arrived at the barrier, the
 * mutex is locked again. It is in @not_attempted, and in @contended if the thread had to wait. Nothing is
 * held, so @hold is empty. @failed has the waits that timed out, and sem_trywait() calls that found no unit.
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
	uint64_t failed;
	uint32_t wait_bins[ELIDE_NR_BINS];
	uint32_t hold_bins[ELIDE_NR_BINS];
	uint64_t parked;
	uint64_t unparked;
	uint64_t parked_cycles;
	uint64_t spare[5];
};

_Static_assert(sizeof(struct elide_row) == 640, "ten cache lines");
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
	uint64_t reserved;
};

_Static_assert(sizeof(struct elide_thread_record) == 80, "fixed layout");

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
	ELIDE_MISUSE_END              /* one more than the last */
};

/**
 * struct elide_misuse - one kind of misuse at one place.
 * @type:  enum elide_misuse_type
 * @kind:  enum elide_kind of the lock
 * @class: class of the first lock that was misused + 1, 0 if it is not known
 * @site:  return address of the call
 * @lock:  address of the first lock that was misused
 * @count: times that it happened
 */
struct elide_misuse {
	uint32_t type;
	uint16_t kind;
	uint16_t class;
	uint64_t site;
	uint64_t lock;
	uint64_t count;
};

/* Locks in a cycle, at most. */
#define ELIDE_ORDER_EDGES 8

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
 * @edges:    each acquires a lock of the class that the next one holds; the last one a lock of the
 *            class that the first one holds
 *
 * If all edges are of one class, each acquires the very lock that the next one holds.
 */
struct elide_order {
	uint32_t nr_edges;
	uint32_t reserved;
	struct elide_order_edge edges[ELIDE_ORDER_EDGES];
};

/* Frames of a stack, at most: outer ones are cut off. */
#define ELIDE_STACK_FRAMES 31

/**
 * struct elide_stack - a stack of calls; each stack is in the file once.
 * @nr_frames: frames in @frames
 * @exact:  1 if the innermost frame is the address of an instruction; 0 if it is a return address
 * @frames: return addresses, the innermost first
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
	ELIDE_SAMPLE_ABORT = 1, /* the lock call whose attempt aborted; cycles wasted */
	ELIDE_SAMPLE_WAIT,      /* the lock call that found the lock held; cycles waited */
	ELIDE_SAMPLE_BLOCK,     /* the unlock call of a lock for which others waited; the site is the
				 * call that locked it, cycles are 0
				 */
	ELIDE_SAMPLE_END        /* one more than the last */
};

/**
 * struct elide_sample - sampled events of a row with one stack.
 * @class_index, @kind, @site: the row
 * @type:    enum elide_sample_type
 * @stack:   number of the stack, see struct elide_stack
 * @samples: events that were sampled
 * @count:   events for which these count
 * @cycles:  cycles for which these count
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

/* Source of a detail. */
enum elide_detail_source {
	ELIDE_DETAIL_STATUS = 1, /* the status word alone */
	ELIDE_DETAIL_EMULATOR,   /* rtmgrind: exact */
	ELIDE_DETAIL_PMU,        /* PEBS sample of the abort: own_pc and cause are exact */
	ELIDE_DETAIL_HINT,       /* no abort: in a locked section of the row the instruction own_pc
				  * loaded @line, which another core had modified; count is 0
				  */
	ELIDE_DETAIL_END         /* one more than the last */
};

/* What is in the line of a detail. */
enum elide_data_type {
	ELIDE_DATA_UNKNOWN,
	ELIDE_DATA_STATIC, /* in an object: a symbol names it */
	ELIDE_DATA_HEAP,   /* on the heap; data_base, data_size, alloc_stack: its block, if known */
	ELIDE_DATA_STACK,  /* on the stack of a thread */
	ELIDE_DATA_LOCK,   /* the lock itself: its word is in the line */
	ELIDE_DATA_END     /* one more than the last */
};

/**
 * struct elide_detail - aborts of a row that came about in the same way.
 * @class_index, @kind, @site: the row
 * @cause:       enum elide_cause
 * @source:      enum elide_detail_source
 * @data_type:   enum elide_data_type
 * @other_write: the other access was a write
 * @samples:     aborts that were sampled; of a hint, loads
 * @count:       aborts for which these count; of a hint, 0
 * @cycles:      wasted cycles for which these count
 * @own_pc:      instruction of this thread: its first access to @line, or the one that aborted
 * @other_pc:    the other thread's instruction, 0 if there is none
 * @other_site:  lock call of the other thread's section, 0 if it was in none
 * @other_class: class of that lock + 1, 0 if it was in none
 * @other_kind:  enum elide_kind of that call
 * @line:        address of the cache line, 0 if there is none; of the first of these aborts
 * @own_bytes, @other_bytes: bytes of the line that each thread touched, a bit each; of all @samples
 *               of that line, but see merge() in evidence/detail.c
 * @data_base, @data_size: heap block of the first byte that was touched, 0 if there is none
 * @own_stack:   stack of the lock call
 * @abort_stack: stack of the instruction that aborted, for causes inside this thread
 * @other_stack: stack of @other_pc
 * @alloc_stack: stack of the allocation of the block
 * @syscall_nr:  -1 if there is none
 * @signal:      of a fault: the signal that it would have raised, 0 if the system handles it (first use of a
 *               page)
 * @fault_addr:  address that faulted
 * @read_lines, @write_lines: lines that the first of these attempts had read and written
 * @max_read_lines, @max_write_lines: the largest numbers in @samples
 * @cache_set:   set of the first-level cache that overflowed
 * @cache_ways:  ways of that set that the transaction needed; 0 if no set overflowed, or not known
 * @lock:        address of the lock, in the first of these aborts
 * @own_written, @other_written: bytes of @own_bytes and @other_bytes that were written
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
	ELIDE_BLAME_ABORT = 1, /* an attempt aborted because another thread had locked the lock, or
				* locked it during the section
				*/
	ELIDE_BLAME_INNER,     /* an attempt aborted because another thread had locked a lock that the
				* section acquires inside: held_class is that of the inner lock,
				* ~0 if it is not known, as on a processor
				*/
	ELIDE_BLAME_WAIT,      /* an acquisition that locked found the lock held, and waited; for a
				* kind that is no lock: the call that ended the wait
				*/
	ELIDE_BLAME_END        /* one more than the last */
};

/**
 * struct elide_blame - which call held a lock that another call found held.
 * @class_index, @kind, @site: the row that aborted or waited
 * @type:        enum elide_blame_type
 * @held_class:  class of the held lock
 * @held_kind:   enum elide_kind of the call that had locked it; ELIDE_KIND_NONE if not known
 * @peer:        of a kind that is no lock: 1 if the thread that ended the wait has itself waited there, or
 *               taken a unit of the semaphore
 * @held_site:   return address of that call, 0 if not known; for a condition variable, semaphore or
 *               barrier the call that signalled, posted or arrived last
 * @samples:     aborts or waits that were sampled
 * @count:       aborts or waits for which these count
 * @cycles:      cycles wasted or waited for which these count
 */
struct elide_blame {
	uint32_t class_index;
	uint16_t kind;
	uint16_t type;
	uint64_t site;
	uint32_t held_class;
	uint16_t held_kind;
	uint16_t peer;
	uint64_t held_site;
	uint64_t samples;
	uint64_t count;
	uint64_t cycles;
};

enum elide_event_type {
	ELIDE_EVENT_PAUSED = 1, /* the policy makes no attempts from now on; a: number of acquisitions
				 * without, 0: until it finds that eliding is better
				 */
	ELIDE_EVENT_RESUMED,    /* the policy makes attempts again; a: 0 */
	ELIDE_EVENT_OFF,        /* elision is switched off for the whole process; no row */
	ELIDE_EVENT_CHOSE,      /* the adaptive policy has compared two arms; a: the new one won */
	ELIDE_EVENT_END         /* one more than the last */
};

/**
 * struct elide_event - a decision of the policy.
 * @time:   time-stamp counter
 * @class_index, @kind, @site: the row that it concerns
 * @type:   enum elide_event_type
 * @lock:   address of the lock
 * @a:      see the types
 * @tries, @fails: policy hpca: acquisitions in the window, and those that fell back, where one that cannot
 *          be elided counts 8
 * @arm:    policy adaptive, as the following fields: number in arms.def of the challenger
 * @before: number of the incumbent
 * @ratio:  logarithm of the ratio of the sections per time with @arm and with @before, in 1/1000
 * @confidence: probability that the sign of @ratio is right, in 1/1000
 * @pairs:  pairs of measurements; 0 if nothing was measured, as nothing could be elided
 *
 * In a decision about all call sites of a class @site is 0, and @kind is that of the first site. In
 * decisions of the adaptive policy @lock is 0, unless they are about a lock with a state of its own.
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

/**
 * struct elide_source - a process whose data file elide-merge(1) has joined to others.
 * @host:    from its header, as are the following
 * @name:    name of the program
 * @start_realtime_ns, @run, @pid, @pid_start, @nr_threads, @exit_status: of its header
 * @elapsed_ns: time from its start to its end, 0 if that is not known
 * @state:   enum elide_file_state
 * @acquired: acquisitions of locks
 * @wait:    cycles waited for locks, of the clock of the joined file
 * @build_id_len, @build_id: of the program
 */
struct elide_source {
	char host[68];
	char name[60];
	uint64_t start_realtime_ns;
	uint64_t elapsed_ns;
	uint64_t run;
	uint64_t pid_start;
	uint32_t pid;
	uint32_t nr_threads;
	int32_t exit_status;
	uint32_t state;
	uint64_t acquired;
	uint64_t wait;
	uint32_t build_id_len;
	uint8_t build_id[36];
	uint64_t reserved[3];
};

_Static_assert(sizeof(struct elide_source) == 256, "fixed layout");

/* Source of a counter. */
enum elide_counter_source {
	ELIDE_COUNTER_PMU = 1, /* the processor's counters, by perf_event_open(2) */
	ELIDE_COUNTER_PCM,     /* pcm-tsx; of the whole machine */
	ELIDE_COUNTER_END      /* one more than the last */
};

/**
 * struct elide_counter - a hardware counter over the run, written by the launcher at its end.
 * @source:  enum elide_counter_source
 * @value:   events, scaled to the whole run
 * @enabled_ns: time during which the counter should have counted
 * @running_ns: time during which it did
 * @name:    name of the event
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

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
 * sums from a row. The records are in datafile-rows.h and datafile-samples.h.
 *
 * Must never hold a pointer that a reader would have to follow.
 */
#ifndef ELIDE_DATAFILE_H
#define ELIDE_DATAFILE_H

#include <stddef.h>
#include <stdint.h>

#include "datafile-rows.h"
#include "datafile-samples.h"

#define ELIDE_DATA_MAGIC   0x4154414445444c45ull /* "ELDEDATA" */
/* The only version that readers accept: no older one was released. */
#define ELIDE_DATA_VERSION 10
#define ELIDE_HEADER_SIZE  8192
/* A page: each thread has a chunk of rows of its own, and most threads have few rows. */
#define ELIDE_CHUNK_SIZE   4096
#define ELIDE_CHUNK_MAGIC  0x4b4e4843u /* "CHNK" */

/* What became of the file of ELIDE_LEARNED, in the order of learned.def: header.learned_state. */
enum elide_learned {
#define ELIDE_LEARNED(id, help) ELIDE_LEARNED_##id,
#include "learned.def"
#undef ELIDE_LEARNED
	ELIDE_NR_LEARNED
};

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

/* System calls whose time is kept. */
#define ELIDE_ACCOUNT_CALLS 8

/**
 * struct elide_account - for how long the threads of a process were there, and what they did.
 *
 * From samples of /proc, in nanoseconds, also of threads that call no lock function. All 0: not measured.
 *
 * @threads: sum of the times for which the threads existed
 * @running: processor time
 * @late:    time in which threads were ready to run and had no processor: the second number of
 *           /proc/PID/task/TID/schedstat
 * @samples: number of times that /proc was read
 * @no_late: 1: the kernel does not tell @late
 * @calls:   system calls in which threads were, those with the most time first; @ns: for how long, 0: none. Waits
 *           for locks are among them, as futex(2)
 */
struct elide_account {
	uint64_t threads;
	uint64_t running;
	uint64_t late;
	uint32_t samples;
	uint32_t no_late;
	struct {
		uint64_t nr;
		uint64_t ns;
	} calls[ELIDE_ACCOUNT_CALLS];
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
 * @dlmopen:         1: there were objects in a further namespace of the linker, whose locks are not seen
 * @account:         thread time of the process, written by the launcher
 * @nr_joining:      threads that wait in pthread_join() and its kin now
 * @joined:          cycles for which threads have waited there, less the time-stamp counter at which each of the
 *                   @nr_joining waits began, modulo 2^64
 * @unseen:          reasons why locks of the process have no rows, a bit each, written by the launcher
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
	uint32_t dlmopen;
	struct elide_account account;
	uint64_t nr_joining;
	uint64_t joined;
	uint32_t unseen;
	uint32_t reserved;
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
		return 40;
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

#endif

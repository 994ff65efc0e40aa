/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * datafile-samples.h - records of the data file that explain: stacks, samples, details of aborts, blame,
 * decisions of the policy, sources and counters.
 *
 * A part of the format in datafile.h, whose version it has.
 */
#ifndef ELIDE_DATAFILE_SAMPLES_H
#define ELIDE_DATAFILE_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

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
	ELIDE_SAMPLE_ACQUIRE,   /* the lock call, in a wrapper, that found the lock free; innermost frames
				 * only, cycles are 0
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
 * @waker:       of a kind that is no lock: the stack of the thread that ended the wait, as in struct
 *               elide_thread_record; 0: not known
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
	uint32_t waker;
	uint32_t reserved;
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks.h - what the threads of a process wait for and hold at one moment, and cycles of them.
 *
 * Must never read from a process: see live/capture.h.
 */
#ifndef ELIDE_STACKS_H
#define ELIDE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../lib/datafile.h"
#include "../names/symbolize.h"

/* Frames of a stack, at most: outer ones are cut off. Stacks of recursive programs are longer. */
#define STACKS_FRAMES 128

/* Bytes of a thread's name in the kernel. */
#define STACKS_NAME 16

/* Index of no thread, and of no class. */
#define STACKS_NONE (~0u)

/* What a thread waits for. */
enum stacks_wait {
	STACKS_WAIT_NOTHING,
	STACKS_WAIT_LOCK,
#define STACKS_WAIT(id, even, odd, words) STACKS_WAIT_##id,
#include "waits.def"
#undef STACKS_WAIT
	STACKS_WAIT_FUTEX, /* a futex of the program's own, or of an unknown function */
	STACKS_NR_WAITS
};

/**
 * struct stacks_held - a lock that a thread holds.
 * @lock:  address in the process
 * @class_index: its class in the data file; STACKS_NONE if unknown
 * @kind:  enum elide_kind
 * @site:  return address of the call that acquired it, 0 if not known
 */
struct stacks_held {
	uint64_t lock;
	uint64_t site;
	uint32_t class_index;
	uint32_t kind;
};

/**
 * struct stacks_thread - a thread at that moment.
 * @tid:       its id for this process
 * @inner_tid: its id in its own pid namespace, which locks contain
 * @name:      that of the kernel
 * @stopped:   it could be stopped, so that its stack is known
 * @frames:    the address of its instruction, then return addresses; @nr_frames
 * @syscall:   number of its system call; -1: none
 * @wait:      enum stacks_wait
 * @object:    address of what it waits for
 * @kind:      enum elide_kind of a lock that it waits for
 * @class_index: class of that lock, STACKS_NONE if unknown
 * @site:      return address of the call that waits, 0 if unknown
 * @timed:     it waits for a limited time only
 * @holders:   @nr_holders threads by index that hold what it waits for, or whose end it waits for
 * @gone:      thread id, in its pid namespace, of a holder that is not a thread of the process; 0: none
 * @gone_parent: the parent process, if @gone is a thread of that: the lock was held when it forked, unless the
 *              processes share it; else 0
 * @held:      @nr_held locks that it is known to hold
 */
struct stacks_thread {
	int tid;
	int inner_tid;
	char name[STACKS_NAME];
	bool stopped;
	bool timed;
	uint64_t frames[STACKS_FRAMES];
	size_t nr_frames;
	long syscall;
	enum stacks_wait wait;
	uint64_t object;
	uint32_t kind;
	uint32_t class_index;
	uint64_t site;
	uint32_t *holders;
	size_t nr_holders;
	int gone;
	long gone_parent;
	struct stacks_held *held;
	size_t nr_held;
};

/**
 * struct stacks_cycle - threads by index, each of which waits for the next, the last for the first.
 */
struct stacks_cycle {
	uint32_t *threads;
	size_t nr;
};

/**
 * struct stacks - all threads of a process at one moment.
 * @pid:     the process
 * @title:   name by which it was started
 * @elide:   it runs with the library, and locks are known from its tables
 * @stop_ns: how long a thread was stopped, at most
 * @threads: @nr of them
 * @modules: its objects
 * @symbols: resolver of its addresses
 * @classes: classes of its data file, by their number in it
 * @sites: @nr_sites of struct data_file
 * @cycles: @nr_cycles of threads that wait for each other, and so for ever
 */
struct stacks {
	long pid;
	bool elide;
	char title[256];
	uint64_t stop_ns;
	struct stacks_thread *threads;
	size_t nr;
	struct elide_module *modules;
	size_t nr_modules;
	struct symbolizer *symbols;
	struct elide_class *classes;
	size_t nr_classes;
	struct lock_site *sites;
	size_t nr_sites;
	struct stacks_cycle *cycles;
	size_t nr_cycles;
};

/**
 * stacks_find_cycles() - fill @cycles: threads that wait for each other, and so for ever.
 *
 * A thread that waits for a limited time breaks a cycle. A writer that waits for several readers needs
 * them all, so a cycle through one of them suffices.
 *
 * Return: 0 or -ENOMEM.
 */
int stacks_find_cycles(struct stacks *s);

/** stacks_add_holder() - note that thread @t waits for @holder. Return: 0 or -ENOMEM. */
int stacks_add_holder(struct stacks_thread *t, uint32_t holder);

/** stacks_add_held() - note, once, that thread @t holds a lock. Return: 0 or -ENOMEM. */
int stacks_add_held(struct stacks_thread *t, const struct stacks_held *held);

/** stacks_free() - release what capture() took. */
void stacks_free(struct stacks *s);

#endif

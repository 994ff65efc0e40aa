/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seize.h - stop all threads of a process for a moment, and copy registers, stacks and memory.
 *
 * Must never change anything in the process, nor leave it stopped.
 */
#ifndef ELIDE_SEIZE_H
#define ELIDE_SEIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "objects.h"

/* Bytes below the stack pointer that are copied, too (System V ABI for x86-64, 3.2.2). */
#define SEIZE_RED_ZONE 128

/* Bytes of a stack that are copied, at most. */
#define SEIZE_STACK_MAX (128 << 10)

/* Bytes to copy around the futex at which a thread waits: before its word, and in all. */
#define SEIZE_FUTEX_BEFORE 16
#define SEIZE_FUTEX        64

/**
 * struct seize_thread - a thread as it was stopped.
 * @tid:     its id
 * @stopped: it was stopped: the rest is known
 * @signal:  a signal that was about to be delivered when it stopped, and was delivered then; 0: none
 * @group_stop: its process was stopped already, by SIGSTOP or the like
 * @regs:    its registers
 * @stack:   @stack_size bytes, from SEIZE_RED_ZONE below its stack pointer on
 * @futex:   bytes around the word of its futex(2) call, zero if it is in none
 * @ended, @seized: for seize() itself
 */
struct seize_thread {
	int tid;
	bool seized;
	bool stopped;
	bool ended;
	bool group_stop;
	int signal;
	struct user_regs_struct regs;
	const uint8_t *stack;
	size_t stack_size;
	uint8_t futex[SEIZE_FUTEX];
};

/**
 * struct seize_range - memory to be copied while all threads are stopped.
 * @copied: set: all of it was
 */
struct seize_range {
	uint64_t address;
	uint32_t size;
	uint32_t copied;
	uint8_t *to;
};

/**
 * struct seizure - what was copied; in shared memory.
 * @err:     0 or -errno
 * @stop_ns: from the request to stop until the last thread was released
 * @nr, @room: threads
 */
struct seizure {
	int err;
	uint64_t stop_ns;
	size_t size;
	size_t nr;
	size_t room;
	uint8_t *arena;
	size_t arena_used;
	size_t arena_size;
	struct seize_thread threads[];
};

/** seize_bytes() - @size bytes for @to of a range, which seize() can fill. NULL: no memory. */
void *seize_bytes(size_t size);

/** seize_bytes_free() - release them. */
void seize_bytes_free(void *bytes, size_t size);

/**
 * seize() - stop all threads of process @pid, copy, and let them go on.
 * @maps:   its mappings, where stacks end
 * @ranges: @nr further ranges to copy, in memory of seize_bytes()
 * @result: set to what was copied; seizure_free() releases it
 *
 * A child of this process does so; the threads go on when it ends, whatever ends it.
 * Threads are seized and interrupted (PTRACE_SEIZE, PTRACE_INTERRUPT in ptrace(2)): no signal is sent,
 * signals that arrive are delivered, and a process that was stopped stays so. System calls that
 * signal(7) lists as failing with EINTR after a stop do so: epoll_wait() is one.
 *
 * Return: 0; -EPERM, -ESRCH or another -errno.
 */
int seize(long pid, const struct mappings *maps, struct seize_range *ranges, size_t nr,
	  struct seizure **result);

/**
 * seize_one() - stop one thread by the calling one, and copy its registers and its stack.
 * @maps:  mappings of its process
 * @stack: SEIZE_STACK_MAX bytes, which @t refers to
 * @t:     filled
 *
 * The thread stays stopped until seize_let_go(), or the end of the calling process, whatever ends it.
 *
 * Return: 0; -EBUSY: it is in an uninterruptible wait: the calling process has to end before it may run
 * again; -EPERM, -ESRCH or another -errno.
 */
int seize_one(long pid, int tid, const struct mappings *maps, uint8_t *stack, struct seize_thread *t);

/** seize_state() - the letter of the state of a thread; '?': not known. */
char seize_state(long pid, int tid);

/** seize_let_go() - let a stopped thread run, with the signal that was about to be delivered. */
void seize_let_go(const struct seize_thread *t);

/** seizure_free() - release what seize() took. */
void seizure_free(struct seizure *z);

#endif

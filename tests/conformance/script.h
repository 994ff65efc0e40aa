/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script.h - small scripts of lock calls, made by up to three threads in a stated order.
 *
 *   "A lock, B trylock, B timedlock +15, C wait &, A unlock, C done"
 *
 * A step is a thread (A, B or C), a call and its arguments. The steps are made one after
 * another. Those in a row by one thread are its turn: the thread makes them without any other
 * system call or handshake between, so that a section in a turn can be elided. Arguments:
 *
 *   REALTIME, MONOTONIC, ...  the clock of a call that takes one, of clock_ids
 *   past, far, +15, ...       the deadline, of deadlines; +N is N ms from now by the call's clock
 *   ?                         what was acquired is released again, which prints nothing
 *   &                         ends the turn, and the next step does not wait for it; the step
 *                             "done" of that thread does
 *
 * Steps of every script, beside the calls of its subject:
 *
 *   ready       one more thread is about to wait: counted under the lock
 *   real        a system call: from here on the locks that the thread holds are locked
 *   pause N     N ms pass
 *   exit        the thread ends
 *   done        the turn that & has left is over
 */
#ifndef CONFORM_SCRIPT_H
#define CONFORM_SCRIPT_H

#include <pthread.h>
#include <stdbool.h>
#include <threads.h>
#include <time.h>

union lock {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	pthread_spinlock_t spin;
	mtx_t mtx;
};

/**
 * struct subject - what a script is about.
 * @lock: the lock
 * @cond, @cnd: condition variables to wait on with it
 * @clock: of a deadline where the call has no argument for it
 * @nr_ready: threads that have made the step "ready"
 */
struct subject {
	_Alignas(64) union lock lock;
	_Alignas(64) union {
		pthread_cond_t cond;
		cnd_t cnd;
	};
	_Alignas(64) clockid_t clock;
	volatile int nr_ready;
};

/**
 * struct call - a call as scripts name it.
 * @name: of the function without its prefix
 * @run:  makes it; @clock and @until are those of the step
 */
struct call {
	const char *name;
	int (*run)(struct subject *s, clockid_t clock, const struct timespec *until);
};

/**
 * struct family - the calls about a kind of lock, the last one has no name.
 * @name:    first word of the lines that are printed
 * @acquire, @release: by which the lock gets known to each thread before the script begins
 * @took:    did the answer of an acquire say that the lock was acquired?
 */
struct family {
	const char *name;
	const struct call *calls;
	int (*acquire)(struct subject *s);
	int (*release)(struct subject *s);
	bool (*took)(int answer);
};

/**
 * script_run() - run a script and print it in a line, with what each call has answered.
 * @f:      the calls it may name
 * @s:      their subject, initialised
 * @about:  printed in front: attributes and the name of the row
 * @script: see above
 *
 * A wait that has timed out says so if it has ended before its deadline, or absurdly late.
 *
 * Return: false if the lock cannot be acquired at all: the line says "refused N" and no more.
 */
bool script_run(const struct family *f, struct subject *s, const char *about, const char *script);

#endif

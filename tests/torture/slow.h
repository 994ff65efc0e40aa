/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slow.h - what two files share: slow.c, threads that go through global-lock paths, and
 * slow-events.c, what happens to them there.
 */
#ifndef TESTS_TORTURE_SLOW_H
#define TESTS_TORTURE_SLOW_H

#include <setjmp.h>

#include "torture.h"

#define EXIT_STATUS 7
#define REFUSED     77

/* What a short life consists of. */
#define STEPS 12

enum event {
	EVENT_locks,    /* a handler takes locks */
	EVENT_forks,    /* a handler forks; the child goes on, or ends in the handler */
	EVENT_vforks,   /* a handler calls vfork() */
	EVENT_jumps,    /* a handler leaves by siglongjmp() */
	EVENT_ends,     /* a handler ends its thread, which may hold locks */
	EVENT_deferred, /* cancellation that waits for a cancellation point */
	EVENT_async,    /* cancellation at once */
	EVENT_exits,    /* another thread calls exit() */
	EVENT_unloads,  /* another thread unloads a library with locks and call sites */
	EVENT_fifo,     /* one processor for normal and SCHED_FIFO threads, which are woken */
	NR_EVENTS,
};

/**
 * struct life - a short-lived thread.
 * @out: where a handler jumps to
 * @locks: of its steps, two each
 * @contends, @keeps: it has called for @contended, for @kept, and may hold it if it was to jump
 * @waits: it is about to wait for @contended, which its parent holds
 * @kept: held when it ends
 * @over: it has come to its end, or was ended
 */
struct life {
	pthread_t thread;
	struct random random;
	sigjmp_buf out;
	union any_lock locks[STEPS * 2];
	pthread_mutex_t contended;
	pthread_mutex_t kept;
	unsigned int step;
	unsigned long acquired;
	bool contends;
	bool keeps;
	volatile bool waits;
	volatile bool over;
};

/* The run's only event. */
extern enum event event;

/* The thread's life as long as an event may end it, NULL for other threads. */
extern __thread struct life *me;

/*
 * There may be events: after the process has its data file, which a child would else take for
 * its own, until it prints what it has counted.
 */
extern volatile bool armed;

/* This process is the child of a handler. */
extern volatile bool forked;

/**
 * struct counts - sums over all threads.
 * @handled: acquisitions of handlers
 * @interrupted: events that may have cut an acquisition off
 * @kept: threads that ended with a lock
 * @failures: each said on standard error
 */
struct counts {
	unsigned long handled;
	unsigned long interrupted;
	unsigned long kept;
	unsigned long failures;
};

extern struct counts counts;

static inline void add(unsigned long *counter, unsigned long n)
{
	__atomic_add_fetch(counter, n, __ATOMIC_RELAXED);
}

/** fail() - a failure; async-signal-safe, and no cancellation point. */
void fail(const char *what);

/** every_kind() - a call of every kind of lock; returns the acquisitions. */
unsigned long every_kind(uint64_t seed);

/** events_prepare() - handlers, the thread that helps, the library. False: refused here. */
bool events_prepare(void);

/** jumped_out() - a handler has left by siglongjmp(), and is here. */
void jumped_out(void);

/** use_library() - sections in the library, if the event is about it and it is loaded. */
void use_library(unsigned long *count);

/** lock_in_library() - pthread_mutex_lock(), called by the library if it is loaded. */
void lock_in_library(pthread_mutex_t *mutex);

/** torture_event() - inflict it. points.c calls this at a point of a global-lock path. */
void torture_event(int point);

#endif

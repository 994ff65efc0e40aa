/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * process.h - what was decided for the whole process at its start.
 */
#ifndef ELIDE_PROCESS_H
#define ELIDE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "datafile.h"
#include "policy.h"

#pragma GCC visibility push(hidden)

struct elide_thread;

/* Natively one in so many first attempts is timed: two RDTSC cost about as much as a short section. */
#define ELIDE_TIME_PERIOD 16

/**
 * struct elide_process - constant after the start, but for @running.
 * @running: calls are counted; false before the start, when off, and in a child not followed
 * @mode:    enum elide_run_mode
 * @rtm:     enum elide_rtm
 * @config:  of the policy
 * @policy:  its name
 * @why:     why @mode is what it is
 * @short_way: the wrappers know the locks' words and may take them without calling glibc
 * @order:   the order of locks is watched, see order.h
 * @watch_taken: each real acquisition is written down: for @order, or for who is to blame
 * @tell_section: the emulator is told in which section a thread is
 * @holder:  by enum elide_kind, where in a lock its holder's thread id is; 0 nowhere
 */
struct elide_process {
	bool running;
	enum elide_run_mode mode;
	enum elide_rtm rtm;
	struct policy_config config;
	char policy[32];
	char why[256];
	bool short_way;
	bool order;
	bool watch_taken;
	bool tell_section;
	uint32_t holder[ELIDE_NR_KINDS];
};

extern struct elide_process elide_process;

/*
 * This thread is in a slow path, or is the child of a vfork(): what it calls, and
 * signal handlers, pass through.
 */
extern __thread bool elide_busy;

/** elide_short_way() - may the wrappers do by themselves what is usual? */
static inline bool elide_short_way(void)
{
	return elide_process.short_way && !elide_process.order;
}

/**
 * struct elide_slow - what a slow path gives back when it ends.
 */
struct elide_slow {
	int saved_errno;
};

/**
 * elide_slow_enter() - begin a slow path: take the engine's lock, have a data file.
 * @slow: kept until elide_slow_leave()
 *
 * In the first slow path of a forked child it starts the child afresh.
 *
 * Return: false if this call has to pass through: the engine does not run,
 * or this thread is in a slow path already (a signal handler, or a lock
 * taken by something the engine calls).
 */
bool elide_slow_enter(struct elide_slow *slow);

/**
 * elide_slow_forked() - has a signal handler forked in this slow path, and is this the child?
 *
 * The child goes on in what its parent had begun. The parent's file is not
 * mapped there, elide_data_detach() has put memory in its place; what is
 * written into the thread's wiped block is thrown away by the child's first
 * slow path of its own. Nothing of either may be handed out.
 */
bool elide_slow_forked(void);

/**
 * elide_count_interrupted() - elide_slow_enter() has refused a lock call.
 *
 * If that was because the call interrupted a slow path, it is counted as dropped.
 */
void elide_count_interrupted(void);

/** elide_slow_leave() - end it. */
void elide_slow_leave(const struct elide_slow *slow);

/** elide_wiped_alloc() - zeroed pages that a forked child finds zeroed. NULL: none to be had. */
void *elide_wiped_alloc(size_t size);

/** elide_threads_start() - from now on blocks of ended threads come back. */
void elide_threads_start(void);

/** elide_threads_forget() - in a forked child: the other threads are gone. */
void elide_threads_forget(void);

/** elide_misuse_forget() - in a forked child: the list is the parent's. */
void elide_misuse_forget(void);

/**
 * elide_may_judge() - is enough known to call something the calling thread does a misuse?
 *
 * Not before the start, in a forked child that has taken no lock, or after vfork().
 */
bool elide_may_judge(void);

/**
 * elide_tid_is_own() - is @tid this thread, now or before it was forked?
 * @t: the calling thread; NULL where it has taken no lock, then not inside a transaction
 *
 * A child of fork() may release what its parent's thread had locked, and so
 * may a child of that. Behind more forks than are remembered every thread is
 * taken for one's own. Allowed inside a transaction.
 */
bool elide_tid_is_own(const struct elide_thread *t, uint32_t tid);

/** elide_misuse_locked() - elide_misuse() in a slow path. */
void elide_misuse_locked(enum elide_misuse_type type, enum elide_kind kind, const void *site,
			 const void *lock);

/**
 * elide_exit_held() - does a thread that ends hold locks?
 * @t: the thread, which calls this in a slow path
 * @report: count each as a misuse, at a place where the thread has locked it
 */
bool elide_exit_held(struct elide_thread *t, bool report);

#pragma GCC visibility pop

#endif

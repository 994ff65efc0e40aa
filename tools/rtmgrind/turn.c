// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * turn.c - which thread comes next: the one with the smallest virtual clock.
 *
 * A waiting thread counts with the virtual time at which its deadline comes or it retries its call.
 * Called with the scheduler's guard held. Must never depend on real time except by idle_due().
 */
#include "turn.h"
#include "contention.h"
#include "core-hooks.h"
#include "cores.h"
#include "date.h"
#include "idle.h"
#include "peers.h"
#include "timers.h"
#include "vthread.h"
#include "wait.h"

/*
 * The thread that idles, which means to wait in real time on behalf of all: one that waits for
 * descriptors if there is one, else any that waits, 0 none.
 */
static ThreadId choose_idler(void)
{
	ThreadId tid, idler = 0;

	for (tid = 1; tid < vthread_end; tid++) {
		if (vthreads[tid].state != VT_WAITING)
			continue;
		if (vthreads[tid].wait.kind == WAIT_FD)
			return tid;
		if (!idler)
			idler = tid;
	}
	return idler;
}

/* The virtual time at which a thread can run next, -1 never; @busy: a thread is ready. */
static Long turn_key(ThreadId tid, Bool busy)
{
	const struct vthread *t = &vthreads[tid];

	if (t->parked)
		return -1;
	/* After a fatal signal one thread checks again and again, in no time, whether these have ended. */
	if (t->state == VT_READY && VG_(is_exiting)(tid))
		return 0;
	if (t->state == VT_READY && t->core >= 0)
		return t->clock;
	if (t->state == VT_WAITING)
		return wait_key(t, busy);
	return -1;
}

/**
 * turn_next() - find the thread that can run first.
 * @except: a thread that does not count, 0 none
 * @busy: a thread is ready
 * @key: receives the virtual time at which it can run, -1 if there is none
 *
 * Return: the thread, 0 none.
 */
ThreadId turn_next(ThreadId except, Bool busy, Long *key)
{
	ThreadId tid, next = 0;

	*key = -1;
	for (tid = 1; tid < vthread_end; tid++) {
		Long k = tid == except ? -1 : turn_key(tid, busy);

		if (k >= 0 && (!next || k < *key)) {
			next = tid;
			*key = k;
		}
	}
	return next;
}

static Bool anybody_ready(void)
{
	ThreadId tid;
	Bool ready = False;

	for (tid = 1; tid < vthread_end; tid++) {
		/* A thread that Valgrind wants to end must run to notice that, even if it waits. */
		if (vthreads[tid].parked && VG_(is_exiting)(tid))
			contention_cancel(tid);
		if (vthreads[tid].state == VT_WAITING && VG_(is_exiting)(tid)) {
			wait_cancel(tid);
			vthreads[tid].state = VT_READY;
		}
		ready |= vthreads[tid].state == VT_READY;
	}
	return ready;
}

/**
 * turn_pick() - choose the thread that runs next.
 * @idle: receives whether no thread can run, so that the chosen one has to idle
 *
 * Return: the thread, 0 none: then the next thread that wants the big lock chooses again.
 */
ThreadId turn_pick(Bool *idle)
{
	struct vthread *t;
	ThreadId tid;
	Bool busy;
	Long key, timer;

	*idle = False;
	date_sync();
	for (;;) {
		busy = anybody_ready();
		cores_place();
		tid = turn_next(0, busy, &key);
		timer = timers_next();
		if (!busy)
			peers_idle(timer && (!tid || timer <= key) ? timer : tid ? key : 0);
		if (timer && (!tid || timer <= key)) {
			if (!busy && !idle_due(timer)) {
				*idle = True;
				return choose_idler();
			}
			timers_expire(timer);
			continue;
		}
		t = &vthreads[tid];
		if (tid && t->state == VT_READY)
			break;
		if (tid && t->wait.check_at && t->wait.check_at <= key) {
			t->clock = key;
			t->wait.check_at = 0;
			break;
		}
		if (tid && busy && t->wait.look_at && t->wait.look_at <= key) {
			t->clock = key;
			break;
		}
		if (!tid || !(busy || idle_due(t->wait.deadline))) {
			*idle = True;
			return choose_idler();
		}
		wait_expire(tid);
	}
	idle_pace_stop();
	peers_running(t->clock);
	return tid;
}

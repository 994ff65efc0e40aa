// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * turn.c - which thread comes next: the one with the smallest virtual clock.
 *
 * A waiting thread counts with the time at which it has something to do. Called
 * with the scheduler's guard held; must never look at real time but through
 * idle_due().
 */
#include "turn.h"
#include "contention.h"
#include "core-hooks.h"
#include "cores.h"
#include "idle.h"
#include "timers.h"
#include "vthread.h"
#include "wait.h"

/* The waiting thread that is to wait for the outside on behalf of all: one with descriptors
 * if there is one. 0 if nobody waits.
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

/* When the thread could run next, if it may: @busy says that somebody is ready. */
static Long turn_key(ThreadId tid, Bool busy)
{
	const struct vthread *t = &vthreads[tid];

	if (t->parked)
		return -1;
	if (t->state == VT_READY && (t->core >= 0 || VG_(is_exiting)(tid)))
		return t->clock;
	if (t->state == VT_WAITING)
		return wait_key(t, busy);
	return -1;
}

/**
 * turn_next() - the thread that could run first.
 * @except: one that is left out, 0 none
 * @busy: somebody is ready
 * @key: receives the virtual time at which it could, -1 if there is none
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
		/* A thread that is told to end must come and see that, whatever it waits for. */
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
 * turn_pick() - whose turn is it?
 * @idle: receives whether it is the thread's turn only to wait for the outside
 *
 * Return: the thread, 0 nobody: then the next that arrives asks again.
 */
ThreadId turn_pick(Bool *idle)
{
	struct vthread *t;
	ThreadId tid;
	Bool busy;
	Long key, timer;

	*idle = False;
	for (;;) {
		busy = anybody_ready();
		cores_place();
		tid = turn_next(0, busy, &key);
		timer = timers_next();
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
	return tid;
}

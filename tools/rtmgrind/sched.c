// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sched.c - Valgrind's big lock: which guest thread runs.
 *
 * Valgrind runs one guest thread at a time, the one that has its big lock. The seven functions of
 * that lock are defined here, so the linker leaves out Valgrind's own. The lock goes to the ready
 * thread with the smallest virtual clock (turn.c), for a slice of seeded random length (slice.c).
 * So the same seed gives the same interleaving, whatever the host does.
 *
 * The scheduler's guard protects the state, see handover.c. Must never wait for the big lock while
 * the guard is held.
 */
#include "sched.h"
#include "account.h"
#include "affinity.h"
#include "contention.h"
#include "core-hooks.h"
#include "cores.h"
#include "futex.h"
#include "handover.h"
#include "hle.h"
#include "host.h"
#include "lwp.h"
#include "model.h"
#include "peers.h"
#include "pin.h"
#include "slice.h"
#include "timers.h"
#include "turn.h"
#include "txn.h"
#include "vthread.h"

/* Time after which the others run though a thread sleeps in a short system call, ns. Chosen. */
#define STUCK_NS 1000000000LL

extern volatile Bool VG_(in_generated_code);

struct sched_lock {
	Int unused;
};

/**
 * struct sched - the state of the big lock.
 * @owner: thread that has the lock or was chosen to take it, 0 none
 * @yielder: an address on the stack of @owner, if it has given up the lock to take it again at
 *           once; else 0
 * @owner_lwp: Linux thread id of @owner while it runs, 0 none
 * @unborn: thread that was created and whose host thread has not taken the lock yet, 0 none
 * @ending_lwp: Linux thread id of a thread that gave up the lock for good and may not have ended
 *              yet, 0 none
 * @kernel: thread in a short system call, 0 none
 * @idle: @owner was chosen to idle, which means to wait in real time, as no thread can run
 * @nr_calls: number of short system calls since the start
 * @watched_call: @nr_calls when sched_watch_kernel() first found the present call
 * @watched_since: real time of that, ns
 */
static struct {
	volatile ThreadId owner;
	Addr yielder;
	Int owner_lwp;
	volatile ThreadId unborn;
	Int ending_lwp;
	ThreadId kernel;
	Bool idle;
	ULong nr_calls;
	ULong watched_call;
	Long watched_since;
} sched;

static struct sched_lock the_lock;

/* Called by sched_init() and when Valgrind asks for its big lock, whichever is first. */
static void init(void)
{
	if (vthreads)
		return;
	model_build();
	vthread_init();
	sched.unborn = 1;
	cores_init();
}

/** sched_init() - prepare, once the options are known. */
void sched_init(void)
{
	init();
	slice_init();
}

/**
 * sched_is_idle() - was the running thread chosen to idle?
 *
 * Return: True if so.
 */
Bool sched_is_idle(void)
{
	return sched.idle;
}

/**
 * sched_alone() - is the running thread the only one of the process?
 *
 * Return: True if so.
 */
Bool sched_alone(void)
{
	ThreadId tid;

	for (tid = 1; tid < vthread_end; tid++)
		if (tid != current_tid && vthreads[tid].state != VT_FREE)
			return False;
	return True;
}

/*
 * Chooses the next owner of the lock. The caller wakes the thread's home, if that must run, after
 * it has released the guard.
 */
static ThreadId hand_over(void)
{
	ThreadId next = sched.kernel ? 0 : turn_pick(&sched.idle);

	sched.owner = next;
	if (next)
		vthreads[next].turn++;
	return next;
}

/* Chooses the next owner, whose home must run: the calling host thread does not resume it. */
static ThreadId hand_over_at_home(void)
{
	ThreadId next = hand_over();

	handover_set_host(next);
	return next;
}

/**
 * sched_watch_kernel() - does the thread in a short system call sleep there?
 *
 * All threads wait for it. If it waits for another thread of this process, as a writer to a full
 * pipe does, that would never end, so after STUCK_NS the others go on without it. Host threads that
 * sleep call it, with the guard held.
 *
 * Return: the thread whose home is to be woken then, else 0.
 */
ThreadId sched_watch_kernel(void)
{
	struct vthread *t = &vthreads[sched.kernel];
	Long now;

	if (sched.owner || !sched.kernel)
		return 0;
	now = host_now();
	if (sched.watched_call != sched.nr_calls) {
		sched.watched_call = sched.nr_calls;
		sched.watched_since = now;
	} else if (now - sched.watched_since >= STUCK_NS && lwp_sleeps(t->lwp)) {
		t->state = VT_OUTSIDE;
		cores_release(sched.kernel);
		sched.kernel = 0;
		return hand_over_at_home();
	}
	return 0;
}

/* The calling host thread wants the lock. Return: its guest thread, whose state is up to date. */
static ThreadId arrive(void)
{
	ThreadId me = lwp_find();
	struct vthread *t;

	if (!me) {
		me = sched.unborn;
		tl_assert2(me, "thread %d was never created\n", VG_(gettid)());
		vthreads[me].lwp = VG_(gettid)();
		vthreads[me].stack = (Addr)__builtin_frame_address(0);
		vthreads[me].state = VT_READY;
		sched.unborn = 0;
		return me;
	}
	t = &vthreads[me];
	if (t->state == VT_KERNEL) {
		sched.kernel = 0;
		t->state = VT_READY;
	} else if (t->state == VT_OUTSIDE) {
		if (t->clock < account_latest())
			t->clock = account_latest();
		if (t->clock < peers_event(False))
			t->clock = peers_event(False);
		t->state = VT_READY;
	}
	t->calling = VT_FREE;
	return me;
}

static void leave(ThreadId me)
{
	struct vthread *t = &vthreads[me];

	if (t->exiting) {
		t->state = VT_FREE;
		t->exiting = False;
		sched.ending_lwp = t->lwp;
	} else if (t->calling != VT_FREE) {
		t->state = t->calling;
	} else {
		t->state = t->wait.kind ? VT_WAITING : VT_READY;
	}

	if (t->state == VT_KERNEL) {
		sched.kernel = me;
		sched.nr_calls++;
	} else if (t->state != VT_READY) {
		cores_release(me);
	} else if (!t->in_block && (cores_preempt(me) || cores_evict(me))) {
		txn_abort_parked(me, RTMGRIND_CAUSE_INTERRUPT);
	}
}

/**
 * sched_thread_create() - a thread is about to be created.
 * @parent: the running thread, 0 none: it is the main thread
 * @child: the new one
 */
void sched_thread_create(ThreadId parent, ThreadId child)
{
	struct vthread *t = &vthreads[child];

	/* This is the main thread, which is in the table from the start. */
	if (!parent)
		return;
	handover_lock();
	vthread_renew(child);
	affinity_copy(t, &vthreads[parent]);
	t->clock = account_now() + model.wakeup;
	sched.unborn = child;
	handover_unlock();
}

/**
 * sched_thread_exit() - a thread ends, or could not be created after all.
 * @tid: the thread
 */
void sched_thread_exit(ThreadId tid)
{
	if (tid == current_tid)
		handover_go_home();
	handover_lock();
	if (sched.unborn == tid) {
		sched.unborn = 0;
	} else {
		txn_forget(tid);
		vthreads[tid].exiting = True;
		vthreads[tid].section = 0;
		peers_thread_ends(tid);
		futex_thread_exits(tid);
		timers_thread_exits(tid);
	}
	handover_unlock();
}

/* In the child of a fork() the forking thread is the only one. */
static void restart_after_fork(void)
{
	ThreadId tid;

	for (tid = 1; tid < vthread_end; tid++)
		if (tid != current_tid)
			vthreads[tid].state = VT_FREE;
	/* They are those of the parent's threads: the child passes its own addresses later. */
	for (tid = 1; tid < vthread_end; tid++)
		vthreads[tid].section = 0;
	contention_forked();
	cores_reset(current_tid);
	vthreads[current_tid].faster = 0;
	vthreads[current_tid].lwp = VG_(gettid)();
	vthreads[current_tid].state = VT_READY;
	vthreads[current_tid].calling = VT_FREE;
	sched.owner = 0;
	sched.yielder = 0;
	sched.kernel = 0;
	sched.unborn = 0;
	handover_forked();
}

/* The big lock, as Valgrind's scheduler.c calls it. */

struct sched_lock *vgModuleLocal_create_sched_lock(void);
void vgModuleLocal_destroy_sched_lock(struct sched_lock *lock);
int vgModuleLocal_get_sched_lock_owner(struct sched_lock *lock);
void vgModuleLocal_acquire_sched_lock(struct sched_lock *lock);
void vgModuleLocal_release_sched_lock(struct sched_lock *lock);
const HChar *vgModuleLocal_get_sched_lock_name(void);
Bool vgModuleLocal_set_sched_lock_impl(int type);

struct sched_lock *vgModuleLocal_create_sched_lock(void)
{
	init();
	if (current_tid) {
		peers_forked();
		restart_after_fork();
	}
	return &the_lock;
}

void vgModuleLocal_destroy_sched_lock(struct sched_lock *lock)
{
}

int vgModuleLocal_get_sched_lock_owner(struct sched_lock *lock)
{
	return sched.owner_lwp;
}

const HChar *vgModuleLocal_get_sched_lock_name(void)
{
	return "rtmgrind";
}

/* The option --fair-sched, which chooses among Valgrind's own locks, has no effect. */
Bool vgModuleLocal_set_sched_lock_impl(int type)
{
	return True;
}

/* The running thread's turn ends; the guard is held. */
static void end_turn(ThreadId me)
{
	/* A new thread takes part from a defined virtual time on: it must have taken the lock. */
	while (sched.unborn) {
		handover_unlock();
		host_yield();
		handover_lock();
	}
	slice_end(me);
	leave(me);
	sched.owner_lwp = 0;
	sched.owner = 0;
}

void vgModuleLocal_acquire_sched_lock(struct sched_lock *lock)
{
	ThreadId me, host, moved, next = 0;
	Bool arrives, in_code = False;

	handover_lock();
	me = current_tid;
	host = handover_host();
	arrives = !sched.yielder ||
		  !lwp_same_stack(sched.yielder, (Addr)__builtin_frame_address(0));
	if (arrives) {
		me = host = arrive();
	} else {
		sched.yielder = 0;
		end_turn(me);
		/* True in the handler of a fault of generated code, where threads are awaited. */
		in_code = VG_(in_generated_code);
	}
	if (!sched.owner)
		next = hand_over();
	else
		handover_wake_sleeper();
	if (sched.owner == me) {
		handover_set_host(host);
	} else {
		if (arrives)
			host_let_faults_through();
		handover_give_way(me, host, next, sched.owner != 0);
	}
	lwp_await_end(sched.ending_lwp);
	sched.ending_lwp = 0;
	moved = handover_moved();
	VG_(in_generated_code) = in_code;
	sched.owner_lwp = vthreads[me].lwp;
	current_tid = me;
	slice_begin(me);
	hle_unpark(me);
	handover_unlock();
	if (moved)
		pin_turn(&vthreads[moved]);
}

void vgModuleLocal_release_sched_lock(struct sched_lock *lock)
{
	ThreadId me = current_tid;
	const struct vthread *t = &vthreads[me];
	ThreadId next;

	core_untrack_ip(me);
	hle_park(me);
	if (!t->exiting && t->calling == VT_FREE) {
		sched.yielder = (Addr)__builtin_frame_address(0);
		return;
	}
	handover_lock();
	end_turn(me);
	next = hand_over_at_home();
	handover_unlock();
	handover_wake(next);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wait.c - threads that wait, and the passing of time while all of them do.
 *
 * A thread that waits stands in front of its system call. What it waits for
 * either completes the call on its behalf (a futex wake, the end of a sleep)
 * or lets it execute the call again (a descriptor that may be ready, a
 * signal that may be pending). So a thread can be looked after at any moment
 * and nothing is lost.
 *
 * While nobody can run, virtual time jumps to the next timeout. Only if
 * something outside the process may come first (a descriptor that somebody
 * waits for, a child process, a thread in a blocking system call) does it
 * pass at the pace of real time.
 *
 * Must never make a thread run because of real time alone, but for what comes
 * from outside.
 */
#include "rtmgrind.h"
#include "model.h"
#include "host.h"

/* Longest real wait between two looks at signals, ns. */
#define IDLE_NS 20000000LL
/* How often a waiter looks at its descriptors while others run. */
#define LOOK_CYCLES 100000

static UInt nr_fd_waiters;
static UInt nr_children;
static ULong nr_queued;

/* Real time and virtual time when pacing began. */
static struct {
	Bool on;
	Long real;
	Long clock;
} pace;

/**
 * wait_again() - does the running thread stand in front of the call it waits in?
 * @guest: its registers
 *
 * Return: True if so; then its struct wait still holds.
 */
Bool wait_again(VexGuestAMD64State *guest)
{
	struct wait *wait = &current_vthread()->wait;

	if (wait->kind && wait->syscall_nr != (Int)guest->guest_RAX)
		wait_cancel(current_tid);
	return wait->kind != WAIT_NONE;
}

/**
 * wait_begin() - make the running thread wait, or wait on.
 * @guest: its registers; it stands in front of a system call
 * @kind: for what
 * @deadline: virtual time at which it gives up, 0 never; ignored if it waits on
 * @at_deadline: result of the call then (not for WAIT_FD: the call looks for itself)
 */
void wait_begin(VexGuestAMD64State *guest, enum wait_kind kind, Long deadline, Long at_deadline)
{
	struct wait *wait = &current_vthread()->wait;

	if (!wait->kind) {
		wait->syscall_nr = guest->guest_RAX;
		wait->deadline = deadline;
		wait->queued = nr_queued++;
		if (kind == WAIT_FD)
			nr_fd_waiters++;
		/* A signal that only this call lets in may be there already. */
		wait->check_at = kind == WAIT_SIGNAL || wait->masked ? sched_now() : 0;
	} else {
		wait->check_at = 0;
	}
	wait->kind = kind;
	wait->at_deadline = at_deadline;
	wait->look_at = kind == WAIT_FD ? sched_now() + LOOK_CYCLES : 0;
	sched_end_slice(guest);
}

/**
 * wait_fds() - room for the descriptors the running thread waits for.
 * @nr: how many
 *
 * Return: the array, to be filled.
 */
struct vki_pollfd *wait_fds(UInt nr)
{
	struct wait *wait = &current_vthread()->wait;

	if (wait->fds_room < nr) {
		wait->fds = VG_(realloc)("rtmgrind.fds", wait->fds, nr * sizeof(*wait->fds));
		wait->fds_room = nr;
	}
	wait->nr_fds = nr;
	return wait->fds;
}

/**
 * wait_cancel() - a thread no longer waits.
 * @tid: the thread
 */
void wait_cancel(ThreadId tid)
{
	struct wait *wait = &vthreads[tid].wait;

	if (wait->kind == WAIT_FD)
		nr_fd_waiters--;
	if (wait->masked)
		core_set_mask(tid, &wait->old_mask, NULL);
	wait->masked = False;
	wait->kind = WAIT_NONE;
	wait->deadline = wait->check_at = wait->look_at = 0;
	wait->nr_fds = 0;
}

/**
 * wait_complete() - finish the call a thread waits in.
 * @tid: the thread
 * @result: of the call
 * @at: virtual time of that
 */
void wait_complete(ThreadId tid, Long result, Long at)
{
	struct vthread *t = &vthreads[tid];

	t->guest->guest_RAX = result;
	t->guest->guest_RIP += SYSCALL_INSN_SIZE;
	if (t->clock < at)
		t->clock = at;
	if (t->state == VT_WAITING)
		t->state = VT_READY;
	wait_cancel(tid);
}

/**
 * wait_expire() - a waiting thread's deadline has come.
 * @tid: the thread
 */
void wait_expire(ThreadId tid)
{
	struct wait *wait = &vthreads[tid].wait;

	if (wait->kind == WAIT_FD)
		wait->check_at = wait->deadline;
	else
		wait_complete(tid, wait->at_deadline, wait->deadline);
}

/**
 * wait_expired() - is the running thread's wait over its deadline?
 *
 * Return: True if so.
 */
Bool wait_expired(void)
{
	const struct wait *wait = &current_vthread()->wait;

	return wait->kind && wait->deadline && sched_now() >= wait->deadline;
}

/**
 * wait_key() - when a waiting thread has something to do.
 * @t: the thread
 * @busy: other threads can run, so routine looks count
 *
 * Return: virtual time, -1 never.
 */
Long wait_key(const struct vthread *t, Bool busy)
{
	const struct wait *wait = &t->wait;
	Long key = wait->deadline;

	if (wait->check_at && (!key || wait->check_at < key))
		key = wait->check_at;
	if (busy && wait->look_at && (!key || wait->look_at < key))
		key = wait->look_at;
	if (!key)
		return -1;
	return key > t->clock ? key : t->clock;
}

/**
 * wait_poke() - let a waiting thread look for itself.
 * @tid: the thread
 * @at: virtual time from when on
 */
void wait_poke(ThreadId tid, Long at)
{
	struct wait *wait = &vthreads[tid].wait;

	if (vthreads[tid].state == VT_WAITING && (!wait->check_at || wait->check_at > at))
		wait->check_at = at > 0 ? at : 1;
}

/**
 * wait_poke_signalled_at() - a signal may be pending for threads that wait.
 * @lwp: Linux thread id of the receiver, 0 any
 * @at: virtual time from when on
 */
void wait_poke_signalled_at(Int lwp, Long at)
{
	ThreadId tid;

	for (tid = 1; tid < vthread_end; tid++)
		if (!lwp || vthreads[tid].lwp == lwp)
			wait_poke(tid, at);
}

/**
 * wait_poke_signalled() - the running thread may have sent a signal.
 * @lwp: Linux thread id of the receiver, 0 any
 */
void wait_poke_signalled(Int lwp)
{
	wait_poke_signalled_at(lwp, sched_now() + model.wakeup);
}

/**
 * wait_poke_fds() - descriptors may be ready.
 * @at: virtual time from when on
 */
void wait_poke_fds(Long at)
{
	ThreadId tid;

	if (!nr_fd_waiters)
		return;
	for (tid = 1; tid < vthread_end; tid++)
		if (vthreads[tid].wait.kind == WAIT_FD)
			wait_poke(tid, at);
}

/** wait_fds_changed() - a system call may have made descriptors ready. */
void wait_fds_changed(void)
{
	wait_poke_fds(sched_now() + model.wakeup);
}

/**
 * wait_fd_waiters() - does any thread wait for descriptors?
 *
 * Return: True if so.
 */
Bool wait_fd_waiters(void)
{
	return nr_fd_waiters != 0;
}

/** wait_child_started() - a child process runs now. */
void wait_child_started(void)
{
	nr_children++;
}

/** wait_child_reaped() - a child process is gone. */
void wait_child_reaped(void)
{
	if (nr_children)
		nr_children--;
}

/**
 * wait_children() - are there child processes?
 *
 * Return: True if so, also if they have ended and nobody has waited for them.
 */
Bool wait_children(void)
{
	return nr_children != 0;
}

/** wait_forked() - this is a child process: it has none of its own. */
void wait_forked(void)
{
	nr_children = 0;
	nr_fd_waiters = 0;
}

/* Whether something from outside the process may come before the next timeout. Not for a signal:
 * nobody is known to send one.
 */
static Bool outside_may_come(void)
{
	ThreadId tid;

	if (nr_children)
		return True;
	for (tid = 1; tid < vthread_end; tid++) {
		const struct vthread *t = &vthreads[tid];

		if (t->state == VT_OUTSIDE ||
		    (t->wait.kind == WAIT_FD && timerfd_outside(t->wait.fds, t->wait.nr_fds)))
			return True;
	}
	return False;
}

static Long paced_now(void)
{
	return pace.on ? pace.clock + model_cycles(host_now() - pace.real) : sched_latest();
}

/**
 * wait_due() - nobody can run: has the time of a deadline come?
 * @deadline: virtual time of the next timeout, 0 none
 *
 * Return: True if so.
 */
Bool wait_due(Long deadline)
{
	if (!deadline)
		return False;
	if (!outside_may_come())
		return True;
	if (!pace.on) {
		pace.clock = sched_latest();
		pace.real = host_now();
		pace.on = True;
	}
	return paced_now() >= deadline;
}

/** wait_pace_stop() - somebody can run again: virtual time is what they take. */
void wait_pace_stop(void)
{
	pace.on = False;
}

/* How long to wait in real time, ns: to the next deadline if there is one. */
static Long idle_time(void)
{
	Long left = IDLE_NS;
	Long timer = timers_next();
	ThreadId tid;

	if (pace.on && timer && model_ns(timer - paced_now()) < left)
		left = model_ns(timer - paced_now());
	for (tid = 1; pace.on && tid < vthread_end; tid++) {
		Long deadline = vthreads[tid].wait.deadline;

		if (vthreads[tid].wait.kind && deadline && model_ns(deadline - paced_now()) < left)
			left = model_ns(deadline - paced_now());
	}
	return left > 0 ? left : 1;
}

/* All descriptors that anybody waits for; the array is kept. */
static struct vki_pollfd *gather_fds(UInt *nr)
{
	static struct vki_pollfd *all;
	static UInt room;
	ThreadId tid;

	*nr = 0;
	for (tid = 1; tid < vthread_end; tid++) {
		const struct wait *wait = &vthreads[tid].wait;

		if (wait->kind != WAIT_FD)
			continue;
		if (room < *nr + wait->nr_fds) {
			room = 2 * (*nr + wait->nr_fds);
			all = VG_(realloc)("rtmgrind.allfds", all, room * sizeof(*all));
		}
		VG_(memcpy)(all + *nr, wait->fds, wait->nr_fds * sizeof(*all));
		*nr += wait->nr_fds;
	}
	return all;
}

/* Pokes the threads whose descriptors are ready; @fds as gathered. */
static void poke_ready(const struct vki_pollfd *fds)
{
	ThreadId tid;
	UInt i;

	for (tid = 1; tid < vthread_end; tid++) {
		struct wait *wait = &vthreads[tid].wait;
		Bool ready = False;

		if (wait->kind != WAIT_FD)
			continue;
		for (i = 0; i < wait->nr_fds; i++)
			ready |= (fds++)->revents != 0;
		if (ready)
			wait->check_at = paced_now() ? paced_now() : 1;
	}
}

/**
 * wait_idle() - really wait a moment, for descriptors or other threads.
 *
 * Called by the thread that was woken for it; the threads it wakes are chosen
 * when it gives up the lock again.
 */
void wait_idle(void)
{
	Long timeout;
	struct vki_pollfd *fds;
	UInt nr;

	deadlock_check();
	timeout = idle_time();
	fds = gather_fds(&nr);
	if (!nr)
		sched_sleep(timeout);
	else if (host_poll(fds, nr, timeout) > 0)
		poke_ready(fds);
	wait_look_outside();
}

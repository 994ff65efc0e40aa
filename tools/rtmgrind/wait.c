// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wait.c - threads that wait.
 *
 * A thread that waits stands in front of its system call. The event that it waits for either
 * completes the call on its behalf (a futex wake-up, the end of a sleep) or lets it retry: the
 * thread gets a slice, executes the call again, and waits on if the call still has to (a descriptor
 * that may be ready, a signal that may be pending). So a thread can be given a slice at any time
 * without harm. idle.c runs while all threads wait.
 *
 * Must never depend on real time.
 */
#include "wait.h"
#include "account.h"
#include "core-hooks.h"
#include "guest.h"
#include "model.h"
#include "peers.h"
#include "sched.h"
#include "slice.h"
#include "timerfd.h"
#include "timers.h"
#include "vthread.h"

/* Time after which a waiter for an event that only the kernel knows retries, cycles. Chosen. */
#define LOOK_CYCLES 100000

static UInt nr_waiters[NR_WAIT_KINDS];
static UInt nr_children;
static ULong nr_queued;

/**
 * wait_set_kind() - change what a thread waits for.
 * @wait: the wait of the thread
 * @kind: what it waits for now
 */
void wait_set_kind(struct wait *wait, enum wait_kind kind)
{
	nr_waiters[wait->kind]--;
	wait->kind = kind;
	nr_waiters[kind]++;
}

/**
 * wait_again() - does the running thread repeat the call in which it waits?
 * @guest: registers of the thread
 *
 * Return: True if so; then its struct wait is still valid.
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
 * @guest: registers of the thread, which stands in front of a system call
 * @kind: what it waits for
 * @deadline: virtual time at which the wait ends, 0 never; ignored if the thread waits on
 * @at_deadline: result of the call at @deadline; not used for WAIT_FD, which retries then
 */
void wait_begin(VexGuestAMD64State *guest, enum wait_kind kind, Long deadline, Long at_deadline)
{
	struct wait *wait = &current_vthread()->wait;

	if (!wait->kind) {
		wait->syscall_nr = guest->guest_RAX;
		wait->deadline = deadline;
		wait->queued = nr_queued++;
		/* A signal that this call's mask does not block may be pending already. */
		wait->check_at = kind == WAIT_SIGNAL || wait->masked ? account_now() : 0;
	} else {
		wait->check_at = 0;
	}
	wait_set_kind(wait, kind);
	wait->at_deadline = at_deadline;
	wait->look_at = kind == WAIT_FD || kind == WAIT_TRY ? account_now() + LOOK_CYCLES : 0;
	slice_stop(guest);
}

/** wait_outside() - another process may end the running thread's wait: it retries at intervals. */
void wait_outside(void)
{
	struct wait *wait = &current_vthread()->wait;

	wait->outside = True;
	wait->look_at = account_now() + LOOK_CYCLES;
}

/**
 * wait_fds() - make room for the descriptors that the running thread waits for.
 * @nr: number of descriptors
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
 * wait_cancel() - end a thread's wait.
 * @tid: the thread
 */
void wait_cancel(ThreadId tid)
{
	struct wait *wait = &vthreads[tid].wait;

	if (wait->masked)
		core_set_mask(tid, &wait->old_mask, NULL);
	wait_set_kind(wait, WAIT_NONE);
	wait->masked = wait->outside = wait->woken = wait->owner_ended = wait->tried = False;
	wait->requeue_to = 0;
	wait->deadline = wait->check_at = wait->look_at = 0;
	wait->nr_fds = 0;
}

/**
 * wait_answer() - finish a call of the running thread that waits, or would have waited.
 * @guest: registers of the thread
 * @result: of the call, -errno if it failed
 *
 * Return: SYSCALL_DONE.
 */
enum syscall_verdict wait_answer(VexGuestAMD64State *guest, Long result)
{
	wait_cancel(current_tid);
	return guest_answer(guest, result);
}

/**
 * wait_complete() - finish the call in which a thread waits, on its behalf.
 * @tid: the thread
 * @result: result of the call
 * @at: virtual time from which the thread can go on
 */
void wait_complete(ThreadId tid, Long result, Long at)
{
	struct vthread *t = &vthreads[tid];

	t->guest->guest_RAX = result;
	t->guest->guest_RIP += SYSCALL_INSN_SIZE;
	if (t->clock < at)
		t->clock = at;
	if (t->state == VT_WAITING) {
		t->state = VT_READY;
		/* The running thread's slice was given as if this thread could not run. */
		account_cut(t->clock);
	}
	wait_cancel(tid);
}

/**
 * wait_expire() - end a thread's wait at its deadline.
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
 * wait_expired() - has the deadline of the running thread's wait come?
 *
 * Return: True if so.
 */
Bool wait_expired(void)
{
	const struct wait *wait = &current_vthread()->wait;

	return wait->kind && wait->deadline && account_now() >= wait->deadline;
}

/**
 * wait_key() - the virtual time at which a waiting thread retries or reaches its deadline.
 * @t: the thread
 * @busy: other threads can run: wait.look_at counts
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
 * wait_poke() - let a waiting thread retry.
 * @tid: the thread; it may also be the one that idles, which waits though its state is VT_RUNNING
 * @at: virtual time at which it retries
 */
void wait_poke(ThreadId tid, Long at)
{
	struct wait *wait = &vthreads[tid].wait;

	if (wait->kind && (!wait->check_at || wait->check_at > at))
		wait->check_at = at > 0 ? at : 1;
}

/**
 * wait_poke_signalled_at() - let waiting threads that may receive a signal retry.
 * @lwp: Linux thread id of the receiver, 0: any thread
 * @at: virtual time at which they retry
 */
void wait_poke_signalled_at(Int lwp, Long at)
{
	ThreadId tid;

	for (tid = 1; tid < vthread_end; tid++)
		if (!lwp || vthreads[tid].lwp == lwp)
			wait_poke(tid, at);
}

/**
 * wait_poke_signalled() - the running thread may have sent a signal: let waiting threads retry.
 * @lwp: Linux thread id of the receiver, 0: any thread
 */
void wait_poke_signalled(Int lwp)
{
	wait_poke_signalled_at(lwp, account_now() + model.wakeup);
}

/**
 * wait_poke_fds() - let threads that wait for descriptors, or in WAIT_TRY, retry.
 * @at: virtual time at which they retry
 */
void wait_poke_fds(Long at)
{
	ThreadId tid;

	if (!nr_waiters[WAIT_FD] && !nr_waiters[WAIT_TRY])
		return;
	for (tid = 1; tid < vthread_end; tid++)
		if (vthreads[tid].wait.kind == WAIT_FD || vthreads[tid].wait.kind == WAIT_TRY)
			wait_poke(tid, at);
}

/** wait_fds_changed() - a system call of the running thread may have made descriptors ready. */
void wait_fds_changed(void)
{
	wait_poke_fds(account_now() + model.wakeup);
}

/**
 * wait_fd_waiters() - does any thread wait for descriptors?
 *
 * Return: True if so.
 */
Bool wait_fd_waiters(void)
{
	return nr_waiters[WAIT_FD] != 0;
}

/** wait_child_started() - the process has made a child process. */
void wait_child_started(void)
{
	nr_children++;
}

/** wait_child_reaped() - the process has waited for a child process, which no longer exists. */
void wait_child_reaped(void)
{
	if (nr_children)
		nr_children--;
}

/**
 * wait_children() - has the process child processes?
 *
 * Return: True if so, even if they have ended but not been waited for.
 */
Bool wait_children(void)
{
	return nr_children != 0;
}

/**
 * wait_real_children() - has the process child processes that are not emulated?
 *
 * Return: True if so.
 */
Bool wait_real_children(void)
{
	return nr_children && !peers_all_children(nr_children);
}

/**
 * wait_forked() - this is a child process: it has no child processes, and no thread of it waits.
 *
 * Wake-ups must not go to threads of the parent.
 */
void wait_forked(void)
{
	ThreadId tid;

	nr_children = 0;
	for (tid = 1; tid < vthread_end; tid++)
		wait_set_kind(&vthreads[tid].wait, WAIT_NONE);
}

/**
 * wait_alone() - is there nothing in the process that a wait in the kernel would delay?
 *
 * Return: True if it has no other thread and no armed timer.
 */
Bool wait_alone(void)
{
	return sched_alone() && !timers_armed() && !timerfd_next();
}

/**
 * wait_kernel_may() - may the running thread wait in the kernel, in a call without a timeout?
 *
 * Return: True if that delays nothing in the process and in others of the run, which cannot know
 * whether a thread in the kernel has received what they sent.
 */
Bool wait_kernel_may(void)
{
	return wait_alone() && !peers_any();
}

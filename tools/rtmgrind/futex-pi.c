// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * futex-pi.c - priority-inheriting locks in virtual time.
 *
 * The word of such a lock has the id of its owner. The flag LOCK_WAITERS makes the owner release
 * the lock by a system call, which gives it to the thread that has waited for the longest time.
 * Simulated threads have no priorities, so none is inherited.
 *
 * For a lock in memory shared with other processes there is also the kernel's queue: when a thread
 * of this process releases the lock, waiters of other processes get it first. When a thread of
 * another process releases it, the lock is free until waiters of this process notice that, which
 * check it at intervals.
 *
 * Must never wait in the kernel, whose clocks are not those of virtual time.
 */
#include "futex-pi.h"
#include "access.h"
#include "account.h"
#include "futex.h"
#include "guest.h"
#include "handover.h"
#include "host.h"
#include "model.h"
#include "peers.h"
#include "txn.h"
#include "vthread.h"
#include "wait.h"

/* The value of a lock's word; 0, which is a free lock, if it cannot be read any more. */
static UInt read_word(Addr word)
{
	return guest_may(word, sizeof(UInt), VKI_PROT_READ) ? *(volatile UInt *)word : 0;
}

static Bool owned_by(UInt value, ThreadId tid)
{
	return (Int)(value & OWNER_MASK) == vthreads[tid].lwp;
}

/* The thread other than @except that has waited for the lock for the longest time, 0 none. */
static ThreadId first_waiter(Addr word, ThreadId except)
{
	ThreadId tid, first = 0;

	for (tid = 1; tid < vthread_end; tid++) {
		const struct wait *wait = &vthreads[tid].wait;

		if (wait->kind == WAIT_PI && wait->addr == word && tid != except &&
		    (!first || wait->queued < vthreads[first].wait.queued))
			first = tid;
	}
	return first;
}

/* Makes @tid the owner of a lock whose word is @old. False if another process has changed it. */
static Bool give(Addr word, UInt old, UInt died, ThreadId tid)
{
	UInt new = vthreads[tid].lwp | died;

	if (first_waiter(word, tid))
		new |= LOCK_WAITERS;
	return futex_swap(word, old, new);
}

/* Whether the owner in a word has ended, and the kernel has cleaned up after it. */
static Bool owner_is_gone(UInt value, Bool outside)
{
	Int owner = value & OWNER_MASK;

	if (vthread_find(owner, True))
		return False;
	return !outside || host_syscall(__NR_tkill, owner, 0, 0, 0, 0, 0) == -VKI_ESRCH;
}

/**
 * futex_pi_free() - may a waiter take a lock in memory shared with other processes?
 * @word: the lock
 *
 * Return: True if it has no owner, or one that has ended.
 */
Bool futex_pi_free(Addr word)
{
	UInt value = read_word(word);

	return !(value & OWNER_MASK) || owner_is_gone(value, True);
}

/* Whether the owner of a lock waits, perhaps through others, for a lock of the running thread. */
static Bool closes_cycle(UInt owner)
{
	UInt i;

	for (i = 0; i < nr_vthreads; i++) {
		ThreadId tid = vthread_find(owner & OWNER_MASK, True);

		if (!tid || vthreads[tid].wait.kind != WAIT_PI)
			return False;
		owner = read_word(vthreads[tid].wait.addr);
		if (owned_by(owner, current_tid))
			return True;
	}
	return False;
}

/*
 * Takes the lock if it has no owner; a waiter also takes one whose owner has ended. Returns 0, or
 * -errno: -EAGAIN if the lock has an owner.
 */
static Long try_lock(Addr word, Bool outside)
{
	Bool waits = current_vthread()->wait.kind == WAIT_PI;
	Bool gone;
	UInt value;

	do {
		futex_await_host_exit(read_word(word));
		value = read_word(word);
		if (owned_by(value, current_tid))
			return -(Long)VKI_EDEADLK;
		gone = value & OWNER_MASK && owner_is_gone(value, outside);
		if (gone && !waits)
			return -(Long)VKI_ESRCH;
		if (value & OWNER_MASK && !gone)
			return -(Long)VKI_EAGAIN;
		/* The first waiter gets it: it checks, too. */
		if (waits && first_waiter(word, 0) != current_tid)
			return -(Long)VKI_EAGAIN;
	} while (!give(word, value, gone ? OWNER_DIED : value & OWNER_DIED, current_tid));
	return 0;
}

static enum syscall_verdict lock(VexGuestAMD64State *guest, UInt op, Addr word)
{
	struct wait *wait = &current_vthread()->wait;
	Bool outside = futex_outside(word, op);
	Long deadline = 0, result;
	UInt value;

	if (!wait->kind && !futex_deadline(guest, op, &deadline))
		return wait_answer(guest, -(Long)VKI_EINVAL);
	do {
		result = try_lock(word, outside);
		value = read_word(word);
		if (result != -(Long)VKI_EAGAIN || (op & CMD_MASK) == CMD_TRYLOCK_PI)
			return wait_answer(guest, result);
		if (wait->kind)
			break;
		if (closes_cycle(value))
			return wait_answer(guest, -(Long)VKI_EDEADLK);
		if (deadline && deadline <= account_now())
			return wait_answer(guest, -(Long)VKI_ETIMEDOUT);
		/* Again if another process has released the lock meanwhile. */
	} while (!(value & OWNER_MASK) || !futex_swap(word, value, value | LOCK_WAITERS));
	wait_begin(guest, WAIT_PI, deadline, -(Long)VKI_ETIMEDOUT);
	if (outside)
		wait_outside();
	wait->addr = word;
	return SYSCALL_WAIT;
}

/* Gives a lock that the running thread releases, whose word is @value, to its first waiter. */
static void hand_over(Addr word, UInt value)
{
	ThreadId next = first_waiter(word, 0);

	if (!next)
		futex_swap(word, value, 0);
	else if (give(word, value, 0, next))
		wait_complete(next, 0, account_now() + model.wakeup);
}

static Long unlock(Addr word, UInt op)
{
	Long result;

	if (!owned_by(read_word(word), current_tid))
		return -(Long)VKI_EPERM;
	if (!futex_outside(word, op)) {
		hand_over(word, read_word(word));
		return 0;
	}
	/* The kernel lets only the host thread whose id is in the word release the lock. */
	handover_go_home();
	peers_sends();
	result = host_syscall(__NR_futex, word, CMD_UNLOCK_PI, 0, 0, 0, 0);
	peers_sent();
	/* No thread of another process has got it. */
	if (!result && !(read_word(word) & OWNER_MASK))
		hand_over(word, read_word(word));
	return result;
}

/* FUTEX_CMP_REQUEUE_PI: signals a condition variable; a woken waiter has the lock. */
static Long requeue(VexGuestAMD64State *guest, UInt op)
{
	Addr from = guest->guest_RDI, to = guest->guest_R8;
	Long max = (Long)(Int)guest->guest_R10 + 1, done = 0;
	Bool outside = futex_outside(to, op);
	ThreadId tid;

	if ((UInt)guest->guest_RDX != 1 || max < 1 || from == to)
		return -(Long)VKI_EINVAL;
	if (!guest_may(to, sizeof(UInt), VKI_PROT_READ | VKI_PROT_WRITE))
		return -(Long)VKI_EFAULT;
	if (!futex_holds(from, guest->guest_R9))
		return -(Long)VKI_EAGAIN;
	access_direct(current_tid, to, sizeof(UInt), True);
	if (outside || futex_outside(from, op)) {
		peers_sends();
		done = host_syscall(__NR_futex, from, op, 1, max - 1, to, guest->guest_R9);
		peers_sent();
		if (done < 0)
			return done;
	}
	for (; done < max && (tid = futex_waiter_to_requeue(from)) != 0; done++) {
		struct wait *wait = &vthreads[tid].wait;
		UInt value = read_word(to);

		if (wait->requeue_to != to)
			return done ? done : -(Long)VKI_EINVAL;
		wait_set_kind(wait, WAIT_PI);
		wait->addr = to;
		if (!(value & OWNER_MASK) && give(to, value, value & OWNER_DIED, tid))
			wait_complete(tid, 0, account_now() + model.wakeup);
		else
			futex_swap(to, value, value | LOCK_WAITERS);
	}
	return done;
}

/**
 * futex_pi_call() - a futex call about a priority-inheriting lock.
 * @guest: registers of the running thread
 * @op: operation of the call, with its flags
 *
 * Return: what to do with the call.
 */
enum syscall_verdict futex_pi_call(VexGuestAMD64State *guest, UInt op)
{
	Addr word = guest->guest_RDI;

	if (!guest_may(word, sizeof(UInt), VKI_PROT_READ | VKI_PROT_WRITE))
		return wait_answer(guest, -(Long)VKI_EFAULT);
	if (txn_nr_open)
		access_direct(current_tid, word, sizeof(UInt), True);
	switch (op & CMD_MASK) {
	case CMD_UNLOCK_PI:
		return wait_answer(guest, unlock(word, op));
	case CMD_CMP_REQUEUE_PI:
		return wait_answer(guest, requeue(guest, op));
	case CMD_WAIT_REQUEUE_PI:
		return lock(guest, op, current_vthread()->wait.addr);
	default:
		return lock(guest, op, word);
	}
}

/**
 * futex_pi_owner_exits() - let the waiters for a thread's locks check these again.
 * @tid: the thread, which ends
 */
void futex_pi_owner_exits(ThreadId tid)
{
	ThreadId waiter;

	for (waiter = 1; waiter < vthread_end; waiter++) {
		const struct wait *wait = &vthreads[waiter].wait;

		if (wait->kind == WAIT_PI && owned_by(read_word(wait->addr), tid))
			wait_poke(waiter, account_now() + model.wakeup);
	}
}

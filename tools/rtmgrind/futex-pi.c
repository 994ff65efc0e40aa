// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * futex-pi.c - priority-inheriting locks in virtual time.
 *
 * The word of such a lock names its owner; the flag LOCK_WAITERS makes the owner release it by a
 * system call, which hands it over to the thread that has waited longest. Nothing here has
 * priorities, so none are inherited.
 *
 * A lock in memory shared with other processes is the kernel's too: when a thread of this process
 * releases it, first those get it who wait in the kernel; when another process does, the lock is
 * free, and the waiters of this process find that when they look.
 *
 * Must never wait in the kernel, whose clocks are others.
 */
#include "futex-pi.h"
#include "access.h"
#include "account.h"
#include "futex.h"
#include "guest.h"
#include "handover.h"
#include "host.h"
#include "model.h"
#include "txn.h"
#include "vthread.h"
#include "wait.h"

/* Of a lock that is there no more it says that nobody has it. */
static UInt read_word(Addr word)
{
	return guest_may(word, sizeof(UInt), VKI_PROT_READ) ? *(volatile UInt *)word : 0;
}

static Bool owned_by(UInt value, ThreadId tid)
{
	return (Int)(value & OWNER_MASK) == vthreads[tid].lwp;
}

/* The thread that has waited longest for the lock, 0 none; not @except. */
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

/* Makes @tid the owner of a lock whose word is @old. False if another process changed it. */
static Bool give(Addr word, UInt old, UInt died, ThreadId tid)
{
	UInt new = vthreads[tid].lwp | died;

	if (first_waiter(word, tid))
		new |= LOCK_WAITERS;
	return futex_swap(word, old, new);
}

/* Whether the owner that a word names exists no more, after what the kernel does at its end. */
static Bool owner_is_gone(UInt value, Bool outside)
{
	Int owner = value & OWNER_MASK;

	if (vthread_find(owner, True))
		return False;
	return !outside || host_syscall(__NR_tkill, owner, 0, 0, 0, 0, 0) == -VKI_ESRCH;
}

/**
 * futex_pi_free() - may a waiter take a lock that other processes see?
 * @word: the lock
 *
 * Return: True if nobody has it, or nobody who exists.
 */
Bool futex_pi_free(Addr word)
{
	UInt value = read_word(word);

	return !(value & OWNER_MASK) || owner_is_gone(value, True);
}

/* Whether the owner of a lock waits, over others, for one that the running thread has. */
static Bool closes_circle(UInt owner)
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
 * Takes the lock if nobody has it; a thread that waits takes one whose owner is gone, too.
 * Returns 0 or -errno: -EAGAIN if somebody has it.
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
		/* Who has waited longest is sent to look as well. */
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
		if (closes_circle(value))
			return wait_answer(guest, -(Long)VKI_EDEADLK);
		if (deadline && deadline <= account_now())
			return wait_answer(guest, -(Long)VKI_ETIMEDOUT);
		/* Another process may have released it meanwhile. */
	} while (!(value & OWNER_MASK) || !futex_swap(word, value, value | LOCK_WAITERS));
	wait_begin(guest, WAIT_PI, deadline, -(Long)VKI_ETIMEDOUT);
	if (outside)
		wait_outside();
	wait->addr = word;
	return SYSCALL_WAIT;
}

/* Hands a lock that the running thread has released, in its word, to whom it belongs next. */
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
	/* The kernel lets only the host thread whose id the word has release the lock. */
	handover_go_home();
	result = host_syscall(__NR_futex, word, CMD_UNLOCK_PI, 0, 0, 0, 0);
	/* Nobody waited in the kernel. */
	if (!result && !(read_word(word) & OWNER_MASK))
		hand_over(word, read_word(word));
	return result;
}

/* FUTEX_CMP_REQUEUE_PI: a condition variable is signalled; who wakes, wakes with the lock. */
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
		done = host_syscall(__NR_futex, from, op, 1, max - 1, to, guest->guest_R9);
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
 * @op: the call's
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
 * futex_pi_owner_exits() - send those who wait for a lock that a thread has to look.
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

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * futex.c - futexes in virtual time.
 *
 * Waiters of this process are kept here, and woken in the order of arrival. For a futex in
 * memory shared with other processes there is also the kernel's queue: a wake goes to waiters of
 * other processes first, and a waiter of this process checks at intervals whether another process
 * has changed the word. While no thread of this process can run, its waiters are in the kernel's
 * queue; see idle.c. No absolute timeout reaches the kernel, whose clocks are ahead of virtual
 * time.
 *
 * When a thread ends the kernel clears the thread-id word that pthread_join() waits on, and marks
 * the robust mutexes that the thread held. So a thread that waits on a word with the id of an
 * ending thread checks the word again once the kernel has done that.
 *
 * Must never let a thread wait in the kernel while another thread of this process can run.
 */
#include "futex.h"
#include "access.h"
#include "account.h"
#include "futex-pi.h"
#include "guest.h"
#include "host.h"
#include "lwp.h"
#include "model.h"
#include "peers.h"
#include "shared.h"
#include "time.h"
#include "txn.h"
#include "vthread.h"
#include "wait.h"

/**
 * futex_await_host_exit() - wait until the kernel is done with a thread that has ended here.
 * @value: value of a futex word, which may have the thread's id
 */
void futex_await_host_exit(UInt value)
{
	Int lwp = value & OWNER_MASK;
	ThreadId tid = vthread_find(lwp, False);

	if (!tid || vthread_find(lwp, True))
		return;
	lwp_await_end(lwp);
	vthreads[tid].lwp = 0;
}

/**
 * futex_holds() - does a futex word have a value?
 * @word: its address
 * @value: the value
 *
 * Return: False if it has another value, or cannot be read any more.
 */
Bool futex_holds(Addr word, UInt value)
{
	return guest_may(word, sizeof(UInt), VKI_PROT_READ) && *(volatile UInt *)word == value;
}

/**
 * futex_outside() - may another process wait for a futex, or wake its waiters?
 * @word: address of the futex word
 * @op: operation of the futex call, with its flags
 *
 * Return: True if so.
 */
Bool futex_outside(Addr word, UInt op)
{
	return !(op & FLAG_PRIVATE) && shared_contains(word);
}

/**
 * futex_swap() - compare and exchange a futex word; another process may change it, too.
 * @word: address of the word
 * @old: the expected value
 * @new: the new value
 *
 * Return: False if the word has another value than @old.
 */
Bool futex_swap(Addr word, UInt old, UInt new)
{
	/* Relaxed: a waiter is woken by a system call, which orders the accesses. */
	return __atomic_compare_exchange_n((UInt *)word, &old, new, False, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

/**
 * futex_deadline() - read the timeout of a call that waits.
 * @guest: registers of the running thread
 * @op: operation of the call, with its flags
 * @deadline: receives the virtual time, 0 never
 *
 * Return: False if it is not readable or not valid.
 */
Bool futex_deadline(VexGuestAMD64State *guest, UInt op, Long *deadline)
{
	Bool realtime = op & FLAG_REALTIME || (op & CMD_MASK) == CMD_LOCK_PI;

	*deadline = 0;
	if (!guest->guest_R10)
		return True;
	if ((op & CMD_MASK) == CMD_WAIT)
		return time_read_timeout(guest->guest_R10, deadline);
	return time_read_deadline(realtime ? VKI_CLOCK_REALTIME : VKI_CLOCK_MONOTONIC,
				  guest->guest_R10, deadline);
}

static Bool waits_on(const struct wait *wait, Addr word, UInt mask, Bool requeue)
{
	return (wait->kind == WAIT_FUTEX || wait->kind == WAIT_EXIT) && wait->addr == word &&
	       wait->mask & mask && !wait->requeue_to == !requeue;
}

/* The thread that has waited for the longest time on @word with a bit of @mask, 0 none. */
static ThreadId first_waiter(Addr word, UInt mask, Bool requeue)
{
	ThreadId tid, first = 0;

	for (tid = 1; tid < vthread_end; tid++)
		if (waits_on(&vthreads[tid].wait, word, mask, requeue) &&
		    (!first || vthreads[tid].wait.queued < vthreads[first].wait.queued))
			first = tid;
	return first;
}

/*
 * A waiting thread checks whether its wait is over. A change of the word does not end it: only a
 * wake-up ends a wait with 0, as in the kernel. Two wake-ups come from outside: that of the kernel
 * when a thread has ended, which wakes the first waiter, and that of another process, which found no
 * waiter in the kernel while a thread of this process ran. The latter shows only as a change of the
 * word, which need not be a wake-up, so the result is that of a call that began after the change.
 */
static enum syscall_verdict wait_on(VexGuestAMD64State *guest)
{
	struct wait *wait = &current_vthread()->wait;
	Bool changed;

	if (wait->owner_ended)
		futex_await_host_exit(wait->value);
	changed = !futex_holds(wait->addr, wait->value);
	if (wait->woken || (wait->owner_ended && changed &&
			    first_waiter(wait->addr, ~0u, False) == current_tid))
		return wait_answer(guest, 0);
	if (wait->outside && changed)
		return wait_answer(guest, -(Long)VKI_EAGAIN);
	wait->owner_ended = False;
	wait_begin(guest, wait->kind, 0, -(Long)VKI_ETIMEDOUT);
	if (wait->outside)
		wait_outside();
	return SYSCALL_WAIT;
}

static enum syscall_verdict futex_wait(VexGuestAMD64State *guest, UInt op)
{
	UInt cmd = op & CMD_MASK;
	Addr word = guest->guest_RDI;
	UInt value = guest->guest_RDX;
	UInt mask = cmd == CMD_WAIT_BITSET ? (UInt)guest->guest_R9 : ~0u;
	struct wait *wait = &current_vthread()->wait;
	Bool outside = futex_outside(word, op);
	enum wait_kind kind = WAIT_FUTEX;
	Long deadline = 0;

	if (wait->kind)
		return wait_on(guest);
	if (!mask || !futex_deadline(guest, op, &deadline))
		return wait_answer(guest, -(Long)VKI_EINVAL);
	futex_await_host_exit(value);
	if (!futex_holds(word, value))
		return wait_answer(guest, -(Long)VKI_EAGAIN);
	if (deadline && deadline <= account_now())
		return wait_answer(guest, -(Long)VKI_ETIMEDOUT);
	/* The word is not private, and has the id of a live thread: this is pthread_join(). */
	if (!(op & FLAG_PRIVATE) && !outside && vthread_find(value & OWNER_MASK, True))
		kind = WAIT_EXIT;
	wait_begin(guest, kind, deadline, -(Long)VKI_ETIMEDOUT);
	if (outside)
		wait_outside();
	wait->addr = word;
	wait->mask = mask;
	wait->value = value;
	wait->requeue_to = cmd == CMD_WAIT_REQUEUE_PI ? guest->guest_R8 : 0;
	return SYSCALL_WAIT;
}

/**
 * futex_waiter_to_requeue() - find a waiter of FUTEX_WAIT_REQUEUE_PI.
 * @word: the futex word that it waits on
 *
 * Return: the thread that has waited for the longest time, 0 none.
 */
ThreadId futex_waiter_to_requeue(Addr word)
{
	return first_waiter(word, ~0u, True);
}

/**
 * futex_wake_outside() - wake waiters of other processes, which wait in the kernel.
 * @word: futex word, in memory shared with them
 * @max: largest number of waiters to wake
 * @mask: bit set
 *
 * No thread of this process is in the kernel's queue while another one runs.
 *
 * Return: number of waiters that were woken.
 */
Long futex_wake_outside(Addr word, Int max, UInt mask)
{
	Long woken;

	peers_sends();
	woken = host_syscall(__NR_futex, word, CMD_WAKE_BITSET, max, 0, 0, mask);
	peers_sent();
	return woken > 0 ? woken : 0;
}

static Long wake(Addr word, Int max, UInt mask, Bool outside)
{
	Long woken = outside ? futex_wake_outside(word, max, mask) : 0;
	ThreadId tid;

	/* The kernel wakes one waiter even if the number is 0 or negative. */
	if (max < 1)
		max = 1;
	while (woken < max && (tid = first_waiter(word, mask, False)) != 0) {
		wait_complete(tid, 0, account_now() + model.wakeup);
		woken++;
	}
	return woken;
}

/* FUTEX_REQUEUE and FUTEX_CMP_REQUEUE. */
static Long requeue(VexGuestAMD64State *guest, UInt op)
{
	Addr from = guest->guest_RDI, to = guest->guest_R8;
	Int max_woken = guest->guest_RDX, max = guest->guest_R10;
	Long done = 0, woken;
	ThreadId tid;

	if (max_woken < 0 || max < 0)
		return -(Long)VKI_EINVAL;
	if (!guest_may(to, sizeof(UInt), VKI_PROT_READ))
		return -(Long)VKI_EFAULT;
	if ((op & CMD_MASK) == CMD_CMP_REQUEUE && !futex_holds(from, guest->guest_R9))
		return -(Long)VKI_EAGAIN;
	if (futex_outside(from, op) || futex_outside(to, op)) {
		peers_sends();
		done = host_syscall(__NR_futex, from, op, max_woken, max, to, guest->guest_R9);
		peers_sent();
		if (done < 0)
			return done;
	}
	/* The first waiters are woken, the next ones moved. */
	woken = done < max_woken ? done : max_woken;
	for (; woken < max_woken && (tid = first_waiter(from, ~0u, False)) != 0; woken++, done++)
		wait_complete(tid, 0, account_now() + model.wakeup);
	for (; from != to && done < (Long)max_woken + max &&
	       (tid = first_waiter(from, ~0u, False)) != 0; done++) {
		vthreads[tid].wait.addr = to;
		vthreads[tid].wait.value = *(volatile UInt *)to;
	}
	return done;
}

/* FUTEX_WAKE_OP's arithmetic, encoded as futex(2) says. */
static UInt new_value(UInt old, UInt code)
{
	Int operand = (Int)(code << 8) >> 20;

	if (code >> 28 & 8)
		operand = 1 << (operand & 31);
	switch (code >> 28 & 7) {
	case 0: return operand;
	case 1: return old + operand;
	case 2: return old | operand;
	case 3: return old & ~operand;
	case 4: return old ^ operand;
	default: return old;
	}
}

static Bool compares(Int old, UInt code)
{
	Int compared = (Int)(code << 20) >> 20;

	switch (code >> 24 & 15) {
	case 0: return old == compared;
	case 1: return old != compared;
	case 2: return old < compared;
	case 3: return old <= compared;
	case 4: return old > compared;
	case 5: return old >= compared;
	default: return False;
	}
}

static Long wake_op(VexGuestAMD64State *guest, UInt op)
{
	Addr second = guest->guest_R8;
	Long woken;
	UInt old;

	if (!guest_may(second, sizeof(UInt), VKI_PROT_READ | VKI_PROT_WRITE))
		return -(Long)VKI_EFAULT;
	access_direct(current_tid, second, sizeof(UInt), True);
	do {
		old = *(volatile UInt *)second;
	} while (!futex_swap(second, old, new_value(old, guest->guest_R9)));
	woken = wake(guest->guest_RDI, guest->guest_RDX, ~0u, futex_outside(guest->guest_RDI, op));
	if (compares(old, guest->guest_R9))
		woken += wake(second, guest->guest_R10, ~0u, futex_outside(second, op));
	return woken;
}

/* Whether a command may have the flag FUTEX_CLOCK_REALTIME; the kernel refuses it with others. */
static Bool may_name_clock(UInt cmd)
{
	return cmd == CMD_WAIT_BITSET || cmd == CMD_WAIT_REQUEUE_PI || cmd == CMD_LOCK_PI2;
}

/**
 * futex_call() - the futex system call.
 * @guest: registers of the running thread
 *
 * Return: what to do with the call.
 */
enum syscall_verdict futex_call(VexGuestAMD64State *guest)
{
	UInt op = guest->guest_RSI;
	UInt cmd = op & CMD_MASK;
	Addr word = guest->guest_RDI;
	UInt mask = cmd == CMD_WAKE_BITSET ? (UInt)guest->guest_R9 : ~0u;

	if (op & FLAG_REALTIME && !may_name_clock(cmd))
		return wait_answer(guest, -(Long)VKI_ENOSYS);
	/* An invalid address: the kernel returns the error. */
	if (!guest_may(word, sizeof(UInt), VKI_PROT_READ) || word % sizeof(UInt)) {
		wait_cancel(current_tid);
		return SYSCALL_REAL;
	}
	if (txn_nr_open)
		access_direct(current_tid, word, sizeof(UInt), False);

	switch (cmd) {
	case CMD_WAIT:
	case CMD_WAIT_BITSET:
		return futex_wait(guest, op);
	case CMD_WAIT_REQUEUE_PI:
		if (current_vthread()->wait.kind == WAIT_PI)
			return futex_pi_call(guest, op);
		return futex_wait(guest, op);
	case CMD_WAKE:
	case CMD_WAKE_BITSET:
		if (!mask)
			return wait_answer(guest, -(Long)VKI_EINVAL);
		return wait_answer(guest, wake(word, guest->guest_RDX, mask,
					       futex_outside(word, op)));
	case CMD_CMP_REQUEUE:
	case CMD_REQUEUE:
		return wait_answer(guest, requeue(guest, op));
	case CMD_WAKE_OP:
		return wait_answer(guest, wake_op(guest, op));
	case CMD_LOCK_PI:
	case CMD_LOCK_PI2:
	case CMD_TRYLOCK_PI:
	case CMD_UNLOCK_PI:
	case CMD_CMP_REQUEUE_PI:
		return futex_pi_call(guest, op);
	default:
		return SYSCALL_REAL;
	}
}

/**
 * futex_thread_exits() - let waiters check words with the id of a thread again.
 * @tid: the thread that ends
 */
void futex_thread_exits(ThreadId tid)
{
	UInt lwp = vthreads[tid].lwp;
	ThreadId waiter;

	for (waiter = 1; waiter < vthread_end; waiter++) {
		struct wait *wait = &vthreads[waiter].wait;

		/* The kernel's wake-up does not reach private waiters (FUTEX_PRIVATE_FLAG). */
		if ((wait->kind != WAIT_FUTEX && wait->kind != WAIT_EXIT) ||
		    (wait->value & OWNER_MASK) != lwp ||
		    vthreads[waiter].guest->guest_RSI & FLAG_PRIVATE)
			continue;
		wait->owner_ended = True;
		wait_poke(waiter, account_now() + model.wakeup);
	}
	futex_pi_owner_exits(tid);
}

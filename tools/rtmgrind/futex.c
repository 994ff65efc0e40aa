// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * futex.c - futexes in virtual time.
 *
 * Waiters of this process are kept here and woken in the order they came.
 * Priority-inheriting futexes and those in memory shared with other processes
 * stay the kernel's: it alone sees both sides. The kernel also ends a
 * thread's life: it clears the thread-id word that joiners wait on and marks
 * the robust mutexes the thread held, so whoever waits on a word that names
 * an ending thread is sent back to look once that has happened.
 */
#include "rtmgrind.h"
#include "model.h"
#include "host.h"

enum {
	CMD_WAIT = 0,
	CMD_WAKE = 1,
	CMD_REQUEUE = 3,
	CMD_CMP_REQUEUE = 4,
	CMD_WAKE_OP = 5,
	CMD_WAIT_BITSET = 9,
	CMD_WAKE_BITSET = 10,
	FLAG_PRIVATE = 128,
	FLAG_REALTIME = 256,
	CMD_MASK = 127,
};

/* Missing from valgrind's headers (include/uapi/asm-generic/errno.h). */
#define VKI_ETIMEDOUT 110

/* Thread id in the word of a robust or priority-inheriting futex (futex(2)). */
#define OWNER_MASK 0x3fffffffu

static enum syscall_verdict done(VexGuestAMD64State *guest, Long result)
{
	wait_cancel(current_tid);
	guest->guest_RAX = result;
	return SYSCALL_DONE;
}

static ThreadId find_thread(Int lwp, Bool alive)
{
	ThreadId tid;

	for (tid = 1; tid < vthread_end; tid++)
		if (vthreads[tid].lwp == lwp && (vthreads[tid].state != VT_FREE) == alive)
			return tid;
	return 0;
}

/* Lets the kernel finish with a thread that has ended here. */
static void await_host_exit(UInt value)
{
	Int lwp = value & OWNER_MASK;
	ThreadId tid = lwp ? find_thread(lwp, False) : 0;

	if (!tid || find_thread(lwp, True))
		return;
	while (host_syscall(__NR_tgkill, VG_(getpid)(), lwp, 0, 0, 0, 0) == 0)
		host_yield();
	vthreads[tid].lwp = 0;
}

static enum syscall_verdict futex_wait(VexGuestAMD64State *guest, UInt op)
{
	UInt cmd = op & CMD_MASK;
	Addr word = guest->guest_RDI;
	UInt value = guest->guest_RDX;
	UInt mask = cmd == CMD_WAIT ? ~0u : (UInt)guest->guest_R9;
	struct wait *wait = &current_vthread()->wait;
	Long deadline = 0;
	Int lwp = value & OWNER_MASK;

	await_host_exit(value);
	if (*(volatile UInt *)word != value)
		return done(guest, -(Long)VKI_EAGAIN);
	if (!mask)
		return done(guest, -(Long)VKI_EINVAL);
	if (guest->guest_R10 && !wait->kind) {
		Int clock = op & FLAG_REALTIME ? VKI_CLOCK_REALTIME : VKI_CLOCK_MONOTONIC;
		Bool valid;

		if (cmd == CMD_WAIT)
			valid = time_read_timeout(guest->guest_R10, &deadline);
		else
			valid = time_read_deadline(clock, guest->guest_R10, &deadline);
		if (!valid)
			return done(guest, -(Long)VKI_EINVAL);
		if (deadline && deadline <= sched_now())
			return done(guest, -(Long)VKI_ETIMEDOUT);
	}
	/* Not private and naming a live thread: pthread_join(). */
	wait_begin(guest, !(op & FLAG_PRIVATE) && find_thread(lwp, True) ? WAIT_EXIT : WAIT_FUTEX,
		   deadline, -(Long)VKI_ETIMEDOUT);
	wait->addr = word;
	wait->mask = mask;
	wait->value = value;
	return SYSCALL_WAIT;
}

/* The thread that has waited longest on @word with a bit of @mask, 0 none. */
static ThreadId first_waiter(Addr word, UInt mask)
{
	ThreadId tid, first = 0;

	for (tid = 1; tid < vthread_end; tid++) {
		const struct wait *wait = &vthreads[tid].wait;

		if ((wait->kind == WAIT_FUTEX || wait->kind == WAIT_EXIT) && wait->addr == word &&
		    wait->mask & mask && (!first || wait->queued < vthreads[first].wait.queued))
			first = tid;
	}
	return first;
}

static Long wake(Addr word, Int max, UInt mask)
{
	Long woken = 0;
	ThreadId tid;

	while (woken < max && (tid = first_waiter(word, mask)) != 0) {
		wait_complete(tid, 0, sched_now() + model.wakeup);
		woken++;
	}
	return woken;
}

static Long requeue(Addr from, Addr to, Int max)
{
	Long moved = 0;
	ThreadId tid;

	while (from != to && moved < max && (tid = first_waiter(from, ~0u)) != 0) {
		vthreads[tid].wait.addr = to;
		moved++;
	}
	return moved;
}

/* FUTEX_WAKE_OP's arithmetic on the second word, encoded as futex(2) says. */
static Bool apply_op(UInt *word, UInt code)
{
	Int operand = (Int)(code << 8) >> 20;
	Int compared = (Int)(code << 20) >> 20;
	Int old = *word;

	if (code >> 28 & 8)
		operand = 1 << (operand & 31);
	switch (code >> 28 & 7) {
	case 0: *word = operand; break;
	case 1: *word = old + operand; break;
	case 2: *word = old | operand; break;
	case 3: *word = old & ~operand; break;
	case 4: *word = old ^ operand; break;
	}
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

static Long wake_op(VexGuestAMD64State *guest)
{
	Addr second = guest->guest_R8;
	Long woken;
	Bool both;

	if (!guest_may(second, sizeof(UInt), VKI_PROT_READ | VKI_PROT_WRITE))
		return -(Long)VKI_EFAULT;
	txn_access(current_tid, second, sizeof(UInt), True);
	both = apply_op((UInt *)second, guest->guest_R9);
	woken = wake(guest->guest_RDI, guest->guest_RDX, ~0u);
	if (both)
		woken += wake(second, guest->guest_R10, ~0u);
	return woken;
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
	Long woken;

	if (!guest_may(word, sizeof(UInt), VKI_PROT_READ) || word % sizeof(UInt) ||
	    (!(op & FLAG_PRIVATE) && shared_contains(word)))
		return SYSCALL_REAL;
	if (txn_nr_open)
		txn_access(current_tid, word, sizeof(UInt), False);

	switch (cmd) {
	case CMD_WAIT:
	case CMD_WAIT_BITSET:
		return futex_wait(guest, op);
	case CMD_WAKE:
	case CMD_WAKE_BITSET:
		return done(guest, wake(word, guest->guest_RDX, mask));
	case CMD_CMP_REQUEUE:
		if (*(volatile UInt *)word != (UInt)guest->guest_R9)
			return done(guest, -(Long)VKI_EAGAIN);
		/* fall through */
	case CMD_REQUEUE:
		woken = wake(word, guest->guest_RDX, ~0u);
		return done(guest, woken + requeue(word, guest->guest_R8, guest->guest_R10));
	case CMD_WAKE_OP:
		return done(guest, wake_op(guest));
	default:
		return SYSCALL_REAL;
	}
}

/**
 * futex_thread_exits() - send those who wait for the end of a thread to look.
 * @tid: the thread that ends
 */
void futex_thread_exits(ThreadId tid)
{
	UInt lwp = vthreads[tid].lwp;
	ThreadId waiter;

	for (waiter = 1; waiter < vthread_end; waiter++) {
		const struct wait *wait = &vthreads[waiter].wait;

		if ((wait->kind == WAIT_FUTEX || wait->kind == WAIT_EXIT) &&
		    (wait->value & OWNER_MASK) == lwp)
			wait_poke(waiter, sched_now() + model.wakeup);
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sigwait.c - the effect of signals on waiting threads, and calls that wait for signals.
 *
 * Valgrind keeps the guest's signals blocked on the host, polls for one at the start of each slice,
 * and then makes the handler's frame. So a thread that may receive a signal gets a slice, and
 * a signal always interrupts the program between two slices. Must never take a
 * signal itself, as Valgrind keeps the record of them.
 */
#include "sigwait.h"
#include "access.h"
#include "account.h"
#include "core-hooks.h"
#include "guest.h"
#include "handover.h"
#include "host.h"
#include "model.h"
#include "peers.h"
#include "time.h"
#include "timers.h"
#include "vthread.h"
#include "wait.h"

#define NR_SIGNALS 65
/* Bytes of a signal set of the kernel. */
#define SIGSET_SIZE 8
/* waitid(2), include/uapi/linux/wait.h */
#define NO_HANG 1
#define NO_WAIT 0x01000000
#define EXITED 4
enum { ID_ALL, ID_PID, ID_GROUP };

static Bool restarts[NR_SIGNALS];
static Bool handled[NR_SIGNALS];
/* Signals that were pending when sigwait_look() was last called, a bit each. */
static ULong seen;

/**
 * sigwait_action() - note the effect of a signal on a waiting thread.
 * @signal: number of the signal
 * @action: the argument of the program's rt_sigaction()
 */
void sigwait_action(Int signal, const struct vki_sigaction_base *action)
{
	if (signal <= 0 || signal >= NR_SIGNALS)
		return;
	restarts[signal] = (action->sa_flags & VKI_SA_RESTART) != 0;
	handled[signal] = action->ksa_handler != VKI_SIG_DFL && action->ksa_handler != VKI_SIG_IGN;
}

/**
 * sigwait_any_handled() - has a signal that users or other programs send a handler?
 *
 * Return: True if so: such a signal might end a wait.
 */
Bool sigwait_any_handled(void)
{
	return handled[VKI_SIGHUP] || handled[VKI_SIGINT] || handled[VKI_SIGQUIT] ||
	       handled[VKI_SIGTERM] || handled[VKI_SIGUSR1] || handled[VKI_SIGUSR2];
}

/* Signals pending for the process or the calling thread. */
static ULong pending(void)
{
	ULong set = 0;

	host_syscall(__NR_rt_sigpending, (Long)&set, SIGSET_SIZE, 0, 0, 0, 0);
	return set;
}

/**
 * sigwait_pending() - is a signal pending for the process or the calling host thread?
 *
 * Return: True if so.
 */
Bool sigwait_pending(void)
{
	return pending() != 0;
}

/**
 * sigwait_look() - after a wait in the kernel: has a signal come, so that waiting threads retry?
 *
 * Return: True if so.
 */
Bool sigwait_look(void)
{
	ULong now = pending();
	Bool new = (now & ~seen) != 0;

	seen = now;
	return new;
}

/**
 * sigwait_mask() - set the signal mask in the arguments of the running thread's waiting call.
 * @set: address of the mask in guest memory, 0 none
 *
 * wait_cancel() sets the thread's old mask again.
 *
 * Return: False if the mask is not readable.
 */
Bool sigwait_mask(Addr set)
{
	struct wait *wait = &current_vthread()->wait;

	if (!set)
		return True;
	if (!guest_may(set, SIGSET_SIZE, VKI_PROT_READ))
		return False;
	core_set_mask(current_tid, (const vki_sigset_t *)set, &wait->old_mask);
	wait->masked = True;
	return True;
}

/**
 * sigwait_frame_mask() - correct the mask that a signal frame saves.
 * @tid: the thread
 * @mask: the thread's mask; replaced by the one from before the call that the signal interrupts, if
 *        that has a mask of its own
 */
void sigwait_frame_mask(ThreadId tid, vki_sigset_t *mask)
{
	struct vthread *t = &vthreads[tid];

	if (t->frame_masked)
		*mask = t->frame_mask;
	t->frame_masked = False;
}

/*
 * Whether SA_RESTART restarts the call of a thread that waits, according to signal(7). For a futex
 * wait with a timeout that is wrong: the kernel's futex_wait() restarts it only if no handler ran.
 */
static Bool restartable(const struct vthread *t)
{
	switch (t->wait.syscall_nr) {
	case __NR_futex:
		return !t->guest->guest_R10;
	case __NR_nanosleep:
	case __NR_clock_nanosleep:
	case __NR_poll:
	case __NR_ppoll:
	case __NR_select:
	case __NR_pselect6:
	case __NR_epoll_wait:
	case __NR_epoll_pwait:
	case __NR_pause:
	case __NR_rt_sigsuspend:
	case __NR_rt_sigtimedwait:
	case __NR_semop:
	case __NR_semtimedop:
	case __NR_msgsnd:
	case __NR_msgrcv:
		return False;
	default:
		return True;
	}
}

/* Writes the time that is left of an interrupted nanosleep() or clock_nanosleep(). */
static void write_remaining(const struct vthread *t)
{
	Bool plain = t->wait.syscall_nr == __NR_nanosleep;
	Addr rem = plain ? t->guest->guest_RSI : t->guest->guest_R10;
	Long left = t->wait.deadline - t->clock;
	struct vki_timespec *ts = (struct vki_timespec *)rem;

	/* The program's timeout stays if it is too long for virtual time, which is no deadline. */
	if (t->wait.kind != WAIT_SLEEP || !t->wait.deadline ||
	    !guest_may(rem, sizeof(*ts), VKI_PROT_WRITE))
		return;
	if (!plain && (t->wait.syscall_nr != __NR_clock_nanosleep || t->guest->guest_RSI & 1))
		return;
	left = left > 0 ? model_ns(left) : 0;
	ts->tv_sec = left / NS_PER_SECOND;
	ts->tv_nsec = left % NS_PER_SECOND;
}

/**
 * sigwait_taken() - a signal is no longer pending: if it is found again, it is a new one.
 * @signal: number of the signal
 */
void sigwait_taken(Int signal)
{
	if (signal > 0 && signal < NR_SIGNALS)
		seen &= ~(1ULL << (signal - 1));
}

/**
 * sigwait_handler() - a thread is about to run a signal handler.
 * @tid: the thread
 * @signal: the signal
 */
void sigwait_handler(ThreadId tid, Int signal)
{
	struct vthread *t = &vthreads[tid];

	sigwait_taken(signal);
	if (!t->wait.kind)
		return;
	/* The handler runs with the call's mask, so wait_cancel() must not change it now. */
	if (t->wait.masked) {
		t->wait.masked = False;
		t->frame_masked = True;
		t->frame_mask = t->wait.old_mask;
	}
	/* FUTEX_WAIT_REQUEUE_PI is not made again once the thread waits for the lock. */
	if (t->wait.kind == WAIT_PI && t->wait.requeue_to) {
		wait_complete(tid, -(Long)VKI_EAGAIN, t->clock);
		return;
	}
	/*
	 * The thread stays in front of the call, which it makes again when the handler returns. The
	 * wait for a lock is always restarted (-ERESTARTNOINTR), and so is one to be moved to it.
	 */
	if (t->wait.kind == WAIT_PI || t->wait.requeue_to ||
	    (restarts[signal] && restartable(t))) {
		wait_cancel(tid);
		return;
	}
	write_remaining(t);
	wait_complete(tid, -(Long)VKI_EINTR, t->clock);
}

/* The event that the running thread waits for has come: the call will not wait in the kernel. */
static enum syscall_verdict take_now(void)
{
	wait_cancel(current_tid);
	current_vthread()->ready = True;
	return SYSCALL_REAL;
}

/*
 * Takes a pending signal of @set. The kernel does so, too, if the program does not block
 * it; a call that Valgrind carries out would first run the handler. Return: False if none is pending.
 */
static Bool take_signal(VexGuestAMD64State *guest, const ULong *set)
{
	static const struct vki_timespec no_time;
	vki_siginfo_t info = {0}, *told = (vki_siginfo_t *)guest->guest_RSI;
	Long signal;

	/* The signal may be sent to the thread alone. */
	handover_go_home();
	if (!(pending() & *set) || (told && !access_kernel_write((Addr)told, sizeof(*told))))
		return False;
	signal = host_syscall(__NR_rt_sigtimedwait, (Long)set, (Long)&info, (Long)&no_time,
			      SIGSET_SIZE, 0, 0);
	if (signal <= 0)
		return False;
	sigwait_taken(signal);
	account_raise(peers_signal(&info));
	timers_delivered(&info);
	if (told)
		*told = info;
	guest->guest_RAX = signal;
	return True;
}

static enum syscall_verdict timed_wait(VexGuestAMD64State *guest)
{
	const ULong *set = (const ULong *)guest->guest_RDI;
	Addr timeout = guest->guest_RDX;
	Long deadline = 0;

	if (guest_may((Addr)set, SIGSET_SIZE, VKI_PROT_READ) && take_signal(guest, set))
		return wait_answer(guest, guest->guest_RAX);
	if (!guest_may((Addr)set, SIGSET_SIZE, VKI_PROT_READ) ||
	    (timeout && !time_read_timeout(timeout, &deadline)) || pending() & *set ||
	    (deadline && deadline <= account_now()))
		return take_now();
	if (!timeout && wait_kernel_may()) {
		wait_cancel(current_tid);
		return SYSCALL_REAL;
	}
	wait_begin(guest, WAIT_SIGNAL, deadline, -(Long)VKI_EAGAIN);
	return SYSCALL_WAIT;
}

/**
 * sigwait_call() - pause(2), sigsuspend(2) and sigtimedwait(2).
 * @guest: registers of the running thread
 *
 * Return: what to do with the call.
 */
enum syscall_verdict sigwait_call(VexGuestAMD64State *guest)
{
	if (guest->guest_RAX == __NR_rt_sigtimedwait)
		return timed_wait(guest);
	if (!wait_again(guest)) {
		if (wait_kernel_may())
			return SYSCALL_REAL;
		if (guest->guest_RAX == __NR_rt_sigsuspend && !sigwait_mask(guest->guest_RDI))
			return SYSCALL_REAL;
	}
	wait_begin(guest, WAIT_SIGNAL, 0, 0);
	return SYSCALL_WAIT;
}

/* Whether the kernel's waitid() would wait. */
static Bool no_child_yet(Int type, Int id, Int options)
{
	vki_siginfo_t info = {0};

	return host_syscall(__NR_waitid, type, id, (Long)&info, options | NO_HANG | NO_WAIT, 0,
			    0) == 0 &&
	       !info._sifields._kill._pid;
}

static Bool may_hang(const VexGuestAMD64State *guest, Int nr)
{
	return !((nr == __NR_waitid ? guest->guest_R10 : guest->guest_RDX) & NO_HANG);
}

static Bool child_may_come(const VexGuestAMD64State *guest, Int nr)
{
	Bool any = nr == __NR_waitid;
	Int id = any ? guest->guest_RSI : guest->guest_RDI;
	Int options = any ? guest->guest_R10 : guest->guest_RDX | EXITED;
	Int type = any ? (Int)guest->guest_RDI : ID_PID;

	if (!any && id <= 0) {
		type = id == -1 ? ID_ALL : ID_GROUP;
		id = id == -1 ? 0 : -id;
	}
	return no_child_yet(type, id, options);
}

/**
 * sigwait_for_child() - does a thread wait for a child process?
 * @t: the thread
 *
 * Return: True if so.
 */
Bool sigwait_for_child(const struct vthread *t)
{
	return t->wait.kind == WAIT_TRY &&
	       (t->wait.syscall_nr == __NR_wait4 || t->wait.syscall_nr == __NR_waitid);
}

/**
 * sigwait_child_there() - may the call of a thread that waits by trying succeed now?
 * @t: the thread; its wait is WAIT_TRY
 *
 * Return: False if it waits for a child process and no such child has ended.
 */
Bool sigwait_child_there(const struct vthread *t)
{
	return !sigwait_for_child(t) || !child_may_come(t->guest, t->wait.syscall_nr);
}

/**
 * sigwait_child_call() - wait4(2) and waitid(2).
 * @guest: registers of the running thread
 *
 * Return: what to do with the call.
 */
enum syscall_verdict sigwait_child_call(VexGuestAMD64State *guest)
{
	Bool again = wait_again(guest);

	if (!may_hang(guest, guest->guest_RAX) ||
	    (again && !child_may_come(guest, guest->guest_RAX)))
		return take_now();
	if (wait_kernel_may()) {
		wait_cancel(current_tid);
		return SYSCALL_REAL;
	}
	wait_begin(guest, WAIT_TRY, 0, 0);
	/*
	 * The thread waits even if a child has ended, as real time decides that: in another run the
	 * child may end later.
	 */
	if (!again)
		wait_poke(current_tid, account_now());
	return SYSCALL_WAIT;
}

/* Whether one of the descriptors of a waiting thread is ready. */
static Bool ready(const struct wait *wait)
{
	UInt i;

	for (i = 0; i < wait->nr_fds; i++) {
		struct vki_pollfd fd = wait->fds[i];

		if (host_poll(&fd, 1, 0) > 0)
			return True;
	}
	return False;
}

/**
 * sigwait_over() - is a thread's wait over, so that a signal does not interrupt it?
 * @t: the thread
 *
 * The kernel checks the event that a call waits for before signals: a child's end, for example,
 * ends the wait for it, and the signal of that end comes then.
 *
 * Return: True if the call is over when the thread makes it again.
 */
Bool sigwait_over(const struct vthread *t)
{
	const ULong *set;

	if (sigwait_for_child(t))
		return sigwait_child_there(t);
	if (t->wait.kind == WAIT_FD)
		return ready(&t->wait);
	if (t->wait.kind != WAIT_SIGNAL || t->wait.syscall_nr != __NR_rt_sigtimedwait)
		return False;
	set = (const ULong *)t->guest->guest_RDI;
	return guest_may((Addr)set, SIGSET_SIZE, VKI_PROT_READ) && pending() & *set;
}

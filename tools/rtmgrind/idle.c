// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * idle.c - the passing of time while no thread can run.
 *
 * Virtual time jumps to the next timeout, once no other emulated process can do anything before it
 * (peers.c). Only if an event from a process that is not emulated could come first, virtual time
 * passes at the pace of real time: while a thread waits for a descriptor, for a futex in memory
 * shared with other processes, or in a blocking system call, or the process has a child that is not
 * emulated. Then one of the waiting threads, which idles, waits in the kernel on behalf of all.
 *
 * Must never let a thread run because of real time alone, unless an event came from outside.
 */
#include "idle.h"
#include "account.h"
#include "deadlock.h"
#include "futex-pi.h"
#include "futex.h"
#include "handover.h"
#include "host.h"
#include "model.h"
#include "peers.h"
#include "sigwait.h"
#include "timerfd.h"
#include "timers.h"
#include "vthread.h"
#include "wait.h"

/* Longest wait in real time between two checks for signals, ns. */
#define IDLE_NS 20000000LL
/* Longest wait if one of the events does not end a wait in the kernel, ns. Chosen. */
#define TRY_NS 1000000LL

/* Whether virtual time passes at the pace of real time, and both times at its start: ns and cycles. */
static struct {
	Bool on;
	Long real;
	Long clock;
} pace;

/*
 * Whether an event from a process that is not emulated may come before the next timeout. Signals do
 * not count, as no sender of one is known.
 */
static Bool outside_may_come(void)
{
	ThreadId tid;

	if (wait_real_children())
		return True;
	for (tid = 1; tid < vthread_end; tid++) {
		const struct vthread *t = &vthreads[tid];

		if (t->state == VT_OUTSIDE || t->wait.outside ||
		    (t->wait.kind == WAIT_TRY && !sigwait_for_child(t)) ||
		    (t->wait.kind == WAIT_FD && timerfd_outside(t->wait.fds, t->wait.nr_fds)))
			return True;
	}
	return False;
}

/* Virtual time while no thread runs, cycles; at least 1, as 0 means never. */
static Long paced_now(void)
{
	Long now = pace.on ? pace.clock + model_cycles(host_now() - pace.real) : account_latest();

	return now > 0 ? now : 1;
}

/* The virtual time of an event that came while no thread ran; @memory as in peers_event(). */
static Long event_now(Bool memory)
{
	Long sent = peers_event(memory);

	return sent > paced_now() ? sent : paced_now();
}

static void pace_start(void)
{
	if (pace.on)
		return;
	pace.clock = account_latest();
	pace.real = host_now();
	pace.on = True;
}

/**
 * idle_due() - no thread can run: has the time of a deadline come?
 * @deadline: virtual time of the next timeout, 0 none
 *
 * Return: True if so.
 */
Bool idle_due(Long deadline)
{
	if (!deadline)
		return False;
	if (outside_may_come()) {
		pace_start();
		if (paced_now() < deadline)
			return False;
	}
	return peers_may_pass(deadline);
}

/** idle_pace_stop() - a thread can run again: virtual time no longer follows real time. */
void idle_pace_stop(void)
{
	pace.on = False;
}

/* Whether a thread waits for an event that does not end a wait in the kernel. */
static Bool only_tries(const struct wait *wait)
{
	return wait->kind == WAIT_TRY || (wait->kind == WAIT_PI && wait->outside);
}

/* How long to wait in real time, ns: at most until the next deadline. */
static Long idle_time(void)
{
	Long left = IDLE_NS;
	Long timer = timers_next();
	ThreadId tid;

	if (peers_poked())
		return 1;
	if (peers_any())
		left = TRY_NS;
	for (tid = 1; tid < vthread_end; tid++)
		if (only_tries(&vthreads[tid].wait))
			left = TRY_NS;

	if (pace.on && timer && model_ns(timer - paced_now()) < left)
		left = model_ns(timer - paced_now());
	for (tid = 1; pace.on && tid < vthread_end; tid++) {
		Long deadline = vthreads[tid].wait.deadline;

		if (vthreads[tid].wait.kind && deadline && model_ns(deadline - paced_now()) < left)
			left = model_ns(deadline - paced_now());
	}
	return left > 0 ? left : 1;
}

/* All descriptors that threads wait for, @nr of them. The array is valid until the next call. */
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

/* Lets threads with ready descriptors retry; @fds is the result of gather_fds(). */
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
			wait->check_at = event_now(False);
	}
}

/*
 * Gathers the futex words in shared memory on which threads wait. Returns their number, at most @max.
 */
static UInt gather_words(struct host_waitv *words, UInt max)
{
	ThreadId tid;
	UInt nr = 0;

	for (tid = 1; tid < vthread_end && nr < max; tid++) {
		const struct wait *wait = &vthreads[tid].wait;

		if (wait->outside && wait->kind == WAIT_FUTEX)
			words[nr++] = (struct host_waitv){.value = wait->value,
							  .word = wait->addr,
							  .flags = HOST_WAITV_SHARED};
	}
	return nr;
}

/* Whether a thread that waits for another process may find that its wait is over. */
static Bool may_have_come(const struct vthread *t)
{
	const struct wait *wait = &t->wait;

	if (wait->kind == WAIT_TRY)
		return sigwait_child_there(t);
	if (!wait->outside)
		return False;
	if (wait->kind == WAIT_PI)
		return futex_pi_free(wait->addr);
	return wait->woken || !futex_holds(wait->addr, wait->value);
}

/*
 * Lets threads that wait for other processes retry, and no others, as real time decides when
 * this happens. With @woken, the kernel has woken at least one of them. It does not tell whether it has
 * woken others, so all are woken: futex(2) allows a wait to end without a reason.
 */
static void poke_outside(Bool woken)
{
	ThreadId tid;

	for (tid = 1; tid < vthread_end; tid++) {
		struct vthread *t = &vthreads[tid];

		t->wait.woken |= woken && t->wait.outside && t->wait.kind == WAIT_FUTEX;
		/* The time for a child or a try is known later: see peers_reaped(), try_over(). */
		if (may_have_come(t))
			wait_poke(tid, t->wait.outside ? event_now(True) : paced_now());
	}
}

/**
 * idle_wait() - wait in real time for descriptors, other processes or other threads.
 *
 * The thread that was chosen to idle calls it. When that gives up the big lock again, turn.c chooses
 * among the threads that can run then.
 */
void idle_wait(void)
{
	struct host_waitv words[HOST_WAITV_MAX];
	struct vki_pollfd *fds;
	Long timeout;
	UInt nr, nr_words;
	Bool woken = False;

	deadlock_check();
	/* Valgrind cannot take SIGSYS of another process outside of a system call. */
	host_let_faults_through();
	if (wait_real_children())
		pace_start();
	else if (!outside_may_come())
		idle_pace_stop();
	timeout = idle_time();
	peers_looks();
	fds = gather_fds(&nr);
	nr_words = gather_words(words + 1, HOST_WAITV_MAX - 1);
	/* The kernel has no call that waits for descriptors and futexes. */
	if (nr && nr_words && timeout > TRY_NS)
		timeout = TRY_NS;
	/*
	 * The shared futexes that threads wait on are passed to the kernel, so that other processes
	 * can wake them. Word 0 is handover_sleep()'s.
	 */
	if (!nr)
		woken = handover_sleep(words, nr_words + 1, timeout) > 0;
	else if (host_poll(fds, nr, timeout) > 0)
		poke_ready(fds);
	/* SIGCHLD is sent after the child can be waited for, so both are found in this order. */
	if (sigwait_look())
		wait_poke_signalled_at(0, event_now(False) + model.wakeup);
	poke_outside(woken);
}

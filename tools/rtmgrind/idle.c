// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * idle.c - the passing of time while no thread can run.
 *
 * Virtual time jumps to the next timeout. Only if something outside the process may come first (a
 * descriptor that somebody waits for, a child process, a futex that other processes see, a thread
 * in a blocking system call) does it pass at the pace of real time. One of the threads that wait
 * then waits in the kernel on behalf of all.
 *
 * Must never make a thread run because of real time alone, but for what comes from outside.
 */
#include "idle.h"
#include "account.h"
#include "deadlock.h"
#include "futex-pi.h"
#include "futex.h"
#include "handover.h"
#include "host.h"
#include "model.h"
#include "sigwait.h"
#include "timerfd.h"
#include "timers.h"
#include "vthread.h"
#include "wait.h"

/* Longest real wait between two looks at signals, ns. */
#define IDLE_NS 20000000LL
/* The same where nothing wakes us when what a thread waits for has come, ns. Chosen. */
#define TRY_NS 1000000LL

/* Real time and virtual time when pacing began. */
static struct {
	Bool on;
	Long real;
	Long clock;
} pace;

/* Whether something from outside the process may come before the next timeout. Not for a signal:
 * nobody is known to send one.
 */
static Bool outside_may_come(void)
{
	ThreadId tid;

	if (wait_children())
		return True;
	for (tid = 1; tid < vthread_end; tid++) {
		const struct vthread *t = &vthreads[tid];

		if (t->state == VT_OUTSIDE || t->wait.outside || t->wait.kind == WAIT_TRY ||
		    (t->wait.kind == WAIT_FD && timerfd_outside(t->wait.fds, t->wait.nr_fds)))
			return True;
	}
	return False;
}

/* The machine's clock while nobody runs, as a time to poke at. */
static Long paced_now(void)
{
	Long now = pace.on ? pace.clock + model_cycles(host_now() - pace.real) : account_latest();

	return now > 0 ? now : 1;
}

/**
 * idle_due() - nobody can run: has the time of a deadline come?
 * @deadline: virtual time of the next timeout, 0 none
 *
 * Return: True if so.
 */
Bool idle_due(Long deadline)
{
	if (!deadline)
		return False;
	if (!outside_may_come())
		return True;
	if (!pace.on) {
		pace.clock = account_latest();
		pace.real = host_now();
		pace.on = True;
	}
	return paced_now() >= deadline;
}

/** idle_pace_stop() - somebody can run again: virtual time is what they take. */
void idle_pace_stop(void)
{
	pace.on = False;
}

/* Whether the kernel wakes nobody when what a thread waits for has come. */
static Bool only_tries(const struct wait *wait)
{
	return wait->kind == WAIT_TRY || (wait->kind == WAIT_PI && wait->outside);
}

/* How long to wait in real time, ns: to the next deadline if there is one. */
static Long idle_time(void)
{
	Long left = IDLE_NS;
	Long timer = timers_next();
	ThreadId tid;

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
			wait->check_at = paced_now();
	}
}

/* The futex words in memory shared with other processes that anybody waits for. Returns how many,
 * at most @max.
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

/* Whether a thread that waits for another process may find that it has come. */
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
 * Lets those look that wait for other processes, and no others: when they do real time decides.
 * With @woken one of them was woken in the kernel: which others were as well it does not tell, so
 * all are; a futex may wake without a reason.
 */
static void poke_outside(Bool woken)
{
	ThreadId tid;

	for (tid = 1; tid < vthread_end; tid++) {
		struct vthread *t = &vthreads[tid];

		t->wait.woken |= woken && t->wait.outside && t->wait.kind == WAIT_FUTEX;
		if (may_have_come(t))
			wait_poke(tid, paced_now());
	}
}

/**
 * idle_wait() - really wait a moment, for descriptors, other processes or other threads.
 *
 * Called by the thread that was woken for it; the threads it wakes are chosen
 * when it gives up the lock again.
 */
void idle_wait(void)
{
	struct host_waitv words[HOST_WAITV_MAX];
	struct vki_pollfd *fds;
	Long timeout;
	UInt nr, nr_words;
	Bool woken = False;

	deadlock_check();
	timeout = idle_time();
	fds = gather_fds(&nr);
	nr_words = gather_words(words + 1, HOST_WAITV_MAX - 1);
	/* The kernel has no call that waits for both. */
	if (nr && nr_words && timeout > TRY_NS)
		timeout = TRY_NS;
	/* In the kernel's queues stands whoever waits for a futex, as long as nobody here can run.
	 * Word 0 is the scheduler's.
	 */
	if (!nr)
		woken = handover_sleep(words, nr_words + 1, timeout) > 0;
	else if (host_poll(fds, nr, timeout) > 0)
		poke_ready(fds);
	/* SIGCHLD comes last of what a child's end means: with it the child is found, too. */
	sigwait_look(paced_now());
	poke_outside(woken);
}

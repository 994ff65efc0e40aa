// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * handover.c - which host thread executes the running guest thread.
 *
 * Valgrind gives each guest thread a host thread of its own, its home. The thread that gets the
 * big lock does not wake its home: the running host thread resumes that guest thread
 * (see fiber.c), and all other host threads sleep, each on the futex word vthread.turn of the
 * guest thread whose home it is. A guest thread goes home only for operations of the host's kernel
 * on the calling thread: system calls that Valgrind carries out, signals, the thread's end.
 *
 * The scheduler's guard is here, a spin lock with short sections. The thread that resumes after
 * a hand-over releases it. Must never wait for the big lock while the guard is held.
 */
#include "handover.h"
#include "core-hooks.h"
#include "fiber.h"
#include "host.h"
#include "sched.h"
#include "vthread.h"

/* Longest sleep of a host thread before it calls sched_watch_kernel() again, ns. Chosen. */
#define WATCH_NS 50000000LL

/**
 * struct handover - the host threads.
 * @guard: the scheduler's spin lock, 1 while it is held
 * @host: guest thread whose home runs, or is to run next; 0 none
 * @last_host: @host at the hand-over before
 * @to_wake: guest thread whose home is woken once the guard is given up, 0 none
 * @asleep: the thread that idles sleeps on @arrivals
 * @arrivals: host futex word, the number of times that a thread wanted the lock meanwhile
 */
static struct {
	volatile Int guard;
	volatile ThreadId host;
	ThreadId last_host;
	ThreadId to_wake;
	Bool asleep;
	volatile Int arrivals;
} hosts;

/** handover_lock() - take the scheduler's guard. */
void handover_lock(void)
{
	while (__atomic_exchange_n(&hosts.guard, 1, __ATOMIC_ACQUIRE))
		host_yield();
}

/** handover_unlock() - give up the scheduler's guard. */
void handover_unlock(void)
{
	/* Pairs with the acquire in handover_lock(). */
	__atomic_store_n(&hosts.guard, 0, __ATOMIC_RELEASE);
}

/** handover_host() - Return: the guest thread whose home runs, 0 none. */
ThreadId handover_host(void)
{
	return hosts.host;
}

/**
 * handover_set_host() - decide which host thread runs next.
 * @tid: the guest thread whose home it is, 0 none
 */
void handover_set_host(ThreadId tid)
{
	hosts.host = tid;
}

/**
 * handover_moved() - has the host thread changed since the previous call?
 *
 * Return: the guest thread whose home runs if it has, else 0.
 */
ThreadId handover_moved(void)
{
	Bool moved = hosts.last_host != hosts.host;

	hosts.last_host = hosts.host;
	return moved ? hosts.host : 0;
}

/**
 * handover_wake() - wake the home of a guest thread that was chosen to run.
 * @tid: the thread, 0 none
 *
 * Called without the guard: the woken thread needs it at once, and often on the same processor.
 */
void handover_wake(ThreadId tid)
{
	if (tid)
		host_futex_wake(&vthreads[tid].turn);
}

/** handover_wake_sleeper() - a thread wants the big lock: end the sleep of the one that idles. */
void handover_wake_sleeper(void)
{
	if (!hosts.asleep)
		return;
	hosts.arrivals++;
	host_futex_wake(&hosts.arrivals);
}

/**
 * handover_sleep() - sleep in real time until a thread wants the big lock or a futex is woken.
 * @words: the futex words; the first one is filled in here
 * @nr: number of @words, with the first
 * @timeout_ns: longest sleep, ns
 *
 * Return: the index of a word that was woken, else 0 or below.
 */
Long handover_sleep(struct host_waitv *words, UInt nr, Long timeout_ns)
{
	Int arrivals;
	Long woken = 0;

	handover_lock();
	arrivals = hosts.arrivals;
	hosts.asleep = True;
	handover_unlock();
	if (nr > 1)
		woken = host_futex_waitv(words, nr, &hosts.arrivals, arrivals, timeout_ns);
	else
		host_futex_wait(&hosts.arrivals, arrivals, timeout_ns);
	hosts.asleep = False;
	return woken;
}

/* On the parking stack of @me's home, with the guard: sleeps until that host thread is to run. */
static struct fiber *sleep_at_home(ThreadId me)
{
	ThreadId next = hosts.to_wake;

	hosts.to_wake = 0;
	while (hosts.host != me) {
		Int turn = vthreads[me].turn;

		handover_unlock();
		handover_wake(next);
		host_futex_wait(&vthreads[me].turn, turn, WATCH_NS);
		handover_lock();
		next = sched_watch_kernel();
	}
	return &vthreads[me].fiber;
}

/**
 * handover_give_way() - let the running thread wait until it is its turn.
 * @me: the thread
 * @host: the thread whose home executes it
 * @next: the thread that comes next, 0 none
 * @owned: a thread has the big lock, or was chosen to take it
 *
 * Called, and returns, with the guard held. The host thread resumes @next if possible: a thread that
 * is about to end must do so at home.
 */
void handover_give_way(ThreadId me, ThreadId host, ThreadId next, Bool owned)
{
	struct fiber *fiber = &vthreads[me].fiber;

	if (next == host || (next && vthreads[next].fiber.sp && !VG_(is_exiting)(next))) {
		hosts.host = host;
		fiber_switch(fiber, &vthreads[next].fiber);
		return;
	}
	if (next || !owned)
		hosts.host = next;
	hosts.to_wake = next;
	fiber_park(fiber, &vthreads[host].fiber, sleep_at_home, host);
}

/** handover_at_home() - Return: True if the running thread is at home. */
Bool handover_at_home(void)
{
	return hosts.host == current_tid;
}

/**
 * handover_go_home() - let the running thread go on at home.
 *
 * For operations of the host's kernel on the calling thread.
 */
void handover_go_home(void)
{
	ThreadId me = current_tid;
	ThreadId host = hosts.host;

	if (host == me)
		return;
	handover_lock();
	hosts.host = hosts.to_wake = me;
	vthreads[me].turn++;
	fiber_park(&vthreads[me].fiber, &vthreads[host].fiber, sleep_at_home, host);
	handover_unlock();
}

/**
 * handover_lwp() - the Linux thread id of the guest thread that a host thread executes.
 * @lwp: that of the calling host thread
 *
 * Return: the id.
 */
Int handover_lwp(Int lwp)
{
	ThreadId host = hosts.host;

	return host && vthreads[host].lwp == lwp ? current_vthread()->lwp : lwp;
}

/** handover_forked() - this is a child process: it has the calling host thread alone. */
void handover_forked(void)
{
	hosts.host = 0;
	hosts.guard = 0;
}

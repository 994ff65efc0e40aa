// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * peers.c - the emulated processes of a run, and what they know of each other's virtual time.
 *
 * A process that forks shares a table with its child: each process of the run has an entry, in
 * which it publishes its clock. The clock of a child begins at its parent's. A program that exec
 * starts counts from 0 again, but its entry goes on from the previous program's clock. So times in the
 * table are comparable; they are called common here.
 *
 * Processes run at the same time on the host, and a process runs freely while one of its threads
 * can. But virtual time jumps to a process's next timeout only when no other process can act
 * before that time any more (peers_may_pass()): each has come that far itself, or waits
 * for something later. A process with an unchecked message from another one does not count as
 * waiting. And a process that gets something from another one goes on at the
 * sender's time (peers_event()): the latest at which any process of the run has sent anything, as
 * the kernel does not name the sender. After the end of a child process it is the child's time.
 *
 * Must never hold back a process for one that is stopped, has ended, or sleeps in a system call that
 * Valgrind carries out.
 */
#include "peers.h"
#include "account.h"
#include "date.h"
#include "host.h"
#include "model.h"
#include "peer-table.h"
#include "vthread.h"
#include "wait.h"

#define SI_TIMER (-2)
/* Real time in which a program that exec has begun joins the run if it is emulated, ns. Chosen. */
#define JOIN_NS 5000000000LL

/* This process, and the child that it is making; NULL none. */
static struct peer *me, *child;
/* Common time at this process's virtual time 0. */
static Long base;
/* Value of @poked when the present check began. */
static UInt looking;

/* Valgrind's own, not in its installed headers. */
extern Bool VG_(clo_trace_children);

/** peers_join() - the program begins: find the run that it belongs to. */
void peers_join(void)
{
	peer_table_inherit();
	if (!peer_table)
		return;
	me = peer_find(VG_(getpid)());
	if (!me)
		me = peer_new(VG_(getpid)(), VG_(getppid)(), 0);
	if (!me)
		return;
	base = me->clock;
	PUBLISH(me->state, PEER_RUNNING);
}

/** peers_fork_begins() - the running thread is about to make a process. */
void peers_fork_begins(void)
{
	Int pid = VG_(getpid)();
	Long offset = date_offset();

	if (!peer_table)
		peer_table_make();
	if (!peer_table)
		return;
	peer_table->date_offset = offset;
	if (!me)
		me = peer_new(pid, 0, account_now());
	/* Enter it into the table before the process exists, so that no other process overtakes it. */
	child = peer_new(0, pid, base + account_now());
}

/**
 * peers_fork_over() - the running thread has made a process.
 * @pid: id of the process, below 0 if it could not be made
 */
void peers_fork_over(Int pid)
{
	if (!child)
		return;
	if (pid > 0)
		PUBLISH(child->pid, pid);
	else
		PUBLISH(child->state, PEER_FREE);
	child = NULL;
}

/** peers_forked() - this is a child process. */
void peers_forked(void)
{
	me = child;
	child = NULL;
	if (me)
		PUBLISH(me->pid, VG_(getpid)());
}

/**
 * peers_exec() - another program replaces this one, which may not be emulated.
 * @begins: False: exec has failed
 */
void peers_exec(Bool begins)
{
	Bool keep = begins && VG_(clo_trace_children);

	if (!me)
		return;
	me->clock = base + account_now();
	me->since = host_now();
	/* Without this option the program is not emulated, and no process waits for it to join. */
	PUBLISH(me->state, keep ? PEER_EXEC : begins ? PEER_REAL : PEER_RUNNING);
	host_syscall(__NR_fcntl, peer_table_fd, VKI_F_SETFD, keep ? 0 : VKI_FD_CLOEXEC, 0, 0, 0);
}

/** peers_end() - the process ends. */
void peers_end(void)
{
	if (!me)
		return;
	me->clock = me->sent = base + account_end_time();
	__atomic_add_fetch(&peer_table->events, 1, __ATOMIC_SEQ_CST);
	PUBLISH(me->state, PEER_ENDED);
}

/**
 * peers_date_offset() - the offset of the date, which all processes of the run share.
 *
 * Return: its address, NULL if this process is the only one.
 */
Long *peers_date_offset(void)
{
	return peer_table ? &peer_table->date_offset : NULL;
}

/**
 * peers_any() - are there other emulated processes of this run?
 *
 * Return: True if so.
 */
Bool peers_any(void)
{
	UInt i;

	for (i = 0; me && i < LOOK_AT(peer_table->nr); i++) {
		Int state = LOOK_AT(peer_table->peers[i].state);

		if (&peer_table->peers[i] != me && state != PEER_FREE && state != PEER_ENDED)
			return True;
	}
	return False;
}

/**
 * peers_all_children() - are all child processes of this process emulated?
 * @nr: the number of its child processes
 *
 * Return: True if so. A child that begins another program is not emulated until that has joined the run.
 */
Bool peers_all_children(UInt nr)
{
	UInt i;

	for (i = 0; me && i < LOOK_AT(peer_table->nr); i++) {
		const struct peer *peer = &peer_table->peers[i];
		Int state = LOOK_AT(peer->state);

		if (state != PEER_FREE && state != PEER_EXEC && state != PEER_REAL &&
		    peer->parent == me->pid && nr)
			nr--;
	}
	return !nr;
}

/**
 * peers_running() - a thread was chosen to run.
 * @clock: its clock, the smallest of all threads that can run
 */
void peers_running(Long clock)
{
	if (!me)
		return;
	PUBLISH(me->clock, base + clock);
	PUBLISH(me->state, PEER_RUNNING);
}

/**
 * peers_calling() - Valgrind is about to carry out a system call.
 * @tid: the thread
 * @sends: it sends something that another process may wait for
 */
void peers_calling(ThreadId tid, Bool sends)
{
	if (!me)
		return;
	if (sends)
		PUBLISH(me->sent, base + account_now());
	/* A try does not wait, though the kernel may put the thread to sleep for a moment. */
	if (vthreads[tid].try_nr)
		return;
	PUBLISH(me->lwp, vthreads[tid].lwp);
	PUBLISH(me->state, PEER_CALLING);
}

/* Tells the other processes to check what they wait for. */
static void poke(void)
{
	UInt i;

	for (i = 0; i < LOOK_AT(peer_table->nr); i++)
		if (&peer_table->peers[i] != me)
			__atomic_add_fetch(&peer_table->peers[i].poked, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&peer_table->events, 1, __ATOMIC_SEQ_CST);
}

/**
 * peers_thread_ends() - a thread ends, perhaps in a system call.
 * @tid: the thread
 */
void peers_thread_ends(ThreadId tid)
{
	if (me && LOOK_AT(me->lwp) == vthreads[tid].lwp)
		PUBLISH(me->lwp, 0);
}

/**
 * peers_called() - Valgrind has carried out a system call.
 * @noticed: another process may notice it
 */
void peers_called(Bool noticed)
{
	if (!me)
		return;
	if (noticed)
		poke();
	PUBLISH(me->state, PEER_RUNNING);
	PUBLISH(me->lwp, 0);
}

/** peers_sends() - the emulator itself makes a call that another process may wait for. */
void peers_sends(void)
{
	if (me)
		PUBLISH(me->sent, base + account_now());
}

/** peers_sent() - it has made that call. */
void peers_sent(void)
{
	if (me)
		poke();
}

/**
 * peers_idle() - no thread can run.
 * @until: virtual time of the next timeout, 0 none
 */
void peers_idle(Long until)
{
	ThreadId tid;

	if (!me)
		return;
	for (tid = 1; tid < vthread_end && vthreads[tid].state != VT_WAITING; tid++)
		;
	PUBLISH(me->until, until ? base + until : 0);
	/* All threads are in calls of the kernel: @lwp is one of them. */
	PUBLISH(me->state, tid < vthread_end ? PEER_IDLE : PEER_CALLING);
	PUBLISH(me->seen, looking);
}

/** peers_looks() - the thread that idles begins to check everything that threads wait for. */
void peers_looks(void)
{
	if (me)
		looking = LOOK_AT(me->poked);
}

/**
 * peers_poked() - may another process have sent something since the last check began?
 *
 * Return: True if so.
 */
Bool peers_poked(void)
{
	return me && LOOK_AT(me->poked) != me->seen;
}

/* Whether a process may still act before a common time, by its published fields. */
static Bool may_act(const struct peer *peer, Long time, Int *asleep)
{
	Long until;

	*asleep = LOOK_AT(peer->lwp);
	switch (LOOK_AT(peer->state)) {
	case PEER_RUNNING:
		*asleep = 0;
		return LOOK_AT(peer->clock) < time;
	case PEER_CALLING:
		return LOOK_AT(peer->clock) < time;
	case PEER_IDLE:
		until = LOOK_AT(peer->until);
		if (LOOK_AT(peer->poked) == LOOK_AT(peer->seen) && !(until && until < time))
			return *asleep != 0;
		*asleep = 0;
		return True;
	case PEER_ENDED:
		*asleep = 0;
		return LOOK_AT(peer->clock) < time && !LOOK_AT(peer->noted);
	case PEER_EXEC:
		*asleep = 0;
		return LOOK_AT(peer->clock) < time && host_now() - peer->since < JOIN_NS;
	default:
		return False;
	}
}

/*
 * Whether a process holds back others that want to go on to a common time. Once it has ended in the
 * kernel, too, all check: its parent gets a signal, and its descriptors were closed.
 */
static Bool holds(struct peer *peer, Long time)
{
	Int pid = LOOK_AT(peer->pid), lwp, noted = 0;
	HChar state;

	if (!may_act(peer, time, &lwp))
		return False;
	if (!pid)
		return True;
	/* The kernel makes a thread runnable in the call of another one that ends its sleep. */
	if (lwp && peer_thread_state(pid, lwp) == 'S')
		return False;
	state = peer_thread_state(pid, pid);
	if (state == 'T' || state == 't')
		return False;
	if (state && state != 'Z' && state != 'X')
		return True;
	if (!__atomic_compare_exchange_n(&peer->noted, &noted, 1, False, __ATOMIC_SEQ_CST,
					 __ATOMIC_SEQ_CST))
		return False;
	__atomic_add_fetch(&me->poked, 1, __ATOMIC_SEQ_CST);
	poke();
	return True;
}

/**
 * peers_may_pass() - may this process, of which no thread can run, go on to a timeout?
 * @clock: virtual time of the timeout
 *
 * A process sends before it publishes that it waits. So if nothing was sent while the table was
 * read, the entries are consistent.
 *
 * Return: False if another process may still do something before that.
 */
Bool peers_may_pass(Long clock)
{
	UInt i, events;

	if (!me)
		return True;
	if (peers_poked())
		return False;
	events = LOOK_AT(peer_table->events);
	for (i = 0; i < LOOK_AT(peer_table->nr); i++)
		if (&peer_table->peers[i] != me && holds(&peer_table->peers[i], base + clock))
			return False;
	return LOOK_AT(peer_table->events) == events;
}

/**
 * peers_event() - the virtual time of an event that came from another process.
 * @memory: it may have been a store to shared memory, which any running process can make
 *
 * Must be called after the event was found, as the sender has published its time before.
 *
 * Return: the latest time at which another process of the run may have caused it, 0 none.
 */
Long peers_event(Bool memory)
{
	Long latest = 0;
	UInt i;

	for (i = 0; me && i < LOOK_AT(peer_table->nr); i++) {
		const struct peer *peer = &peer_table->peers[i];
		Int state = LOOK_AT(peer->state);
		Long sent = LOOK_AT(peer->sent) - base;

		if (memory && (state == PEER_RUNNING || state == PEER_CALLING) &&
		    sent < LOOK_AT(peer->clock) - base)
			sent = LOOK_AT(peer->clock) - base;
		if (peer != me && state != PEER_FREE && sent > latest)
			latest = sent;
	}
	return latest;
}

/* Common time up to which a process has done anything, real time if it is not emulated. */
static Long last_time(const struct peer *peer)
{
	Int state = LOOK_AT(peer->state);
	Long clock = LOOK_AT(peer->clock);

	if (state == PEER_EXEC || state == PEER_REAL)
		clock += model_cycles(host_now() - peer->since);
	return clock;
}

/**
 * peers_signal() - the virtual time of a signal.
 * @info: its data for the program
 *
 * Return: the time at which the process sent it, or ended; 0 if it is not one of the run, or this.
 */
Long peers_signal(const vki_siginfo_t *info)
{
	const struct peer *peer;
	Int pid;

	if (!me || info->si_code == SI_TIMER)
		return 0;
	if (info->si_code > 0 && info->si_signo != VKI_SIGCHLD)
		return 0;
	pid = info->_sifields._kill._pid;
	peer = pid > 0 && pid != me->pid ? peer_find(pid) : NULL;
	if (!peer)
		return 0;
	return (info->si_code > 0 ? last_time(peer) : LOOK_AT(peer->sent)) - base;
}

/**
 * peers_reaped() - the running thread has waited for a child process.
 * @pid: the child, 0 not known; it may be one that was stopped and still exists
 *
 * Return: virtual time at which it ended, 0 not known.
 */
Long peers_reaped(Int pid)
{
	Long latest = 0;
	UInt i;

	for (i = 0; me && i < LOOK_AT(peer_table->nr); i++) {
		struct peer *peer = &peer_table->peers[i];
		Int its = LOOK_AT(peer->pid);

		if (LOOK_AT(peer->state) == PEER_FREE || peer->parent != me->pid || !its)
			continue;
		if (pid ? its != pid : peer_thread_state(its, its) != 0)
			continue;
		if (latest < last_time(peer) - base)
			latest = last_time(peer) - base;
		if (!peer_thread_state(its, its))
			PUBLISH(peer->state, PEER_FREE);
	}
	return latest;
}

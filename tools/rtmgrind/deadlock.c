// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * deadlock.c - reports the threads of a deadlocked program, and ends it.
 *
 * A program is reported only if no thread can ever go on: each waits, without a deadline, for
 * another thread of this process. A descriptor, a child process, memory shared with another
 * process, an armed timer, a wait for a signal, or a handler for a signal that people send might
 * still wake a thread: a program with one of these is not reported. Must never be called while a
 * thread can run.
 */
#include "deadlock.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_options.h"
#include "pub_tool_stacktrace.h"
#include "counters.h"
#include "debuginfo.h"
#include "guest.h"
#include "options.h"
#include "sigwait.h"
#include "timers.h"
#include "vthread.h"
#include "wait.h"

/* Exit status of a program that is ended because it is deadlocked. */
#define DEADLOCK_STATUS 3
/* Frames of each thread to show. Chosen. */
#define MAX_FRAMES 32
/* Value of the lock word of a contended pthread mutex (glibc's lowlevellock). */
#define LOCK_WAITED_FOR 2
/* Thread id in the word of a priority-inheriting lock (futex(2)). */
#define PI_OWNER_MASK 0x3fffffff
/* Offset of a pthread mutex's owner after its lock word, bytes (glibc's ABI on amd64). */
#define OWNER_OFFSET 8

/* Whether only another thread of this process could wake a thread. */
static Bool waits_inside(const struct vthread *t)
{
	const struct wait *wait = &t->wait;

	return (wait->kind == WAIT_FUTEX || wait->kind == WAIT_EXIT || wait->kind == WAIT_PI) &&
	       !wait->outside && !wait->deadline;
}

/* Whether no thread can ever run again; none can now. */
static Bool deadlocked(void)
{
	ThreadId tid;

	if (sigwait_any_handled() || wait_children() || timers_armed() || sigwait_pending())
		return False;
	for (tid = 1; tid < vthread_end; tid++)
		if (vthreads[tid].state != VT_FREE && !waits_inside(&vthreads[tid]))
			return False;
	return True;
}

/* The thread of this process that holds the lock at @addr; 0 if there is none, or if it is no lock. */
static ThreadId holder_of(Addr addr, enum wait_kind kind)
{
	if (kind == WAIT_PI)
		return vthread_find(*(UInt *)addr & PI_OWNER_MASK, True);
	if (!guest_may(addr, OWNER_OFFSET + sizeof(Int), VKI_PROT_READ) ||
	    *(Int *)addr != LOCK_WAITED_FOR)
		return 0;
	return vthread_find(*(Int *)(addr + OWNER_OFFSET), True);
}

static void print_wait(ThreadId tid)
{
	const struct vthread *t = &vthreads[tid];
	ThreadId other = holder_of(t->wait.addr, t->wait.kind);
	const HChar *name;
	PtrdiffT offset;

	VG_(message)(Vg_UserMsg, "\n");
	if (t->wait.kind == WAIT_EXIT) {
		VG_(message)(Vg_UserMsg, "Thread %u waits for the end of thread %u\n", tid,
			     vthread_find(t->wait.value, True));
		return;
	}
	if (!VG_(get_datasym_and_offset)(VG_(current_DiEpoch)(), t->wait.addr, &name, &offset))
		name = NULL;
	VG_(message)(Vg_UserMsg, "Thread %u waits for %s at 0x%lx%s%s%s", tid,
		     other ? "the mutex" : "a wake-up of the word", t->wait.addr,
		     name ? " (" : "", name ? name : "", name ? ")" : "");
	if (other)
		VG_(message)(Vg_UserMsg, ", which thread %u has\n", other);
	else
		VG_(message)(Vg_UserMsg, "\n");
}

static void print_thread(ThreadId tid)
{
	Addr ips[MAX_FRAMES];
	UInt nr;

	print_wait(tid);
	nr = VG_(get_StackTrace)(tid, ips, MAX_FRAMES, NULL, NULL, 0);
	debuginfo_print(ips, nr);
}

/**
 * deadlock_check() - no thread can run: if none ever will, report that and end the program.
 */
void deadlock_check(void)
{
	ThreadId tid;

	if (opt.deadlock_waits || !deadlocked())
		return;
	debuginfo_read();
	VG_(message)(Vg_UserMsg, "Deadlock: every thread waits for another one of this program\n");
	for (tid = 1; tid < vthread_end; tid++)
		if (vthreads[tid].state != VT_FREE)
			print_thread(tid);
	VG_(message)(Vg_UserMsg, "\n");
	VG_(message_flush)();
	if (VG_(clo_verbosity) > 0)
		counters_print_totals();
	VG_(exit)(DEADLOCK_STATUS);
}

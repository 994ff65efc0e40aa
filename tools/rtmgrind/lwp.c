// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lwp.c - host threads: who is calling, who sleeps, who is gone, and whether a
 * signal has come.
 *
 * The first and the last are asked in every slice, and slices are short, so the
 * host is rarely asked for them.
 *
 * A host thread is known by its stack: each has one of its own for life. What
 * is not found so is asked. Must never answer in a child process what is true
 * of its parent: nothing is known while one is made.
 *
 * Signals stay pending in the host until valgrind polls for them. One that the
 * program sends itself comes with a system call that valgrind carries out, so
 * every thread polls once after each of those. For others a thread polls now
 * and then.
 */
#include "lwp.h"
#include "handover.h"
#include "host.h"
#include "sigwait.h"
#include "vthread.h"

/*
 * Bytes between two calls of a thread's that are taken for one stack. The same
 * depth of two stacks is further apart: valgrind's smallest stack has two pages
 * and a guard of two.
 */
#define STACK_WINDOW 8192
/* Longest time between two polls of a running thread: no more than of old between two slices. */
#define POLL_CYCLES 20000
/* The same for one that is on another's host thread, where only part can be seen. */
#define AWAY_CYCLES 2000000
/* Looks at a thread that ends before the others go on all the same: a second or more. */
#define ENDING_TRIES 1000000

Int __real_vgPlain_gettid(void);
Int __wrap_vgPlain_gettid(void);
void __real_vgPlain_poll_signals(ThreadId tid);
void __wrap_vgPlain_poll_signals(ThreadId tid);

static Bool unknown;
/* System calls that valgrind has begun or finished. */
static ULong nr_calls;

/** lwp_same_stack() - Return: True if both addresses, in calls of about one depth, are of one stack. */
Bool lwp_same_stack(Addr a, Addr b)
{
	return a - b + STACK_WINDOW / 2 < STACK_WINDOW;
}

static Bool is_on(const struct vthread *t, Addr stack)
{
	return lwp_same_stack(stack, t->stack) && t->state != VT_FREE;
}

/**
 * lwp_find() - which thread is calling?
 *
 * Called with the scheduler's guard held.
 *
 * Return: the thread, 0 if it is new.
 */
ThreadId lwp_find(void)
{
	Addr stack = (Addr)__builtin_frame_address(0);
	ThreadId tid;

	for (tid = 1; !unknown && tid < vthread_end; tid++)
		if (is_on(&vthreads[tid], stack))
			return tid;
	tid = vthread_find(__real_vgPlain_gettid(), True);
	if (tid)
		vthreads[tid].stack = stack;
	return tid;
}

/* Valgrind asks twice a slice, mostly on behalf of the thread that has the big lock. */
Int __wrap_vgPlain_gettid(void)
{
	const struct vthread *t = current_tid ? current_vthread() : NULL;

	if (t && !unknown && is_on(t, (Addr)__builtin_frame_address(0)))
		return t->lwp;
	return handover_lwp(__real_vgPlain_gettid());
}

/**
 * lwp_note_call() - valgrind begins or has finished a system call.
 * @forks: it begins one that may make a process
 */
void lwp_note_call(Bool forks)
{
	unknown = forks;
	nr_calls++;
}

/** lwp_poll_soon() - a signal was sent: every thread looks for it when it runs next. */
void lwp_poll_soon(void)
{
	nr_calls++;
}

void __wrap_vgPlain_poll_signals(ThreadId tid)
{
	struct vthread *t = &vthreads[tid];

	if (t->polled_calls == nr_calls && t->clock - t->polled_at < POLL_CYCLES && !t->wait.kind)
		return;
	/* A signal may be pending for a host thread alone: none is taken on another's. */
	if (!handover_at_home() && t->polled_calls == nr_calls && !t->wait.kind &&
	    t->clock - t->polled_home < AWAY_CYCLES && !sigwait_pending()) {
		t->polled_at = t->clock;
		return;
	}
	handover_go_home();
	t->polled_calls = nr_calls;
	t->polled_at = t->polled_home = t->clock;
	__real_vgPlain_poll_signals(tid);
}

/* What the host says a thread does: the letter of proc(5), 0 if it is gone. */
static HChar state_of(Int lwp)
{
	HChar name[64], stat[256], *state;

	VG_(sprintf)(name, "/proc/self/task/%d/stat", lwp);
	host_read_file(name, stat, sizeof(stat));
	state = VG_(strrchr)(stat, ')');
	return state && state[1] == ' ' ? state[2] : 0;
}

/**
 * lwp_sleeps() - does the host say that a thread sleeps, interruptibly, in a system call?
 * @lwp: the thread
 *
 * Return: True if so.
 */
Bool lwp_sleeps(Int lwp)
{
	return state_of(lwp) == 'S';
}

/* The first thread of the process stays as a zombie that can be sent signals, until all end. */
static Bool has_ended(Int lwp, Int pid)
{
	if (lwp == pid)
		return state_of(lwp) == 'Z' || state_of(lwp) == 0;
	return host_syscall(__NR_tgkill, pid, lwp, 0, 0, 0, 0) != 0;
}

/**
 * lwp_await_end() - wait until a thread that gave up the big lock for good is gone.
 * @lwp: the thread, 0 none
 *
 * The kernel clears the id of a thread that ends in the program's memory,
 * where others look before they wait for it: so that they see the same in
 * every run, nobody goes on before the thread is gone.
 */
void lwp_await_end(Int lwp)
{
	Int pid, tries;

	if (!lwp)
		return;
	pid = VG_(getpid)();
	for (tries = 0; tries < ENDING_TRIES && !has_ended(lwp, pid); tries++)
		host_yield();
}

/**
 * lwp_signal_call() - tkill and tgkill, whose answer tells whether a thread lives.
 * @guest: registers of the running thread
 *
 * A thread lives until it ends in virtual time, whatever the host does with it at that moment. The
 * first one is found, as a zombie, as long as the process lives.
 *
 * Return: what to do with the call.
 */
enum syscall_verdict lwp_signal_call(VexGuestAMD64State *guest)
{
	Bool group = guest->guest_RAX == __NR_tgkill;
	Int pid = VG_(getpid)();
	Int lwp = group ? guest->guest_RSI : guest->guest_RDI;
	Int signal = group ? guest->guest_RDX : guest->guest_RSI;
	Long result = lwp == pid ? 0 : -(Long)VKI_ESRCH;
	ThreadId tid;

	if (lwp <= 0 || (group && (Int)guest->guest_RDI != pid))
		return SYSCALL_REAL;
	tid = vthread_find(lwp, True);
	if (tid && !vthreads[tid].exiting)
		result = 0;
	/* Without a group it may be a thread of another process. */
	if ((!result && signal) || (result && !group))
		return SYSCALL_REAL;
	guest->guest_RAX = result;
	return SYSCALL_DONE;
}

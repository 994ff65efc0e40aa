// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lwp.c - host threads: which one calls, sleeps or has ended, and when each polls for signals.
 *
 * Every slice needs to know which host thread calls and whether to poll. Slices are short, so most
 * find out both without a system call. A host thread is recognised by its stack, which
 * it has for all its life; only if the stack is unknown, the host's kernel is asked for the thread id.
 * Must never apply the stacks of a parent to its child: while a process is being made, no stack counts.
 *
 * Signals stay pending in the host until Valgrind polls for them. A signal that the program sends
 * itself comes with a system call that Valgrind carries out, so each thread polls once after each
 * of these. For signals of other processes it polls every POLL_CYCLES.
 */
#include "lwp.h"
#include "handover.h"
#include "host.h"
#include "sigwait.h"
#include "vthread.h"

/*
 * Two addresses on stacks that are less than half of this apart, bytes, are on the same stack.
 * Calls of the same depth on two stacks are further apart: Valgrind's smallest stack has two pages
 * and a guard of two.
 */
#define STACK_WINDOW 8192
/* Longest time between two polls of a running thread. Chosen. */
#define POLL_CYCLES 20000
/*
 * Longest time between two polls at home, which find signals sent to that host thread alone, of a
 * thread that another host thread executes. Chosen.
 */
#define AWAY_CYCLES 2000000
/*
 * Checks for the end of a thread before the others go on without it, with a sleep after each but
 * the first ENDING_YIELDS, ns: 1 s together. Chosen.
 */
#define ENDING_TRIES 20000
#define ENDING_YIELDS 100
#define ENDING_NS 50000

Int __real_vgPlain_gettid(void);
Int __wrap_vgPlain_gettid(void);
void __real_vgPlain_poll_signals(ThreadId tid);
void __wrap_vgPlain_poll_signals(ThreadId tid);

static Bool unknown;
/* Number of times that Valgrind began or finished a system call, or a timer sent a signal. */
static ULong nr_calls;

/** lwp_same_stack() - Return: True if two addresses, at the same depth, are on one stack. */
Bool lwp_same_stack(Addr a, Addr b)
{
	return a - b + STACK_WINDOW / 2 < STACK_WINDOW;
}

static Bool is_on(const struct vthread *t, Addr stack)
{
	return lwp_same_stack(stack, t->stack) && t->state != VT_FREE;
}

/**
 * lwp_find() - find the guest thread that the calling host thread is the home of.
 *
 * Called with the scheduler's guard held.
 *
 * Return: the thread, 0 if it is not known yet.
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

/* Valgrind calls it twice in each slice, mostly on behalf of the thread that has the big lock. */
Int __wrap_vgPlain_gettid(void)
{
	const struct vthread *t = current_tid ? current_vthread() : NULL;

	if (t && !unknown && is_on(t, (Addr)__builtin_frame_address(0)))
		return t->lwp;
	return handover_lwp(__real_vgPlain_gettid());
}

/**
 * lwp_note_call() - Valgrind begins or has finished a system call.
 * @forks: it begins one that may make a process
 */
void lwp_note_call(Bool forks)
{
	unknown = forks;
	nr_calls++;
}

/** lwp_poll_soon() - a signal was sent: every thread polls for it when it runs next. */
void lwp_poll_soon(void)
{
	nr_calls++;
}

void __wrap_vgPlain_poll_signals(ThreadId tid)
{
	struct vthread *t = &vthreads[tid];

	if (t->polled_calls == nr_calls && t->clock - t->polled_at < POLL_CYCLES && !t->wait.kind)
		return;
	/* Away from home a poll would miss signals that were sent to the home alone. */
	if (!handover_at_home() && t->polled_calls == nr_calls && !t->wait.kind &&
	    t->clock - t->polled_home < AWAY_CYCLES && !sigwait_pending()) {
		t->polled_at = t->clock;
		return;
	}
	handover_go_home();
	if (t->wait.kind && sigwait_pending() && sigwait_over(t)) {
		lwp_poll_soon();
		return;
	}
	t->polled_calls = nr_calls;
	t->polled_at = t->polled_home = t->clock;
	__real_vgPlain_poll_signals(tid);
}

/* The state of a host thread: the letter of proc(5), 0 if it has ended. */
static HChar state_of(Int lwp)
{
	HChar name[64], stat[256], *state;

	VG_(sprintf)(name, "/proc/self/task/%d/stat", lwp);
	host_read_file(name, stat, sizeof(stat));
	state = VG_(strrchr)(stat, ')');
	return state && state[1] == ' ' ? state[2] : 0;
}

/**
 * lwp_sleeps() - does a host thread sleep in a system call that signals can interrupt?
 * @lwp: the thread
 *
 * Return: True if so.
 */
Bool lwp_sleeps(Int lwp)
{
	return state_of(lwp) == 'S';
}

/*
 * Whether a host thread has ended. The first thread of a process stays as a zombie, to which
 * signals can be sent, until all have ended.
 */
static Bool has_ended(Int lwp, Int pid)
{
	if (lwp == pid)
		return state_of(lwp) == 'Z' || state_of(lwp) == 0;
	return host_syscall(__NR_tgkill, pid, lwp, 0, 0, 0, 0) != 0;
}

/**
 * lwp_await_end() - wait until a host thread that gave up the big lock for good has ended.
 * @lwp: the thread, 0 none
 *
 * The kernel clears the id of a thread that ends in the program's memory, where other threads read
 * it before they wait for the thread. So that they read the same value in every run, no thread goes
 * on before that. It sleeps, as a yield of a real-time thread leaves a normal one no processor.
 */
void lwp_await_end(Int lwp)
{
	Int pid, tries, never = 0;

	if (!lwp)
		return;
	pid = VG_(getpid)();
	for (tries = 0; tries < ENDING_TRIES && !has_ended(lwp, pid); tries++)
		if (tries < ENDING_YIELDS)
			host_yield();
		else
			host_futex_wait(&never, 0, ENDING_NS);
}

/**
 * lwp_signal_call() - tkill(2) and tgkill(2), whose result tells whether a thread lives.
 * @guest: registers of the running thread
 *
 * A thread lives until it ends in virtual time, whatever the state of its host thread. The
 * first thread exists, as a zombie, as long as the process.
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
	/* tkill() does not name the process: the thread may be one of another process. */
	if ((!result && signal) || (result && !group))
		return SYSCALL_REAL;
	guest->guest_RAX = result;
	return SYSCALL_DONE;
}

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
#include "rtmgrind.h"
#include "host.h"

/*
 * Bytes between two calls of a thread's that are taken for one stack. The same
 * depth of two stacks is further apart: valgrind's smallest stack has two pages
 * and a guard of two.
 */
#define STACK_WINDOW 8192
/* Longest time between two polls of a running thread: no more than of old between two slices. */
#define POLL_CYCLES 20000
/* Looks at a thread that ends before the others go on all the same: a second or more. */
#define ENDING_TRIES 1000000

Int __real_vgPlain_gettid(void);
Int __wrap_vgPlain_gettid(void);
void __real_vgPlain_poll_signals(ThreadId tid);
void __wrap_vgPlain_poll_signals(ThreadId tid);

static Bool unknown;
/* System calls that valgrind has begun or finished. */
static ULong nr_calls;

static Bool is_on(const struct vthread *t, Addr stack)
{
	return stack - t->stack + STACK_WINDOW / 2 < STACK_WINDOW && t->state != VT_FREE;
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
	Int lwp;

	for (tid = 1; !unknown && tid < vthread_end; tid++)
		if (is_on(&vthreads[tid], stack))
			return tid;
	lwp = __real_vgPlain_gettid();
	for (tid = 1; tid < vthread_end; tid++)
		if (vthreads[tid].lwp == lwp && vthreads[tid].state != VT_FREE)
			break;
	if (tid == vthread_end)
		return 0;
	vthreads[tid].stack = stack;
	return tid;
}

/* Valgrind asks twice a slice, mostly on behalf of the thread that has the big lock. */
Int __wrap_vgPlain_gettid(void)
{
	const struct vthread *t = current_tid ? current_vthread() : NULL;

	if (t && !unknown && is_on(t, (Addr)__builtin_frame_address(0)))
		return t->lwp;
	return __real_vgPlain_gettid();
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
	t->polled_calls = nr_calls;
	t->polled_at = t->clock;
	__real_vgPlain_poll_signals(tid);
}

/**
 * lwp_sleeps() - does the host say that a thread sleeps, interruptibly, in a system call?
 * @lwp: the thread
 *
 * Return: True if so.
 */
Bool lwp_sleeps(Int lwp)
{
	HChar name[64], stat[256], *state;
	Long fd, n;

	VG_(sprintf)(name, "/proc/self/task/%d/stat", lwp);
	fd = host_syscall(__NR_open, (Long)name, 0, 0, 0, 0, 0);
	if (fd < 0)
		return False;
	n = host_syscall(__NR_read, fd, (Long)stat, sizeof(stat) - 1, 0, 0, 0);
	host_syscall(__NR_close, fd, 0, 0, 0, 0, 0);
	stat[n > 0 ? n : 0] = 0;
	state = VG_(strrchr)(stat, ')');
	return state && state[1] == ' ' && state[2] == 'S';
}

/**
 * lwp_await_end() - wait until a thread that gave up the big lock for good is gone.
 * @lwp: the thread, 0 none
 *
 * The kernel clears the id of a thread that ends in the program's memory,
 * where others look before they wait for it: so that they see the same in
 * every run, nobody goes on before the thread is gone. The first thread of
 * the process stays as a zombie and is not waited for.
 */
void lwp_await_end(Int lwp)
{
	Int pid, tries;

	if (!lwp)
		return;
	pid = VG_(getpid)();
	for (tries = 0; lwp != pid && tries < ENDING_TRIES; tries++) {
		if (host_syscall(__NR_tgkill, pid, lwp, 0, 0, 0, 0))
			break;
		host_yield();
	}
}

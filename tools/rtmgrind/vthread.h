/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vthread.h - the simulated thread: the state of a guest thread for all parts; see vthread.c.
 *
 * Must never be needed by code that does not depend on threads, such as caches and decoding.
 */
#ifndef RTMGRIND_VTHREAD_H
#define RTMGRIND_VTHREAD_H

#include "rtmgrind.h"
#include "fiber.h"

enum wait_kind {
	WAIT_NONE,
	WAIT_FUTEX,		/* for a wake-up of the futex at @addr */
	WAIT_EXIT,		/* for the end of the thread whose id is @value */
	WAIT_SLEEP,		/* for @deadline alone */
	WAIT_FD,		/* for one of @fds */
	WAIT_SIGNAL,		/* for a signal, or for @deadline */
	WAIT_TRY,		/* for an event that only the kernel knows, see try.c */
	WAIT_PI,		/* for the priority-inheriting lock at @addr */
	NR_WAIT_KINDS
};

/**
 * struct wait - why a thread stands in front of a system call; see wait.c.
 * @kind: what the thread waits for
 * @syscall_nr: number of the call
 * @deadline: virtual time at which the wait ends at the latest, 0 never
 * @at_deadline: result of the call at @deadline
 * @check_at: virtual time at which the thread retries the call because of an event, 0 none
 * @look_at: virtual time at which the thread retries the call in any case while others run
 *           (WAIT_FD, WAIT_TRY or @outside), 0 none
 * @outside: another process may end the wait
 * @woken: another process has ended the wait
 * @owner_ended: the thread has ended whose id the futex word had, so the kernel wakes a waiter
 * @tried: the call was just tried, and would have waited
 * @addr: address of the futex word
 * @mask: bit set of the futex call
 * @value: value of the futex word that the thread waits on
 * @requeue_to: priority-inheriting lock that FUTEX_CMP_REQUEUE_PI moves the waiter to, 0 none
 * @queued: sequence number of the wait: the waiter with the smallest is woken first
 * @fds: the descriptors
 * @nr_fds: number of descriptors
 * @fds_room: number of descriptors that @fds has room for
 * @masked: the call has a signal mask of its own, which is set
 * @old_mask: the thread's mask before the call, and after it
 */
struct wait {
	enum wait_kind kind;
	Int syscall_nr;
	Long deadline;
	Long at_deadline;
	Long check_at;
	Long look_at;
	Bool outside;
	Bool woken;
	Bool owner_ended;
	Bool tried;
	Addr addr;
	UInt mask;
	UInt value;
	Addr requeue_to;
	ULong queued;
	struct vki_pollfd *fds;
	UInt nr_fds;
	UInt fds_room;
	Bool masked;
	vki_sigset_t old_mask;
};

/*
 * The states of a simulated thread. At most one thread is VT_RUNNING, and none is while one is
 * VT_KERNEL: virtual time passes only in generated code and in the calls that it makes.
 *
 *   from         to           moved by                     when
 *   VT_FREE      VT_READY     arrive()                     the host thread of a new guest thread
 *                                                          takes the big lock for the first time
 *   VT_READY     VT_RUNNING   slice_begin()                it is the turn of the thread
 *   VT_WAITING   VT_RUNNING   slice_begin()                the thread tries its call again, or
 *                                                          idles on behalf of all
 *   VT_RUNNING   VT_READY     leave()                      its slice is over
 *   VT_RUNNING   VT_WAITING   leave()                      wait_begin() has made it wait
 *   VT_RUNNING   VT_KERNEL    leave()                      Valgrind carries out a short call
 *   VT_RUNNING   VT_OUTSIDE   leave()                      Valgrind carries out a call that may
 *                                                          wait for another process
 *   VT_RUNNING   VT_FREE      leave()                      the thread has ended
 *   VT_WAITING   VT_READY     wait_complete()              the call is over: another thread or a
 *                                                          deadline has completed it
 *   VT_WAITING   VT_READY     anybody_ready()              Valgrind wants the thread to end
 *   VT_KERNEL    VT_READY     arrive()                     the call is over
 *   VT_OUTSIDE   VT_READY     arrive()                     the call is over
 *   VT_KERNEL    VT_OUTSIDE   sched_watch_kernel()         the short call has slept for STUCK_NS
 *   any          VT_FREE      restart_after_fork()         the thread is not in the child process
 *   VT_RUNNING   VT_READY     restart_after_fork()         the thread has forked the child process
 *
 * These functions are in sched.c, except slice_begin() (slice.c), wait_complete() (wait.c) and
 * anybody_ready() (turn.c).
 */
enum vthread_state {
	VT_FREE,		/* the entry is free: there is no such thread */
	VT_READY,		/* the thread wants the big lock and a processor */
	VT_RUNNING,		/* it has both */
	VT_WAITING,		/* it waits in front of a call that is completed in virtual time */
	VT_KERNEL,		/* it is in a short system call: no other thread runs meanwhile */
	VT_OUTSIDE,		/* it is in a call that may wait for another process: others run */
};

/**
 * struct vthread - a guest thread on the simulated machine.
 * @state: see above
 * @calling: VT_KERNEL or VT_OUTSIDE while Valgrind carries out a system call, else VT_FREE
 * @exiting: the thread ends: it gives up the big lock for good next time
 * @whole_slice: none of its CORE_SLICE blocks was used up when it entered generated code, see
 *               core-hooks.c
 * @in_block: it has stopped in the middle of a block, and must continue on the same core
 * @parked: it has stopped until slice_unpark()
 * @core: simulated processor that it has, a hardware thread; -1 none
 * @clock: virtual time, cycles since the start of the run
 * @rest: fraction of a cycle beyond @clock, see account.c
 * @cpu: processor time, cycles
 * @nr_still: not 0: time stands still for the thread; calls of account_stand_still() nest
 * @faster: per mille of their time by which its instructions are faster, see account_faster()
 * @libcall_sp: stack pointer at the beginning of a call that takes no time, 0 none; see libcall.c
 * @still_insns: instructions that it has executed since time stopped for it
 * @timeslice_end: virtual time from which it gives its processor to a thread that queues
 * @turn: host futex word that the thread's home sleeps on; counts the times that the thread was
 *        chosen to run
 * @meetings: slices for which it must not run far ahead of the others, see slice.c
 * @lwp: Linux thread id, which the guest sees, too; kept after the end of the thread until its host
 *       thread has ended
 * @home: host processor + 1 that its host thread is pinned to, 0 none
 * @stack: an address on the stack of its host thread, 0 not known yet
 * @polled_calls: number of events that may have sent a signal when it polled last, see lwp.c
 * @polled_at: its clock when it polled last
 * @polled_home: its clock when it polled at home last
 * @fiber: where it resumes after it gave way
 * @last_core: simulated processor that it had last, -1 none
 * @section: address of a struct rtmgrind_section in guest memory, 0 none
 * @affinity: bit set of the processors that it may have, model_cpus() bits; NULL all
 * @guest: its registers, NULL before its first system call
 * @shown: the latest time that a clock has shown it, cycles
 * @wait: why it waits, see struct wait
 * @ready: the system call that Valgrind carries out next will not wait
 * @dated: the timeout of the call that it makes is an absolute date
 * @try_nr: number of the call that is being tried, 0 none; see try.c
 * @try_arg: the program's value of the argument that the try has changed
 * @try_deadline: virtual deadline of the call that is being tried, 0 none
 * @frame_masked: the next signal frame must save @frame_mask
 * @frame_mask: signal mask from before the call that the signal interrupts
 */
struct vthread {
	/* The fields that each hand-over reads of all threads share a line of the host's cache. */
	enum vthread_state state;
	enum vthread_state calling;
	Bool exiting;
	Bool whole_slice;
	Bool in_block;
	Bool parked;
	Int core;
	Long clock;
	Long rest;
	Long cpu;
	Long still_insns;
	Int nr_still;
	Int faster;
	Addr libcall_sp;
	Long timeslice_end;
	volatile Int turn;
	Int meetings;
	Int lwp;
	UInt home;
	Addr stack;
	ULong polled_calls;
	Long polled_at;
	Long polled_home;
	struct fiber fiber;
	Int last_core;
	Addr section;
	UChar *affinity;
	VexGuestAMD64State *guest;
	Long shown;
	struct wait wait;
	Bool ready;
	Bool dated;
	Int try_nr;
	ULong try_arg;
	Long try_deadline;
	Bool frame_masked;
	vki_sigset_t frame_mask;
};

/* Indexed by ThreadId, with nr_vthreads entries; all that are in use are below vthread_end. */
extern struct vthread *vthreads;
extern UInt nr_vthreads;
extern ThreadId vthread_end;
/* The thread that has the big lock. */
extern ThreadId current_tid;

static inline struct vthread *current_vthread(void)
{
	return &vthreads[current_tid];
}

void vthread_init(void);
void vthread_renew(ThreadId tid);
ThreadId vthread_find(Int lwp, Bool alive);

#endif

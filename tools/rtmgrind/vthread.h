/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vthread.h - the simulated thread: what every part keeps about a guest thread; see vthread.c.
 *
 * Must never be needed by code that the guest's threads do not concern, as caches and decoding.
 */
#ifndef RTMGRIND_VTHREAD_H
#define RTMGRIND_VTHREAD_H

#include "rtmgrind.h"
#include "fiber.h"

enum wait_kind {
	WAIT_NONE,
	WAIT_FUTEX,		/* for a wake of @addr */
	WAIT_EXIT,		/* for the end of the thread whose id is @value */
	WAIT_SLEEP,		/* for @deadline alone */
	WAIT_FD,		/* for one of @fds */
	WAIT_SIGNAL,		/* for a signal, or for @deadline */
	WAIT_TRY,		/* for what only the kernel knows: the call is tried now and then */
	WAIT_PI,		/* for the priority-inheriting lock at @addr */
	NR_WAIT_KINDS
};

/**
 * struct wait - why a thread stands in front of a system call.
 * @kind: what it waits for
 * @syscall_nr: the call
 * @deadline: virtual time at which it gives up, 0 never
 * @at_deadline: result of the call then
 * @check_at: virtual time at which to look again because something happened, 0 none
 * @look_at: virtual time of the next routine look while others run (WAIT_FD, WAIT_TRY or
 *           @outside), 0 none
 * @outside: another process may end it
 * @woken: another process has
 * @tried: the call was just tried, and would have waited
 * @addr: futex word
 * @mask: futex bit set
 * @value: futex value waited on
 * @requeue_to: priority-inheriting lock that FUTEX_CMP_REQUEUE_PI moves the waiter to, 0 none
 * @queued: order of arrival among futex waiters
 * @fds: descriptors, the thread's own array of room for @fds_room
 * @nr_fds: how many
 * @fds_room: see @fds
 * @masked: the call has a signal mask of its own, which holds now
 * @old_mask: the thread's mask before, and afterwards
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
 * These functions are in sched.c, but slice_begin() (slice.c), wait_complete() (wait.c) and
 * anybody_ready() (turn.c).
 */
enum vthread_state {
	VT_FREE,		/* no thread */
	VT_READY,		/* wants the big lock and a core */
	VT_RUNNING,		/* has both */
	VT_WAITING,		/* stands in front of a call that virtual time completes */
	VT_KERNEL,		/* in a short system call: nobody runs until it is back */
	VT_OUTSIDE,		/* in a call that waits for the outside: others run */
};

/**
 * struct vthread - a guest thread as the simulated machine sees it.
 * @state: see above
 * @calling: VT_KERNEL or VT_OUTSIDE while valgrind carries out a system call, else VT_FREE
 * @exiting: the thread gives up the big lock for good next time
 * @lwp: Linux thread id, which is also what the guest sees; kept after the end of the
 *       thread until its host thread is gone
 * @stack: where on its stack its host thread was last seen, 0 not yet
 * @polled_calls: what had happened when it polled for signals last, see lwp.c
 * @polled_at: virtual time of that
 * @polled_home: the same, on its own host thread
 * @home: host processor + 1 that it is pinned to, 0 none
 * @turn: host futex word the host thread sleeps on
 * @fiber: where it goes on after it gave way
 * @clock: virtual time, cycles since the start of the run
 * @rest: parts of a cycle beyond @clock, see account.c
 * @cpu: cycles it ran
 * @core: hardware thread it has, -1 none
 * @timeslice_end: virtual time from which it gives its core to a queued thread
 * @last_core: hardware thread it had last, -1 none
 * @affinity: bit set of those it may have, model_cpus() long; NULL all
 * @meetings: slices for which it stays close to the others, as it has dealt with them
 * @whole_slice: valgrind gave it a whole slice when it entered generated code last
 * @in_block: it waits in the middle of a block, and must go on on the same core
 * @parked: see slice_park()
 * @section: struct rtmgrind_section in guest memory, 0 none
 * @guest: its registers; known from its first system call or transaction on
 * @shown: the latest time a clock showed it, cycles
 * @wait: see struct wait
 * @ready: the system call that valgrind carries out next does not wait
 * @try_nr: the call that is being tried, 0 none, see try.c
 * @try_arg: the argument of it that was changed
 * @try_deadline: virtual time at which it gives up, 0 never
 * @frame_masked: the signal frame about to be made keeps @frame_mask
 * @frame_mask: the mask from before the call that the signal interrupts
 */
struct vthread {
	/* What is asked of every thread at each hand-over: one line of the host's cache. */
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
	Int try_nr;
	ULong try_arg;
	Long try_deadline;
	Bool frame_masked;
	vki_sigset_t frame_mask;
};

/* Indexed by ThreadId, of nr_vthreads entries; those in use are below vthread_end. */
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

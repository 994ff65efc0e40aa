// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sched.c - whose turn it is.
 *
 * Valgrind runs one guest thread at a time, the one that has its big lock.
 * The six functions of that lock are defined here, so the linker leaves out
 * valgrind's own, and the hand-over is ours: the ready thread with the
 * smallest virtual clock runs, for a slice of seeded random length. So the
 * same seed gives the same interleaving whatever the host does.
 *
 * The state is guarded by a spin lock, held for moments only; the big lock
 * must never be waited for while it is held.
 */
#include "sched.h"
#include "access.h"
#include "account.h"
#include "affinity.h"
#include "coherence.h"
#include "contention.h"
#include "core-hooks.h"
#include "cores.h"
#include "fiber.h"
#include "futex.h"
#include "hle.h"
#include "host.h"
#include "lwp.h"
#include "model.h"
#include "options.h"
#include "pin.h"
#include "requests.h"
#include "rng.h"
#include "timers.h"
#include "turn.h"
#include "txn.h"
#include "vthread.h"

/* Longest slice, instructions: valgrind polls for signals between two. */
#define SLICE_MAX 100000
/* Outside the region of interest threads run ahead so many times further. */
#define SLOPPY_FACTOR 50
/*
 * A thread that fights for lines with others runs ahead only so far, on average; a thread that
 * has not done so for that many slices runs ahead as far as it is told.
 */
#define MEETING_QUANTUM 20
#define MEETING_SLICES 16
/* How often a parked thread looks whether the one in the kernel is stuck there, ns. */
#define WATCH_NS 50000000LL
/* After so long asleep in a system call, ns, the others go on without it. */
#define STUCK_NS 1000000000LL

extern UInt VG_N_THREADS;
extern volatile Bool VG_(in_generated_code);

struct sched_lock {
	Int unused;
};

struct vthread *vthreads;
UInt nr_vthreads;
ThreadId vthread_end;
ThreadId current_tid;

/**
 * struct sched - the state of the big lock.
 * @guard: spin lock
 * @owner: thread that has the lock or is to take it, 0 none
 * @host: thread on whose host thread @owner runs or is to run, 0 none
 * @last_host: the one before
 * @to_wake: thread whose host thread is to be woken when the guard is given up, 0 none
 * @yielder: where on its stack @owner has given up the lock, to take it again at once; 0 it has not
 * @owner_lwp: its Linux thread id once it runs, 0 none
 * @unborn: thread that was created and whose host thread has not shown up yet
 * @kernel: thread in a short system call, 0 none
 * @latest: clock of the thread that ran last
 * @end_time: virtual time of the end of the process, 0 not yet
 * @idle: @owner was chosen to wait for the outside, for there is nothing else to do
 * @asleep: the idle thread sleeps on @arrivals
 * @arrivals: host futex word, counts threads that want the lock
 * @nr_calls: short system calls so far
 * @watched_call: the one that was being watched
 * @watched_since: real time since when
 * @rng: lengths of slices
 */
static struct {
	volatile Int guard;
	volatile ThreadId owner;
	volatile ThreadId host;
	ThreadId last_host;
	ThreadId to_wake;
	Addr yielder;
	Int owner_lwp;
	volatile ThreadId unborn;
	Int ending_lwp; /* gave up the big lock for good, and may not be gone yet */
	ThreadId kernel;
	Long latest;
	Long end_time;
	Bool idle;
	Bool asleep;
	volatile Int arrivals;
	ULong nr_calls;
	ULong watched_call;
	Long watched_since;
	struct rng rng;
} sched;

static struct sched_lock the_lock;

static void guard_lock(void)
{
	while (__atomic_exchange_n(&sched.guard, 1, __ATOMIC_ACQUIRE))
		host_yield();
}

/* Pairs with the acquire in guard_lock(). */
static void guard_unlock(void)
{
	__atomic_store_n(&sched.guard, 0, __ATOMIC_RELEASE);
}

static void init_vthreads(void)
{
	if (vthreads)
		return;
	model_build();
	nr_vthreads = VG_N_THREADS;
	vthreads = VG_(calloc)("rtmgrind.vthreads", nr_vthreads, sizeof(*vthreads));
	vthreads[1].core = vthreads[1].last_core = -1;
	vthread_end = 2;
	sched.unborn = 1;
	cores_init();
}

/** sched_init() - prepare, once the options are known. */
void sched_init(void)
{
	init_vthreads();
	rng_seed(&sched.rng, opt.seed, 0);
}

/**
 * sched_latest() - the machine's clock while no thread runs.
 *
 * Return: cycles since the start of the run.
 */
Long sched_latest(void)
{
	return sched.latest;
}

/** sched_note_end() - the process ends now; what follows takes no virtual time. */
void sched_note_end(void)
{
	if (!sched.end_time)
		sched.end_time = sched_now();
}

/**
 * sched_end_time() - how long the run took.
 *
 * Return: cycles.
 */
Long sched_end_time(void)
{
	return sched.end_time ? sched.end_time : sched_now();
}

/**
 * sched_end_slice() - let others run before the next block.
 * @guest: registers of the running thread
 */
void sched_end_slice(VexGuestAMD64State *guest)
{
	guest->host_EvC_COUNTER = 0;
}

/**
 * sched_is_idle() - was the running thread woken only to wait for the outside?
 *
 * Return: True if so.
 */
Bool sched_is_idle(void)
{
	return sched.idle;
}

/**
 * sched_alone() - is the running thread the only one?
 *
 * Return: True if so.
 */
Bool sched_alone(void)
{
	ThreadId tid;

	for (tid = 1; tid < vthread_end; tid++)
		if (tid != current_tid && vthreads[tid].state != VT_FREE)
			return False;
	return True;
}

/* In the middle of a block, in a helper: others run first. */
static void leave_block(void)
{
	ThreadId me = current_tid;
	Addr pc = current_pc;
	ULong bytes = current_bytes;
	Bool in_txn = txn_open(me);

	vthreads[me].in_block = True;
	core_let_others_run(me);
	vthreads[me].in_block = False;
	current_pc = pc;
	current_bytes = bytes;
	if (in_txn && !txn_open(me)) {
		contention_done(me, 0);
		core_restart_thread();
	}
}

/**
 * sched_wait_turn() - let all others run up to the running thread's clock, in the middle of a block.
 *
 * Does not return if they abort the thread's transaction. A thread that ran
 * ahead of the others would else see, and change, what lies in their future.
 */
void sched_wait_turn(void)
{
	vthreads[current_tid].meetings = MEETING_SLICES;
	if (account_ahead() && core_blocks_stay())
		leave_block();
}

/**
 * sched_park() - let others run until one of them calls sched_unpark().
 *
 * Like sched_wait_turn() otherwise.
 */
void sched_park(void)
{
	vthreads[current_tid].parked = core_blocks_stay();
	if (vthreads[current_tid].parked)
		leave_block();
}

/**
 * sched_unpark() - a parked thread can go on.
 * @tid: the thread
 * @at: virtual time from which it can
 */
void sched_unpark(ThreadId tid, Long at)
{
	struct vthread *t = &vthreads[tid];

	if (!t->parked)
		return;
	t->parked = False;
	if (t->clock < at) {
		t->cpu += at - t->clock;
		t->clock = at;
	}
	if (tid != current_tid)
		account_cut(t->clock);
}

/**
 * sched_sleep() - really sleep until somebody wants the lock, or a futex word is woken.
 * @words: the words; the first one is filled in here
 * @nr: how many, with that
 * @timeout_ns: longest sleep, ns
 *
 * Return: the number of a word that was woken, else 0 or below.
 */
Long sched_sleep(struct host_waitv *words, UInt nr, Long timeout_ns)
{
	Int arrivals;
	Long woken = 0;

	guard_lock();
	arrivals = sched.arrivals;
	sched.asleep = True;
	guard_unlock();
	if (nr > 1)
		woken = host_futex_waitv(words, nr, &sched.arrivals, arrivals, timeout_ns);
	else
		host_futex_wait(&sched.arrivals, arrivals, timeout_ns);
	sched.asleep = False;
	return woken;
}

/* Decides who is next. The caller wakes that thread, and not before it has given up the guard:
 * the woken thread needs it at once, and often on the same host processor.
 */
static ThreadId hand_over(void)
{
	ThreadId next = sched.kernel ? 0 : turn_pick(&sched.idle);

	sched.owner = next;
	if (next)
		vthreads[next].turn++;
	return next;
}

/* Like it, for a host thread that does not go on as the next one. */
static ThreadId hand_over_at_home(void)
{
	return sched.host = hand_over();
}

static void wake(ThreadId tid)
{
	if (tid)
		host_futex_wake(&vthreads[tid].turn);
}

/*
 * Everybody waits for the thread in the kernel. If it sleeps there for another
 * of our threads, as a writer to a full pipe does, that would be for ever.
 * Returns whom to wake then, else 0.
 */
static ThreadId watch_kernel(void)
{
	struct vthread *t = &vthreads[sched.kernel];
	Long now;

	if (sched.owner || !sched.kernel)
		return 0;
	now = host_now();
	if (sched.watched_call != sched.nr_calls) {
		sched.watched_call = sched.nr_calls;
		sched.watched_since = now;
	} else if (now - sched.watched_since >= STUCK_NS && lwp_sleeps(t->lwp)) {
		t->state = VT_OUTSIDE;
		cores_release(sched.kernel);
		sched.kernel = 0;
		return hand_over_at_home();
	}
	return 0;
}

/* On the parking stack of a thread's host thread, with the guard: sleeps until it is wanted. */
static struct fiber *sleep_at_home(ThreadId me)
{
	ThreadId next = sched.to_wake;

	sched.to_wake = 0;
	while (sched.host != me) {
		Int turn = vthreads[me].turn;

		guard_unlock();
		wake(next);
		host_futex_wait(&vthreads[me].turn, turn, WATCH_NS);
		guard_lock();
		next = watch_kernel();
	}
	return &vthreads[me].fiber;
}

/*
 * Lets the thread wait until it is its turn, with the guard. Its host thread goes on as @next,
 * if that is possible: one that is on its way out has to end on its own.
 */
static void give_way(ThreadId me, ThreadId host, ThreadId next)
{
	struct fiber *fiber = &vthreads[me].fiber;

	if (next == host || (next && vthreads[next].fiber.sp && !VG_(is_exiting)(next))) {
		sched.host = host;
		fiber_switch(fiber, &vthreads[next].fiber);
		return;
	}
	if (next || !sched.owner)
		sched.host = next;
	sched.to_wake = next;
	fiber_park(fiber, &vthreads[host].fiber, sleep_at_home, host);
}

/** sched_at_home() - Return: True if the running thread is on its own host thread. */
Bool sched_at_home(void)
{
	return sched.host == current_tid;
}

/**
 * sched_go_home() - let the running thread go on on its own host thread.
 *
 * For what the host's kernel does to the thread that asks for it.
 */
void sched_go_home(void)
{
	ThreadId me = current_tid;
	ThreadId host = sched.host;

	if (host == me)
		return;
	guard_lock();
	sched.host = sched.to_wake = me;
	vthreads[me].turn++;
	fiber_park(&vthreads[me].fiber, &vthreads[host].fiber, sleep_at_home, host);
	guard_unlock();
}

/**
 * sched_lwp() - the Linux thread id of the guest thread that a host thread runs.
 * @lwp: that of the calling host thread
 *
 * Return: the id.
 */
Int sched_lwp(Int lwp)
{
	ThreadId host = sched.host;

	return host && vthreads[host].lwp == lwp ? current_vthread()->lwp : lwp;
}

/* The calling host thread wants the lock: who is it, and what does that change? */
static ThreadId arrive(void)
{
	ThreadId me = lwp_find();
	struct vthread *t;

	if (!me) {
		me = sched.unborn;
		tl_assert2(me, "thread %d was never created\n", VG_(gettid)());
		vthreads[me].lwp = VG_(gettid)();
		vthreads[me].stack = (Addr)__builtin_frame_address(0);
		vthreads[me].state = VT_READY;
		sched.unborn = 0;
		return me;
	}
	t = &vthreads[me];
	if (t->state == VT_KERNEL) {
		sched.kernel = 0;
		t->state = VT_READY;
	} else if (t->state == VT_OUTSIDE) {
		if (t->clock < sched.latest)
			t->clock = sched.latest;
		t->state = VT_READY;
	}
	t->calling = VT_FREE;
	return me;
}

/* Instructions that the thread may execute now; @lead receives those until another is behind. */
static Long slice_length(ThreadId me, Long *lead)
{
	struct vthread *t = &vthreads[me];
	Long quantum = in_region ? opt.quantum : opt.quantum * SLOPPY_FACTOR;
	Long key, length;

	if (t->meetings) {
		t->meetings--;
		if (quantum > MEETING_QUANTUM)
			quantum = MEETING_QUANTUM;
	}
	*lead = 0;
	/* Only to look again; real time may decide how often, so no random number. */
	if (t->state == VT_WAITING)
		return 1;
	if (!turn_next(me, True, &key))
		return *lead = SLICE_MAX;
	if (key > t->clock)
		*lead = account_insns(key - t->clock, SLICE_MAX);
	length = *lead + 1 + rng_next(&sched.rng) % (2 * quantum);
	return length < SLICE_MAX ? length : SLICE_MAX;
}

static void begin_slice(ThreadId me)
{
	struct vthread *t = &vthreads[me];
	Long length, lead, rest;

	sched.owner_lwp = t->lwp;
	current_tid = me;
	account_begin(t);
	length = slice_length(me, &lead);
	rest = t->timeslice_end - t->clock;
	rest = account_insns(rest > 0 ? rest : 1, length);
	if (rest < length && cores_wanted(me))
		length = rest;
	/* A timer that expires ends it too. */
	length = account_insns(timers_slice(me, NS_PER_SECOND), length);
	account_give(length, lead);
	t->state = VT_RUNNING;
	coherence_resume(me);
}

/* Enters the time of the slice that ends into the books. */
static void account(ThreadId me)
{
	struct vthread *t = &vthreads[me];
	Long before = t->clock;
	Bool any = account_end(t);

	if (t->clock > sched.latest)
		sched.latest = t->clock;
	txn_tick(me, before, t->clock);
	/* Valgrind waits for threads that end by yielding: then nobody may stay the smallest. How
	 * often one that waits looks, real time may decide.
	 */
	if (!any && !t->wait.kind)
		t->clock += opt.quantum;
}

static void leave(ThreadId me)
{
	struct vthread *t = &vthreads[me];

	if (t->exiting) {
		t->state = VT_FREE;
		t->exiting = False;
		sched.ending_lwp = t->lwp;
	} else if (t->calling != VT_FREE) {
		t->state = t->calling;
	} else {
		t->state = t->wait.kind ? VT_WAITING : VT_READY;
	}

	if (t->state == VT_KERNEL) {
		sched.kernel = me;
		sched.nr_calls++;
	} else if (t->state != VT_READY) {
		cores_release(me);
	} else if (!t->in_block && (cores_preempt(me) || cores_evict(me))) {
		txn_abort_parked(me, RTMGRIND_CAUSE_INTERRUPT);
	}
}

/**
 * sched_thread_create() - a thread is about to be created.
 * @parent: the running thread, 0 none: it is the main thread
 * @child: the new one
 */
void sched_thread_create(ThreadId parent, ThreadId child)
{
	struct vthread *t = &vthreads[child];

	/* The main thread is known from the start; once it has ended, another one has its number. */
	if (!parent)
		return;
	guard_lock();
	VG_(free)(t->wait.fds);
	VG_(free)(t->affinity);
	fiber_free(&t->fiber);
	VG_(memset)(t, 0, sizeof(*t));
	t->core = t->last_core = -1;
	affinity_copy(t, &vthreads[parent]);
	t->clock = sched_now() + model.wakeup;
	sched.unborn = child;
	if (child >= vthread_end)
		vthread_end = child + 1;
	guard_unlock();
}

/**
 * sched_thread_exit() - a thread ends, or could not be created after all.
 * @tid: the thread
 */
void sched_thread_exit(ThreadId tid)
{
	if (tid == current_tid)
		sched_go_home();
	guard_lock();
	if (sched.unborn == tid) {
		sched.unborn = 0;
	} else {
		txn_forget(tid);
		vthreads[tid].exiting = True;
		vthreads[tid].section = 0;
		futex_thread_exits(tid);
		timers_thread_exits(tid);
	}
	guard_unlock();
}

/* The child of a fork(): only the thread that forked is left. */
static void restart_after_fork(void)
{
	ThreadId tid;

	for (tid = 1; tid < vthread_end; tid++)
		if (tid != current_tid)
			vthreads[tid].state = VT_FREE;
	/* What the parent's thread said; the child has not yet. */
	for (tid = 1; tid < vthread_end; tid++)
		vthreads[tid].section = 0;
	contention_forked();
	cores_reset(current_tid);
	vthreads[current_tid].lwp = VG_(gettid)();
	vthreads[current_tid].state = VT_READY;
	vthreads[current_tid].calling = VT_FREE;
	sched.owner = 0;
	sched.host = 0;
	sched.yielder = 0;
	sched.kernel = 0;
	sched.unborn = 0;
	sched.guard = 0;
}

/* The big lock, as valgrind's scheduler.c calls it. */

struct sched_lock *vgModuleLocal_create_sched_lock(void);
void vgModuleLocal_destroy_sched_lock(struct sched_lock *lock);
int vgModuleLocal_get_sched_lock_owner(struct sched_lock *lock);
void vgModuleLocal_acquire_sched_lock(struct sched_lock *lock);
void vgModuleLocal_release_sched_lock(struct sched_lock *lock);
const HChar *vgModuleLocal_get_sched_lock_name(void);
Bool vgModuleLocal_set_sched_lock_impl(int type);

struct sched_lock *vgModuleLocal_create_sched_lock(void)
{
	init_vthreads();
	if (current_tid)
		restart_after_fork();
	return &the_lock;
}

void vgModuleLocal_destroy_sched_lock(struct sched_lock *lock)
{
}

int vgModuleLocal_get_sched_lock_owner(struct sched_lock *lock)
{
	return sched.owner_lwp;
}

const HChar *vgModuleLocal_get_sched_lock_name(void)
{
	return "rtmgrind";
}

/* --fair-sched chooses between valgrind's locks; there is one here. */
Bool vgModuleLocal_set_sched_lock_impl(int type)
{
	return True;
}

/* The running thread's turn ends; the guard is held. */
static void end_turn(ThreadId me)
{
	/* So that a new thread takes part from a fixed point in virtual time on. */
	while (sched.unborn) {
		guard_unlock();
		host_yield();
		guard_lock();
	}
	account(me);
	leave(me);
	sched.owner_lwp = 0;
	sched.owner = 0;
}

void vgModuleLocal_acquire_sched_lock(struct sched_lock *lock)
{
	ThreadId me, host, next = 0;
	Bool moved, arrives, in_code = False;

	guard_lock();
	me = current_tid;
	host = sched.host;
	arrives = !sched.yielder ||
		  !lwp_same_stack(sched.yielder, (Addr)__builtin_frame_address(0));
	if (arrives) {
		me = host = arrive();
	} else {
		sched.yielder = 0;
		end_turn(me);
		/* In a handler of a fault of generated code: the core waits there for threads to end. */
		in_code = VG_(in_generated_code);
	}
	if (!sched.owner)
		next = hand_over();
	else if (sched.asleep) {
		sched.arrivals++;
		host_futex_wake(&sched.arrivals);
	}
	if (sched.owner == me) {
		sched.host = host;
	} else {
		if (arrives)
			host_let_faults_through();
		give_way(me, host, next);
	}
	lwp_await_end(sched.ending_lwp);
	sched.ending_lwp = 0;
	host = sched.host;
	moved = sched.last_host != host;
	sched.last_host = host;
	VG_(in_generated_code) = in_code;
	begin_slice(me);
	hle_unpark(me);
	guard_unlock();
	if (moved)
		pin_turn(&vthreads[host]);
}

void vgModuleLocal_release_sched_lock(struct sched_lock *lock)
{
	ThreadId me = current_tid;
	const struct vthread *t = &vthreads[me];
	ThreadId next;

	core_untrack_ip(me);
	hle_park(me);
	if (!t->exiting && t->calling == VT_FREE) {
		sched.yielder = (Addr)__builtin_frame_address(0);
		return;
	}
	guard_lock();
	end_turn(me);
	next = hand_over_at_home();
	guard_unlock();
	wake(next);
}

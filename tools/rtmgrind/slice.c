// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slice.c - how long a thread runs before another one may.
 *
 * Guest threads run one at a time, in slices of virtual time. A slice ends between two blocks; a
 * thread that must not run ahead of the others any further lets them run in the middle of one.
 * The length of a slice is random, with the option --seed, and never depends on real time.
 */
#include "slice.h"
#include "access.h"
#include "account.h"
#include "coherence.h"
#include "contention.h"
#include "core-hooks.h"
#include "cores.h"
#include "guest.h"
#include "model.h"
#include "options.h"
#include "region.h"
#include "rng.h"
#include "timers.h"
#include "turn.h"
#include "txn.h"
#include "vthread.h"

/* Longest slice, instructions: Valgrind polls for signals between two slices. Chosen. */
#define SLICE_MAX 100000
/* Outside the region of interest a thread runs ahead this many times further. Chosen. */
#define SLOPPY_FACTOR 50
/*
 * A thread that had to wait for a line of another core in one of its last MEETING_SLICES slices
 * runs ahead of the others by this number of instructions on average, or by the quantum if that is
 * smaller. Chosen.
 */
#define MEETING_QUANTUM 20
#define MEETING_SLICES 16

/* Decides the lengths of slices. */
static struct rng lengths;

/** slice_init() - prepare, once the options are known. */
void slice_init(void)
{
	rng_seed(&lengths, opt.seed, 0);
}

/**
 * slice_stop() - end the running slice before the next block.
 * @guest: registers of the running thread
 */
void slice_stop(VexGuestAMD64State *guest)
{
	guest->host_EvC_COUNTER = 0;
}

/* Lets other threads run in the middle of a block, in a helper that generated code has called. */
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
 * slice_wait_turn() - let all others run up to the running thread's clock, even inside a block.
 *
 * Otherwise a thread ahead of the others would see, and change, their future. Does
 * not return if another thread aborts the running thread's transaction.
 */
void slice_wait_turn(void)
{
	vthreads[current_tid].meetings = MEETING_SLICES;
	if (account_ahead() && core_blocks_stay())
		leave_block();
}

/**
 * slice_park() - let others run, in the middle of a block, until one of them calls slice_unpark().
 *
 * Does not return if another thread aborts the running thread's transaction.
 */
void slice_park(void)
{
	vthreads[current_tid].parked = core_blocks_stay();
	if (vthreads[current_tid].parked)
		leave_block();
}

/**
 * slice_unpark() - let a parked thread go on.
 * @tid: the thread; nothing happens if it is not parked
 * @at: virtual time from which it can go on
 */
void slice_unpark(ThreadId tid, Long at)
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

/*
 * The length of a slice, instructions. @lead receives how many of them run before another thread has
 * a smaller clock.
 */
static Long slice_length(ThreadId me, Long *lead)
{
	struct vthread *t = &vthreads[me];
	Long quantum = in_region ? model.quantum : model.quantum * SLOPPY_FACTOR;
	Long key, length;

	if (slice.still)
		return *lead = STILL_SLICE;
	if (t->meetings) {
		t->meetings--;
		if (quantum > MEETING_QUANTUM)
			quantum = MEETING_QUANTUM;
	}
	*lead = 0;
	/* The thread only retries its call. No random number: real time may decide how often. */
	if (t->state == VT_WAITING)
		return 1;
	if (!turn_next(me, True, &key))
		return *lead = SLICE_MAX;
	if (key > t->clock)
		*lead = account_insns(key - t->clock, SLICE_MAX);
	length = *lead + 1 + rng_next(&lengths) % (2 * quantum);
	return length < SLICE_MAX ? length : SLICE_MAX;
}

/**
 * slice_begin() - a thread that has got the big lock begins its slice.
 * @me: the thread
 */
void slice_begin(ThreadId me)
{
	struct vthread *t = &vthreads[me];
	Long length, lead, rest;

	account_begin(t);
	length = slice_length(me, &lead);
	rest = t->timeslice_end - t->clock;
	rest = account_insns(rest > 0 ? rest : 1, length);
	if (rest < length && cores_wanted(me))
		length = rest;
	/* The slice also ends where a timer expires. */
	length = account_insns(timers_slice(me, NS_PER_SECOND), length);
	account_give(length, lead);
	t->state = VT_RUNNING;
	coherence_resume(me);
}

/**
 * slice_end() - the running thread's slice ends: add its time to the thread's clock.
 * @me: the thread
 */
void slice_end(ThreadId me)
{
	struct vthread *t = &vthreads[me];
	Long before = t->clock;
	Bool any = account_end(t);

	txn_tick(me, before, t->clock);
	/*
	 * Valgrind yields in a loop until threads have ended: without progress of its clock such a
	 * thread would remain the one with the smallest. A waiting thread's clock must not advance,
	 * as real time may decide how often it retries.
	 */
	if (!any && !t->wait.kind)
		t->clock += model.quantum;
}

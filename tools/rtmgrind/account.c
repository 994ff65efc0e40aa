// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * account.c - how instructions become virtual time.
 *
 * Generated code counts the instructions of a slice down. An instruction takes model.cpi hundredths
 * of a cycle; while the other hardware thread of the core runs, too, it takes 100 / model.smt_speed
 * times that. Which of the two holds is decided when the slice begins. Latencies are charged in
 * cycles and are exact: struct slice keeps them apart from the instructions. Only the point at
 * which the slice ends is rounded, as it counts a latency as a number of instructions. The fraction
 * of a cycle that is left at the end of a slice is kept in vthread.rest, so the sum is exact.
 *
 * Where an instruction takes one cycle, the number of instructions is the time and no division is
 * needed: slice.scaled is False.
 */
#include "account.h"
#include "cores.h"
#include "model.h"
#include "region.h"
#include "txn.h"
#include "vthread.h"

/* Added to slice_left while accesses are tracked: below the largest slice and any charge. */
#define TRACKING_BIAS (-(1LL << 48))

Long slice_left;
Long slice_bias;
struct slice slice;

/* The latest clock of a thread at the end of a slice. */
static Long latest;
/* Virtual time of the end of the process, 0 not yet. */
static Long end_time;

/* The unit of vthread.rest is 1 / parts_of_cycle() cycles: an instruction is a multiple of it. */
static Long parts_of_cycle(void)
{
	return 100 * model.smt_speed;
}

/**
 * account_begin() - a slice begins: compute how long an instruction takes in it.
 * @t: the thread; it has a simulated processor unless it is about to end
 */
void account_begin(const struct vthread *t)
{
	Long parts = model.cpi * (cores_shared(t->core) ? 100 : model.smt_speed);

	slice.parts = parts;
	slice.scaled = parts != parts_of_cycle();
	slice.charged = slice.charged_insns = 0;
	slice.insns_per_cycle = (parts_of_cycle() << SLICE_RATE_SHIFT) / parts;
}

/**
 * account_insns() - convert a time to instructions of the running slice.
 * @cycles: the time, not negative
 * @max: upper limit of the result
 *
 * Return: number of instructions that take @cycles, rounded up, at most @max.
 */
Long account_insns(Long cycles, Long max)
{
	if (!slice.scaled)
		return cycles < max ? cycles : max;
	/* Without this the product below could overflow. */
	if (cycles > max * slice.parts / parts_of_cycle())
		return max;
	return (cycles * parts_of_cycle() + slice.parts - 1) / slice.parts;
}

/**
 * account_give() - set the length of the running slice.
 * @insns: instructions
 * @lead: the first of these, during which no other thread has a smaller clock
 */
void account_give(Long insns, Long lead)
{
	slice.given = insns;
	slice.lead = lead;
	slice_left = insns + slice_bias;
}

/* Instructions that the slice has used up, with latencies counted as instructions. */
static Long counted(void)
{
	return slice.given + slice_bias - slice_left;
}

/* Cycles that the slice has used up; @rest is the fraction of a cycle before and after. */
static Long elapsed(Long *rest)
{
	Long parts;

	if (!slice.scaled)
		return counted();
	parts = (counted() - slice.charged_insns) * slice.parts + *rest;
	*rest = parts % parts_of_cycle();
	return slice.charged + parts / parts_of_cycle();
}

/**
 * account_now() - the running thread's clock.
 *
 * Return: cycles since the start of the run.
 */
Long account_now(void)
{
	const struct vthread *t = &vthreads[current_tid];
	Long rest = t->rest;

	return t->clock + elapsed(&rest);
}

/**
 * account_latest() - the machine's clock while no thread runs.
 *
 * Return: cycles since the start of the run.
 */
Long account_latest(void)
{
	return latest;
}

/** account_note_end() - the process ends now; what follows takes no virtual time. */
void account_note_end(void)
{
	if (!end_time)
		end_time = account_now();
}

/**
 * account_end_time() - how long the run took.
 *
 * Return: cycles since the start of the run; to now, while it lasts.
 */
Long account_end_time(void)
{
	return end_time ? end_time : account_now();
}

/**
 * account_end() - the slice ends: add its time to the thread's clock.
 * @t: the thread
 *
 * Return: False if the slice has executed no instruction and charged no latency.
 */
Bool account_end(struct vthread *t)
{
	Bool any = counted() != 0;
	Long cycles = elapsed(&t->rest);

	if (cycles > 0) {
		t->clock += cycles;
		t->cpu += cycles;
	}
	if (t->clock > latest)
		latest = t->clock;
	slice.scaled = False;
	account_give(0, 0);
	return any;
}

/**
 * account_track() - decide whether generated code tracks memory accesses from the next block on.
 *
 * It does so while a transaction is open, and in the region of interest of a machine with caches.
 */
void account_track(void)
{
	slice_left -= slice_bias;
	slice_bias = txn_nr_open || (model.caches && in_region) ? TRACKING_BIAS : 0;
	slice_left += slice_bias;
}

/**
 * account_cut() - end the running slice where another thread can run.
 * @at: virtual time from which the other thread can run
 */
void account_cut(Long at)
{
	Long now = account_now();
	Long left = slice_left - slice_bias;
	Long allowed = at > now ? account_insns(at - now, left > 0 ? left : 0) : 0;

	if (allowed < left) {
		slice.given -= left - allowed;
		slice_left -= left - allowed;
	}
	if (slice.lead > slice.given)
		slice.lead = slice.given;
}

/**
 * account_ahead() - does another thread that can run have a smaller clock than the running one?
 *
 * Return: True if so.
 */
Bool account_ahead(void)
{
	return counted() > slice.lead;
}

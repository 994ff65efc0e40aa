// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * account.c - how instructions become virtual time.
 *
 * Generated code counts a slice down in instructions. One takes model.cpi
 * hundredths of a cycle, and longer while the thread's sibling on the core runs
 * too; which of both is settled when the slice begins. Latencies are charged
 * in cycles and take just those, so they are kept apart from the instructions;
 * only the end of the slice, which counts them as the instructions that take as
 * long, is rounded. What is left of a cycle at the end of a slice stays with the
 * thread, so no time is lost and none invented.
 *
 * Where an instruction is a cycle, time is what was counted down, and nothing
 * is divided.
 */
#include "account.h"
#include "cores.h"
#include "model.h"
#include "region.h"
#include "txn.h"
#include "vthread.h"

/* Added to slice_left while transactions are open: more than any slice and charge. */
#define TRACKING_BIAS (-(1LL << 48))

Long slice_left;
Long slice_bias;
struct slice slice;

/* The latest clock of a thread at the end of a slice. */
static Long latest;
/* Virtual time of the end of the process, 0 not yet. */
static Long end_time;

/* Parts of a cycle that time is kept in: then an instruction is a whole number of them. */
static Long parts_of_cycle(void)
{
	return 100 * model.smt_speed;
}

/**
 * account_begin() - a slice begins: settle how long an instruction takes in it.
 * @t: the thread, on a processor
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
 * account_insns() - instructions of the slice that has begun that take some time.
 * @cycles: how long, not negative
 * @max: more than so many do not matter
 *
 * Return: their number, rounded up, at most @max.
 */
Long account_insns(Long cycles, Long max)
{
	if (!slice.scaled)
		return cycles < max ? cycles : max;
	/* Keeps the product far from an overflow; an instruction takes at least 1/100 cycle. */
	if (cycles > max * slice.parts / parts_of_cycle())
		return max;
	return (cycles * parts_of_cycle() + slice.parts - 1) / slice.parts;
}

/**
 * account_give() - let the running thread execute instructions.
 * @insns: how many
 * @lead: of these, until it is no longer the one with the smallest clock
 */
void account_give(Long insns, Long lead)
{
	slice.given = insns;
	slice.lead = lead;
	slice_left = insns + slice_bias;
}

/* Instructions of the slice that are over, and charges in their measure. */
static Long counted(void)
{
	return slice.given + slice_bias - slice_left;
}

/* Cycles of the slice that are over; @rest receives the parts of a cycle beyond. */
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
 * account_end() - the slice ends: enter its time into the thread's books.
 * @t: the thread
 *
 * Return: False if nothing was executed or charged.
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
 * account_track() - let memory accesses be looked at, or no more, from the next block on.
 *
 * They are while a transaction is open, and in the region of interest of a
 * machine with caches.
 */
void account_track(void)
{
	slice_left -= slice_bias;
	slice_bias = txn_nr_open || (model.caches && in_region) ? TRACKING_BIAS : 0;
	slice_left += slice_bias;
}

/**
 * account_cut() - another thread runs from some time on: the running slice ends there.
 * @at: virtual time
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
 * account_ahead() - has the running thread run past another's clock?
 *
 * Return: True if so.
 */
Bool account_ahead(void)
{
	return counted() > slice.lead;
}

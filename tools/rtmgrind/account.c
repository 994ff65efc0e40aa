// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * account.c - how instructions become virtual time.
 *
 * Generated code counts the instructions of a slice down. An instruction takes model.cpi hundredths
 * of a cycle; while the other hardware thread of the core runs, too, it takes 100 / model.smt_speed
 * times that, as decided when the slice begins. Latencies are charged in
 * cycles and are exact: struct slice keeps them apart from the instructions. Only the end of the
 * slice is rounded, as there a latency counts as a number of instructions. vthread.rest keeps the
 * fraction of a cycle that is left at the end of a slice, so the sum is exact.
 *
 * Where an instruction takes one cycle, the number of instructions is the time and no division is
 * needed: slice.scaled is False.
 *
 * A thread can be made faster (RTMGRIND_FASTER): instructions and latencies take less time by the same
 * factor, so that the number of instructions which stands for a latency remains. Waiting for others takes as
 * long as they do.
 *
 * Time can stand still for a thread (vthread.nr_still, startup.c): then its instructions take no
 * time, enter no cache, and no random number decides the length of its slices, so they
 * leave no trace in the simulated machine.
 */
#include "account.h"
#include "coherence.h"
#include "cores.h"
#include "model.h"
#include "txn.h"
#include "vthread.h"

/* Added to slice_left while accesses are tracked: below the largest slice and any charge. */
#define TRACKING_BIAS (-(1LL << 48))

Long slice_left;
Long slice_bias;
struct slice slice;

/*
 * Instructions after which time resumes for a thread for which it stood still. The loader executes
 * 20 to 50 million for a program of 100 libraries. Chosen.
 */
#define STILL_MAX 200000000LL

/* The latest clock of a thread at the end of a slice. */
static Long latest;
/* Virtual time of the end of the process, 0 not yet. */
static Long end_time;

/*
 * The time of an instruction and of a cycle of latency are multiples of 1 / PER_MILLE of what they are else.
 */
#define PER_MILLE 1000

/*
 * The unit of vthread.rest is 1 / parts_of_cycle() cycles: the time of an instruction is a multiple of it,
 * also of a thread that is faster.
 */
static Long parts_of_cycle(void)
{
	return 100 * model.smt_speed * PER_MILLE;
}

/**
 * account_begin() - a slice begins: compute how long an instruction takes in it.
 * @t: the thread; it has a simulated processor unless it is about to end
 */
void account_begin(const struct vthread *t)
{
	Long parts = model.cpi * (cores_shared(t->core) ? 100 : model.smt_speed);
	Long takes = PER_MILLE - t->faster;

	slice.parts = parts * takes;
	slice.cycle_parts = parts_of_cycle() / PER_MILLE * takes;
	slice.scaled = slice.parts != parts_of_cycle();
	slice.charged = slice.charged_insns = 0;
	slice.insns_per_cycle = (parts_of_cycle() / PER_MILLE << SLICE_RATE_SHIFT) / parts;
	slice.still = account_stands(t);
	slice.divided = False;
	slice.kept = slice.kept_lead = 0;
	account_track();
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

	if (slice.still)
		return 0;
	if (!slice.scaled)
		return counted();
	parts = (counted() - slice.charged_insns) * slice.parts + slice.charged * slice.cycle_parts + *rest;
	*rest = parts % parts_of_cycle();
	return parts / parts_of_cycle();
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

/**
 * account_raise() - advance the running thread's clock without processor time.
 * @at: virtual time from which it can go on; nothing happens if that has passed
 */
void account_raise(Long at)
{
	struct vthread *t = current_vthread();

	if (at > account_now())
		t->clock += at - account_now();
}

/** account_note_end() - the process ends now; later instructions take no virtual time. */
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

/* Adds the time of the slice until now to the thread's clock. */
static void settle(struct vthread *t)
{
	Long cycles = elapsed(&t->rest);

	if (slice.still)
		t->still_insns += counted();
	if (cycles > 0) {
		t->clock += cycles;
		t->cpu += cycles;
	}
	if (t->clock > latest)
		latest = t->clock;
}

/**
 * account_end() - the slice ends: add its time to the thread's clock.
 * @t: the thread
 *
 * Return: False if the slice has executed no instruction and charged no latency.
 */
Bool account_end(struct vthread *t)
{
	Bool any = slice.divided || counted() != 0;

	settle(t);
	slice.scaled = slice.still = False;
	account_give(0, 0);
	return any;
}

/**
 * account_stands() - does time stand still for a thread?
 * @t: the thread
 *
 * Return: True if so. False once it has executed STILL_MAX instructions while time stood still: it
 * may wait in a loop for another thread, or for time to pass.
 */
Bool account_stands(const struct vthread *t)
{
	return t->nr_still && t->still_insns < STILL_MAX;
}

/**
 * account_stand_still() - stop time for the running thread, or let it resume.
 * @still: True: it stops; the calls nest
 *
 * If time resumes in the slice in which it stopped, the slice keeps its length; else it ends at the
 * next block.
 */
void account_stand_still(Bool still)
{
	struct vthread *t = current_vthread();
	Long left = slice_left - slice_bias;
	Long lead = slice.lead - counted();
	Bool before = slice.still;

	if (!still && !t->nr_still)
		return;
	t->nr_still += still ? 1 : -1;
	if (account_stands(t) != before)
		settle(t);
	if (!t->nr_still)
		t->still_insns = 0;
	if (account_stands(t) == before)
		return;
	if (before) {
		left = slice.kept;
		lead = slice.kept_lead;
		account_begin(t);
		account_give(left, lead);
	} else {
		account_begin(t);
		account_give(STILL_SLICE, STILL_SLICE);
		slice.kept = left > 0 ? left : 0;
		slice.kept_lead = lead > 0 ? lead : 0;
	}
	slice.divided = True;
	coherence_resume(current_tid);
}

/**
 * account_faster() - from now on the running thread's instructions and latencies take less time.
 * @per_mille: how much less, of what they take else; below PER_MILLE
 *
 * The rest of the slice gets no longer in time: a thread that becomes slower has fewer instructions left.
 */
void account_faster(Long per_mille)
{
	struct vthread *t = current_vthread();
	Long before = PER_MILLE - t->faster, after = PER_MILLE - per_mille;
	Long left = slice_left - slice_bias;
	Long lead = slice.lead - counted();
	Bool slower = after > before;

	if (slice.still) {
		t->faster = per_mille;
		slice.kept = slower ? slice.kept * before / after : slice.kept;
		slice.kept_lead = slower ? slice.kept_lead * before / after : slice.kept_lead;
		return;
	}
	settle(t);
	t->faster = per_mille;
	account_begin(t);
	account_give(slower ? left * before / after : left, slower ? lead * before / after : lead);
	slice.divided = True;
}

/** account_takes() - the time that something of the running thread takes which takes @cycles else. */
Long account_takes(Long cycles)
{
	return cycles / PER_MILLE * (PER_MILLE - current_vthread()->faster) +
	       cycles % PER_MILLE * (PER_MILLE - current_vthread()->faster) / PER_MILLE;
}

/**
 * account_track() - decide whether generated code tracks memory accesses from the next block on.
 *
 * It does so while a transaction is open, and on a machine with caches while the cost model is on.
 */
void account_track(void)
{
	slice_left -= slice_bias;
	slice_bias = txn_nr_open || (model.caches && account_costs()) ? TRACKING_BIAS : 0;
	slice_left += slice_bias;
}

/**
 * account_cut() - end the running slice when another thread can run.
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account.h - how instructions become virtual time; see account.c.
 *
 * Generated code must never read anything here except slice_left and slice_bias.
 */
#ifndef RTMGRIND_ACCOUNT_H
#define RTMGRIND_ACCOUNT_H

#include "rtmgrind.h"
#include "region.h"
#include "vthread.h"

/*
 * Instructions left in the running slice, plus slice_bias. Generated code counts slice_left down.
 * Plain code tests only whether it is below 0. The bias is negative while accesses are tracked, so
 * one test finds both the end of the slice and that the tracked code is needed; see instrument.c.
 */
extern Long slice_left;
extern Long slice_bias;

/* The unit of slice.insns_per_cycle is 2^-SLICE_RATE_SHIFT instructions per cycle. */
#define SLICE_RATE_SHIFT 16

/**
 * struct slice - how time passes in the running slice.
 * @scaled: an instruction does not take one cycle; if False, only @given and @lead are used
 * @given: instructions that the slice began with
 * @lead: the first of these, during which no other thread has a smaller clock
 * @parts: time of an instruction, in the unit of vthread.rest
 * @cycle_parts: time of a cycle of latency, in that unit
 * @charged: sum of the latencies, cycles
 * @charged_insns: instructions that were subtracted from slice_left for these
 * @insns_per_cycle: instructions that take a cycle, in units of 2^-SLICE_RATE_SHIFT
 * @still: time stands still
 * @divided: time has stopped or gone on in the slice: what came before is not in these numbers
 * @kept: instructions that the slice had left when time stopped in it, 0 if time did not
 * @kept_lead: those of @kept during which no other thread has a smaller clock
 */
struct slice {
	Bool scaled;
	Long given;
	Long lead;
	Long parts;
	Long cycle_parts;
	Long charged;
	Long charged_insns;
	Long insns_per_cycle;
	Bool still;
	Bool divided;
	Long kept;
	Long kept_lead;
};

extern struct slice slice;

/* Longest slice while time stands still, instructions: signals are polled for between two. Chosen. */
#define STILL_SLICE 100000

/* Whether the cost model is on: the running thread is in the region of interest, in its time. */
static inline Bool account_costs(void)
{
	return in_region && !slice.still;
}

/**
 * charge() - let virtual time pass for the running thread.
 * @cycles: the time; it is the same whether or not the core's other hardware thread runs
 */
static inline void charge(Long cycles)
{
	Long insns = cycles;

	if (slice.scaled) {
		insns = cycles * slice.insns_per_cycle >> SLICE_RATE_SHIFT;
		slice.charged += cycles;
		slice.charged_insns += insns;
	}
	slice_left -= insns;
}

/** uncharge_insn() - the running instruction is executed again and takes no time now. */
static inline void uncharge_insn(void)
{
	slice_left++;
}

void account_begin(const struct vthread *t);
Long account_insns(Long cycles, Long max);
void account_give(Long insns, Long lead);
Bool account_end(struct vthread *t);
Bool account_stands(const struct vthread *t);
void account_stand_still(Bool still);
void account_faster(Long per_mille);
Long account_takes(Long cycles);
void account_cut(Long at);
Bool account_ahead(void);
Long account_now(void);
Long account_latest(void);
void account_note_end(void);
void account_raise(Long at);
Long account_end_time(void);
void account_track(void);

#endif

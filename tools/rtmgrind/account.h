/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account.h - how instructions become virtual time; see account.c.
 *
 * Must never be read by generated code but for slice_left and slice_bias.
 */
#ifndef RTMGRIND_ACCOUNT_H
#define RTMGRIND_ACCOUNT_H

#include "rtmgrind.h"
#include "vthread.h"

/*
 * Instructions left in the running slice, counted down by generated code, plus
 * slice_bias. Plain code only asks whether this is below 0; the bias, negative
 * while a transaction is open, makes it so in one test. See instrument.c.
 */
extern Long slice_left;
extern Long slice_bias;

/* slice.insns_per_cycle is a multiple of 2^-SLICE_RATE_SHIFT. */
#define SLICE_RATE_SHIFT 16

/**
 * struct slice - how time passes in the running slice.
 * @scaled: an instruction is not a cycle; else only @given and @lead mean anything
 * @given: instructions it began with
 * @lead: of these, until the thread is no longer the one with the smallest clock
 * @parts: of a cycle that an instruction takes, see account.c
 * @charged: cycles of latencies
 * @charged_insns: instructions that were taken off slice_left for them
 * @insns_per_cycle: how many take as long as a cycle
 */
struct slice {
	Bool scaled;
	Long given;
	Long lead;
	Long parts;
	Long charged;
	Long charged_insns;
	Long insns_per_cycle;
};

extern struct slice slice;

/**
 * charge() - let virtual time pass for the running thread.
 * @cycles: exactly so long, whatever its sibling does
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

/** uncharge_insn() - the running instruction was paid for once before. */
static inline void uncharge_insn(void)
{
	slice_left++;
}

void account_begin(const struct vthread *t);
Long account_insns(Long cycles, Long max);
void account_give(Long insns, Long lead);
Bool account_end(struct vthread *t);
void account_cut(Long at);
Bool account_ahead(void);
Long account_now(void);
Long account_latest(void);
void account_note_end(void);
Long account_end_time(void);
void account_track(void);

#endif

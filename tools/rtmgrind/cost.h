/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cost.h - the cost model: every price of the simulated machine, in cycles.
 *
 * A cycle is a nanosecond: the machine runs at 1 GHz and retires one
 * instruction a cycle. The prices are round figures for a current x86
 * server at that ratio, chosen by us and stated in rtmgrind(1); they are
 * not measurements of one machine. Must never hold anything but prices.
 */
#ifndef RTMGRIND_COST_H
#define RTMGRIND_COST_H

#define CYCLES_PER_SECOND 1000000000LL

/* A locked read-modify-write, and what is added when another core did the last on that line. */
#define COST_ATOMIC 20
#define COST_LINE_TRANSFER 100
#define COST_FENCE 20

/* Transactions: the pair costs as much as the two atomics of an uncontended lock. */
#define COST_XBEGIN 20
#define COST_XEND 20
#define COST_ABORT 150
/* Entering a line into the read or write set. */
#define COST_TXN_LINE 2

/* Write set: an L1 data cache of 32 KiB, 8 ways of 64 sets. Read set: 1 MiB of lines. */
#define WRITE_SETS 64
#define WRITE_WAYS 8
#define READ_LINES 16384

#define COST_PAUSE 40
#define COST_SYSCALL 300
/* From a wake-up (futex, descriptor, new thread) to the first instruction of the woken. */
#define COST_WAKEUP 3000
#define COST_CONTEXT_SWITCH 1000

/* A thread keeps its core so long while others queue; Linux's base slice is 3 ms. */
#define TIMESLICE 3000000LL
/* Timer interrupt of each core: Debian's kernels run at 250 Hz. */
#define TICK 4000000LL

#endif

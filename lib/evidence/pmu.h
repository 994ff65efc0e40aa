/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pmu.h - samples of aborts by the processor's performance counters, ELIDE_PMU=abort.
 *
 * Each thread has an event of its own for RTM_RETIRED.ABORTED, and a ring of one page to which the kernel
 * writes its samples. After an abort the thread reads its ring, without a system call: a sample there is of
 * this abort if it agrees with the status word. Must never be called inside a transaction.
 *
 * A sample of an abort has no data address. So a second event samples loads that found their line modified
 * by another core, into a second ring. A load that is sampled in a transaction has no address either, and
 * aborts the transaction (Intel SDM vol. 3, "Intel TSX and PEBS Support"). Loads in locked sections have
 * one: if conflicts abort attempts of a call, the loads of its locked sections hint at the lines. They are
 * no evidence:
 *   - lines that threads hand each other under the lock are among them;
 *   - lines that are only stored to, or come from another socket, are not;
 *   - a load shortly before the section began may count as one of it.
 *
 * An event lives as long as its ring is mapped. The descriptor is closed at once, so that a program
 * that closes or counts its descriptors finds none of ours. A fork does not copy the mapping.
 */
#ifndef ELIDE_PMU_H
#define ELIDE_PMU_H

#include <stdbool.h>
#include <stdint.h>

#include "../datafile.h"
#include "pmu-ring.h"

#pragma GCC visibility push(hidden)

enum elide_pmu_event {
	ELIDE_PMU_ABORTS,
	ELIDE_PMU_LOADS, /* loads that hint at the lines of conflicts */
	ELIDE_NR_PMU_EVENTS
};

/**
 * struct elide_pmu_abort - what a sample says of an abort.
 * @pc:     address of the instruction that aborted, or at which an asynchronous abort came
 * @weight: cycles of the transaction
 * @cause:  enum elide_cause
 */
struct elide_pmu_abort {
	uint64_t pc;
	uint64_t weight;
	enum elide_cause cause;
};

/**
 * elide_pmu_start() - from now on elide_pmu_open() opens events, if this machine has them.
 * @period: aborts of a thread for each sample; 0: a default, and no loads, as no records of them are kept
 *
 * If the machine has none, one line on standard error says why.
 */
void elide_pmu_start(uint32_t period);

/**
 * elide_pmu_open() - an event of the calling thread.
 *
 * Return: its ring; NULL if sampling is off, or if the kernel refuses the event: the first time, one line
 * on standard error says so.
 */
void *elide_pmu_open(enum elide_pmu_event event);

/** elide_pmu_period() - aborts of a thread for each sample. */
uint32_t elide_pmu_period(void);

/** elide_pmu_close() - end an event. @ring: from elide_pmu_open(); NULL does nothing. */
void elide_pmu_close(void *ring);

/**
 * elide_pmu_take() - the sample of the calling thread's last abort.
 * @ring: of ELIDE_PMU_ABORTS, of the thread
 * @status: status word of the abort
 * @abort: filled in if there is one
 *
 * Return: false if there is none, or more than one since the last call, or if the sample contradicts
 * @status, as it is of a transaction of the program.
 */
bool elide_pmu_take(void *ring, unsigned int status, struct elide_pmu_abort *abort);

/**
 * elide_pmu_skip_loads() - discard the samples so far.
 * @ring: of ELIDE_PMU_LOADS
 */
void elide_pmu_skip_loads(void *ring);

/**
 * elide_pmu_take_load() - the last load of the calling thread that was sampled since the last call.
 * @ring: of ELIDE_PMU_LOADS; NULL has no samples
 * @load: filled in if there is one
 *
 * Return: false if there is none, or if it has no address or was in a transaction.
 */
bool elide_pmu_take_load(void *ring, struct elide_pmu_load *load);

/**
 * elide_pmu_detach() - in a forked child that has no rings yet: put memory where the parent's were mapped.
 *
 * If a signal handler forked, the child may return into elide_pmu_take(), which finds no sample. A second
 * call does nothing.
 */
void elide_pmu_detach(void);

/**
 * elide_pmu_agrees() - can a sample be of an abort with this status word?
 * @status: the status word
 * @transaction: PERF_TXN_* of the sample
 */
bool elide_pmu_agrees(unsigned int status, uint64_t transaction);

/**
 * elide_pmu_cause() - the cause of an abort that was sampled.
 * @cause: the cause by the status word
 * @transaction: PERF_TXN_* of the sample
 * @code: bytes of the instruction, at least 4; NULL if they cannot be read
 *
 * Return: @cause, but a more exact one for ELIDE_CAUSE_other if the sample shows it.
 */
enum elide_cause elide_pmu_cause(enum elide_cause cause, uint64_t transaction,
				 const uint8_t *code);

/**
 * elide_pmu_choose - set the attributes of an event; tests put another function in its place.
 *
 * Return: 0, or -ENODEV on a processor whose events are not known.
 */
extern int (*elide_pmu_choose)(enum elide_pmu_event event, struct perf_event_attr *attr);

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pmu.h - samples of aborts by the processor's performance counters, ELIDE_PMU=abort.
 *
 * Each thread has an event of its own on RTM_RETIRED.ABORTED and a small ring
 * that the kernel writes its samples to. After an abort the thread looks into
 * its ring, without a system call: a sample there is of this abort, if it
 * agrees with the status word. Must never be called inside a transaction.
 *
 * The event lives as long as its ring is mapped: the descriptor is closed at
 * once, so that nothing is left to a program that closes or counts its own.
 * A fork does not copy the mapping.
 */
#ifndef ELIDE_PMU_H
#define ELIDE_PMU_H

#include <stdbool.h>
#include <stdint.h>

#include "datafile.h"
#include "pmu-ring.h"

#pragma GCC visibility push(hidden)

/**
 * struct elide_pmu_abort - what a sample says of an abort.
 * @pc:     instruction that aborted, or at which the abort arrived
 * @weight: cycles of the transaction
 * @cause:  enum elide_cause
 */
struct elide_pmu_abort {
	uint64_t pc;
	uint64_t weight;
	enum elide_cause cause;
};

/**
 * elide_pmu_start() - from now on threads have events, if this machine lets them.
 * @period: one in so many aborts of a thread is sampled
 *
 * One line on standard error says why not.
 */
void elide_pmu_start(uint32_t period);

/**
 * elide_pmu_open() - the calling thread's event.
 *
 * Return: its ring; NULL if samples are off or it cannot be had, of which one line is said once.
 */
void *elide_pmu_open(void);

/** elide_pmu_period() - one in so many aborts of a thread is sampled. */
uint32_t elide_pmu_period(void);

/** elide_pmu_close() - end an event. @ring: as elide_pmu_open() gave it; NULL does nothing. */
void elide_pmu_close(void *ring);

/**
 * elide_pmu_take() - has the calling thread's last abort been sampled?
 * @ring: of the thread
 * @status: status word of the abort
 * @abort: filled if so
 *
 * Return: false also where more than one sample has come since the last call, or
 * the sample contradicts @status: then it is of an abort that elide does not know of.
 */
bool elide_pmu_take(void *ring, unsigned int status, struct elide_pmu_abort *abort);

/**
 * elide_pmu_detach() - at once in a forked child: the ring is not mapped there.
 *
 * If a signal handler forked, the child may go on in elide_pmu_take(): it finds an empty ring.
 */
void elide_pmu_detach(void);

/**
 * elide_pmu_agrees() - can a sample be of an abort with this status word?
 * @transaction: of the sample
 */
bool elide_pmu_agrees(unsigned int status, uint64_t transaction);

/**
 * elide_pmu_cause() - why a transaction aborted.
 * @cause: what the status word says
 * @transaction: of the sample
 * @code: bytes of the instruction, at least 4; NULL if they cannot be read
 *
 * Only ELIDE_CAUSE_other is told more exactly.
 */
enum elide_cause elide_pmu_cause(enum elide_cause cause, uint64_t transaction,
				 const uint8_t *code);

/**
 * elide_pmu_choose - fills in the event that threads have; tests put another in its place.
 *
 * Return: 0, or -ENODEV on a processor whose events are not known.
 */
extern int (*elide_pmu_choose)(struct perf_event_attr *attr);

#pragma GCC visibility pop

#endif

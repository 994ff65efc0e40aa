/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pmu.h - samples of aborts by the processor's performance counters, ELIDE_PMU=abort.
 *
 * Each thread has an event of its own on RTM_RETIRED.ABORTED and a small ring
 * that the kernel writes its samples to. After an abort the thread looks into
 * its ring, without a system call: a sample there is of this abort, if it
 * agrees with the status word. Must never be called inside a transaction.
 *
 * A sample of an abort has no address of data. So a second event samples loads
 * that found their line modified by another core, into a second ring. What is
 * sampled in a transaction has no address either, and has aborted it (Intel SDM
 * vol. 3, "Intel TSX and PEBS Support"). Loads in sections under the real lock
 * have one: where transactions of a call abort by conflicts, what the same
 * section loads when it is held really is a hint at the lines. No more:
 *   - lines that threads hand each other under the lock are among them;
 *   - a line that is only stored to, or comes from another socket, is not;
 *   - a load shortly before the section began may be taken for one of it.
 *
 * An event lives as long as its ring is mapped: the descriptor is closed at
 * once, so that nothing is left to a program that closes or counts its own.
 * A fork does not copy the mapping.
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
	ELIDE_PMU_LOADS, /* that hint at the lines of conflicts */
	ELIDE_NR_PMU_EVENTS
};

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
 * @period: one in so many aborts of a thread is sampled; 0 for a default and no loads, as
 *          nothing would be kept of them
 *
 * One line on standard error says why not.
 */
void elide_pmu_start(uint32_t period);

/**
 * elide_pmu_open() - an event of the calling thread.
 *
 * Return: its ring; NULL if samples are off or it cannot be had, of which one line is said once.
 */
void *elide_pmu_open(enum elide_pmu_event event);

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
 * elide_pmu_skip_loads() - what has been sampled so far is of no interest.
 * @ring: of ELIDE_PMU_LOADS
 */
void elide_pmu_skip_loads(void *ring);

/**
 * elide_pmu_take_load() - has a load of the calling thread been sampled since the last call?
 * @ring: of ELIDE_PMU_LOADS; NULL has none
 * @load: filled with the last one if so
 *
 * Return: false also if that one has no address, or was in a transaction.
 */
bool elide_pmu_take_load(void *ring, struct elide_pmu_load *load);

/**
 * elide_pmu_detach() - at once in a forked child: the rings are not mapped there.
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
 * elide_pmu_choose - fills in an event that threads have; tests put another in its place.
 *
 * Return: 0, or -ENODEV on a processor whose events are not known.
 */
extern int (*elide_pmu_choose)(enum elide_pmu_event event, struct perf_event_attr *attr);

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * holds.h - the typical hold time of the locks of each class, whether their threads come from condition
 * variables, and whether the process is oversubscribed.
 *
 * From the hold times of locked locks, of which some are measured anyway. Written without
 * synchronisation: updates may be lost.
 */
#ifndef ELIDE_HOLDS_H
#define ELIDE_HOLDS_H

#include <stdbool.h>
#include <stdint.h>

#include "../compiler.h"
#include "../datafile.h"
#include "../policy/wait.h"

struct elide_thread;

#pragma GCC visibility push(hidden)

/* Classes with hold times of their own; further ones share these. */
#define ELIDE_NR_HOLDS 4096

extern uint32_t elide_holds[ELIDE_NR_HOLDS];

/** elide_hold_known() - typical hold time of a class, cycles; 0: none was measured. */
static inline uint32_t elide_hold_known(uint32_t class_index)
{
	return READ_ONCE(elide_holds[class_index % ELIDE_NR_HOLDS]);
}

/** elide_hold_seen() - a lock of the class was held for @cycles. */
void elide_hold_seen(uint32_t class_index, uint64_t cycles);

/** elide_cond_wait_seen() - a thread is about to wait at a condition variable with a mutex of the class. */
void elide_cond_wait_seen(uint32_t class_index);

/**
 * elide_sleeps_at_once() - an acquisition has found a lock locked: does the thread sleep at once?
 * @row: of the call, not counted yet
 *
 * Return: what policy_sleeps_at_once() says.
 */
bool elide_sleeps_at_once(const struct elide_row *row);

/*
 * Threads that have a block and, as far as is known, have not ended; without those that wait for the end
 * of another thread.
 */
extern uint32_t elide_nr_active;

/** elide_active_add() - there are @change more active threads. */
static inline void elide_active_add(int change)
{
	__atomic_add_fetch(&elide_nr_active, change, __ATOMIC_RELAXED);
}

/**
 * elide_oversubscribed() - do more threads run than there are processors? Then a holder may have none.
 *
 * A thread that has used no lock lately and waits for none sleeps, like one that waits for requests, or for the
 * time of its next round: struct elide_thread, @seen.
 */
bool elide_oversubscribed(void);

/** elide_thread_seen() - a thread uses a lock at @now, cycles: count those that run, if that is due. */
void elide_thread_seen(struct elide_thread *t, uint64_t now);

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * decisions.h - the policy's decisions, in the data file's timeline.
 *
 * Not sampled, and there even where nothing else is: there are few. Outside transactions only.
 */
#ifndef ELIDE_DECISIONS_H
#define ELIDE_DECISIONS_H

#include "../policy/policy.h"
#include "../state/thread.h"

#pragma GCC visibility push(hidden)

/** elide_evidence_events_start() - make room for decisions. Return: 0 or -ENOMEM. */
int elide_evidence_events_start(void);

/**
 * elide_evidence_event() - the policy has decided something.
 * @type: enum elide_event_type
 * @row: counters of the call, NULL if it is about the whole process; as @lock and @policy
 * @lock: the lock
 * @policy: its state
 * @window: what it was decided on
 */
void elide_evidence_event(enum elide_event_type type, const struct elide_row *row,
			  const void *lock, const struct policy_lock *policy,
			  const struct policy_window *window);

/**
 * elide_evidence_chose() - the adaptive policy has decided something.
 * @class_index: of the locks
 * @lock: address of the lock, if it is about this one alone; 0
 * @site, @kind: call site it is about; NULL and the kind of the first for all
 * @decision: what was decided
 */
void elide_evidence_chose(uint32_t class_index, uint64_t lock, const void *site,
			  enum elide_kind kind, const struct learn_decision *decision);

#pragma GCC visibility pop

#endif

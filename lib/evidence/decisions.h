/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * decisions.h - the policy's decisions, in the data file's timeline.
 *
 * They are few, so all are kept, also with ELIDE_STACKS=0. Outside transactions only.
 */
#ifndef ELIDE_DECISIONS_H
#define ELIDE_DECISIONS_H

#include "../policy/published.h"
#include "../state/thread.h"

#pragma GCC visibility push(hidden)

/** elide_evidence_events_start() - make room for decisions. Return: 0 or -ENOMEM. */
int elide_evidence_events_start(void);

/** elide_evidence_events_restart() - a further data file begins, without decisions. In a global-lock path. */
void elide_evidence_events_restart(void);

/**
 * elide_evidence_event() - write down a decision about a call, or about the whole process.
 * @type: enum elide_event_type
 * @row: counters of the call; NULL: the whole process, and @lock, @policy and @window are NULL, too
 * @lock: the lock
 * @policy: state of the lock
 * @window: the window on which the decision is based
 */
void elide_evidence_event(enum elide_event_type type, const struct elide_row *row,
			  const void *lock, const struct policy_lock *policy,
			  const struct policy_window *window);

/**
 * elide_evidence_chose() - write down a decision of the adaptive policy.
 * @class_index: class of the locks
 * @lock: address of the lock, if the decision is about one lock with a state of its own; else 0
 * @site: call site; NULL: the decision is about all sites
 * @kind: kind of that site's calls; with NULL, of the first site's
 * @decision: the decision
 */
void elide_evidence_chose(uint32_t class_index, uint64_t lock, const void *site,
			  enum elide_kind kind, const struct learn_decision *decision);

#pragma GCC visibility pop

#endif

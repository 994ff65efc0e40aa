/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* holds.c - see holds.h. */
#include "holds.h"
#include "settings.h"

uint32_t elide_holds[ELIDE_NR_HOLDS];
uint32_t elide_nr_active;

/* Recent waits at condition variables, and acquisitions that found a lock locked, by class. */
static struct sleeps {
	uint32_t conds;
	uint32_t contended;
} sleeps[ELIDE_NR_HOLDS];

void elide_hold_seen(uint32_t class_index, uint64_t cycles)
{
	uint32_t *hold = &elide_holds[class_index % ELIDE_NR_HOLDS];
	uint32_t known = READ_ONCE(*hold), now = policy_hold(known, cycles);

	if (now != known)
		WRITE_ONCE(*hold, now);
}

/* Halve old counts. Written without synchronisation: updates may be lost. */
static void forget(struct sleeps *s)
{
	uint32_t conds = READ_ONCE(s->conds), contended = READ_ONCE(s->contended);

	if (conds + contended < POLICY_CONDS_WINDOW)
		return;
	WRITE_ONCE(s->conds, conds / 2);
	WRITE_ONCE(s->contended, contended / 2);
}

void elide_cond_wait_seen(uint32_t class_index)
{
	struct sleeps *s = &sleeps[class_index % ELIDE_NR_HOLDS];

	WRITE_ONCE(s->conds, READ_ONCE(s->conds) + 1);
	forget(s);
}

bool elide_sleeps_at_once(const struct elide_row *row)
{
	struct sleeps *s = &sleeps[row->class_index % ELIDE_NR_HOLDS];

	/* If no thread waits at a condition variable, nothing shared is written. */
	if (likely(!READ_ONCE(s->conds)))
		return false;
	WRITE_ONCE(s->contended, READ_ONCE(s->contended) + 1);
	forget(s);
	return policy_sleeps_at_once(READ_ONCE(s->conds), READ_ONCE(s->contended),
				     row->contended + 1,
				     row->commits + row->not_attempted + row->fallback);
}

bool elide_oversubscribed(void)
{
	return READ_ONCE(elide_nr_active) > elide_process.nr_processors;
}

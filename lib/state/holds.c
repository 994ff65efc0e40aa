/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* holds.c - see holds.h. */
#include "holds.h"
#include "settings.h"
#include "thread-list.h"

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

/*
 * Cycles, 11 ms at 3 GHz: a thread that runs has used a lock since, and was seen, as one use in some
 * hundred is. Four turns of the scheduler, so that threads that share a processor count. Chosen.
 */
#define RUNS_WITHIN (1ull << 25)
/* Cycles, for each thread, until they are counted again: 2 % of one thread's time, at 300 to look at one. */
#define COUNT_SPACING (1ull << 14)

/*
 * Does the number of threads that run exceed @most? One that waits for a lock wants a processor as soon as it
 * gets that, however long it has waited.
 */
static bool run_more_than(uint32_t most, uint64_t now)
{
	uint32_t nr = 0;

	for (const struct elide_thread *t = elide_threads_all(); t && nr <= most; t = t->next)
		nr += READ_ONCE(t->tid) && !READ_ONCE(t->joining) &&
		      (READ_ONCE(t->waits) ||
		       (int64_t)(now - READ_ONCE(t->seen)) < (int64_t)RUNS_WITHIN);
	return nr > most;
}

/* More threads run than there are processors: the last answer, and when it was found. */
static bool more_run = true;
static uint64_t counted_at;

void elide_thread_seen(struct elide_thread *t, uint64_t now)
{
	uint32_t most = elide_process.nr_processors, active = READ_ONCE(elide_nr_active);
	uint64_t then = READ_ONCE(counted_at);

	WRITE_ONCE(t->seen, now);
	if (unlikely(active > most) && now - then > active * COUNT_SPACING &&
	    __atomic_compare_exchange_n(&counted_at, &then, now, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		WRITE_ONCE(more_run, run_more_than(most, now));
}

bool elide_oversubscribed(void)
{
	return READ_ONCE(elide_nr_active) > elide_process.nr_processors && READ_ONCE(more_run);
}

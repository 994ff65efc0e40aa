/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* evidence.c - see evidence.h. */
#include <errno.h>

#include "../state/gate.h"
#include "../state/holds.h"
#include "../state/wiped.h"
#include "evidence.h"
#include "moments.h"
#include "stack.h"

void (*evidence_look)(uint32_t tid);

int elide_evidence_start(void (*look)(uint32_t tid))
{
	evidence_look = look;
	elide_evidence = elide_wiped_alloc(sizeof(*elide_evidence));
	if (!elide_evidence)
		return -ENOMEM;
	elide_stack_start();
	elide_moments_start();
	return 0;
}

/*
 * Postpone a sample: its weight is added to the next event of its kind. A thread keeps one postponed
 * event: a later one, of another kind, takes its place, and its weight is lost.
 */
static void postpone(struct elide_thread *t, const uint64_t *counter, uint64_t weight)
{
	t->postponed_of = counter;
	t->postponed = weight;
}

/*
 * May a sample wait for the global-lock path of another thread? That thread may be preempted in it: when all
 * samples waited, 64 threads left two processors idle for a third of the time, asleep at the lock of the
 * global-lock paths while the program's lock was free. So only an event that is always sampled waits, unless
 * more than EVIDENCE_CROWD threads are alive, which the kernel would put to sleep and wake one by one.
 */
static bool waits_for_others(uint64_t weight)
{
	return weight == 1 && READ_ONCE(elide_nr_active) <= EVIDENCE_CROWD;
}

bool evidence_sample_now(uint64_t weight, void (*body)(void *arg), void *arg)
{
	return waits_for_others(weight) ? elide_global_run(body, arg) : elide_global_try_run(body, arg);
}

bool evidence_sample(struct elide_thread *t, const uint64_t *counter, uint64_t weight,
		     void (*body)(void *arg), void *arg)
{
	if (evidence_sample_now(weight, body, arg))
		return true;
	postpone(t, counter, weight);
	return false;
}

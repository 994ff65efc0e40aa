/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* evidence.c - see evidence.h. */
#include <errno.h>

#include "../state/gate.h"
#include "../state/holds.h"
#include "../state/settings.h"
#include "../state/wiped.h"
#include "evidence.h"
#include "spans.h"
#include "stack.h"

void (*evidence_look)(uint32_t tid);

int elide_evidence_start(void (*look)(uint32_t tid))
{
	evidence_look = look;
	elide_evidence = elide_wiped_alloc(sizeof(*elide_evidence));
	if (!elide_evidence)
		return -ENOMEM;
	elide_stack_start();
	elide_spans_start();
	return 0;
}

void elide_evidence_restart(void)
{
	if (!elide_evidence)
		return;
	elide_wiped_clear(elide_evidence, sizeof(*elide_evidence));
	elide_spans_start();
}

/*
 * Postpone a sample: its weight is added to the next event of its kind. A thread keeps one postponed
 * event: if one of another kind replaces it, its weight is lost.
 */
static void postpone(struct elide_thread *t, const uint64_t *counter, uint64_t weight)
{
	t->postponed_of = counter;
	t->postponed = weight;
}

/*
 * May a sample wait for the global-lock path of another thread, which may be preempted in it? When all
 * samples waited, 64 threads left two processors idle for a third of the time: they slept at the lock of the
 * global-lock paths while the program's lock was free. So only an event that is certainly sampled waits, and
 * only among EVIDENCE_CROWD threads: more would be put to sleep and woken one by one. Under the emulator none
 * waits, as to be woken takes virtual time.
 */
static bool waits_for_others(uint64_t weight)
{
	return weight == 1 && elide_process.rtm != ELIDE_RTM_EMULATED &&
	       READ_ONCE(elide_nr_active) <= EVIDENCE_CROWD;
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* abort.c - see abort.h. */
#include <string.h>

#include "../base/testpoint.h"
#include "../state/call.h"
#include "../state/gate.h"
#include "../state/settings.h"
#include "abort.h"
#include "detail.h"
#include "evidence.h"
#include "holder.h"
#include "records.h"

/* Did a thread that locked the lock abort the attempt, not one that touched data in its line? */
static bool killed_by_holder(const struct elide_aborted *a)
{
	const struct rtmgrind_brief *b = a->brief;

	if (a->cause != ELIDE_CAUSE_conflict || !b)
		return a->cause == ELIDE_CAUSE_conflict && a->held;
	return b->other_write && b->other_addr - (uintptr_t)a->lock < sizeof(uint64_t);
}

static void blame_abort(struct elide_thread *t, const struct elide_row *row,
			const struct elide_aborted *a, uint64_t weight)
{
	struct evidence_holder holder;

	if (a->cause == ELIDE_CAUSE_busy || killed_by_holder(a)) {
		holder = evidence_find_holder(t, row, a->lock, evidence_tid_in(row, a->lock));
		if (a->detail && a->detail->nr_other)
			evidence_name_killer(a->detail, &holder);
		evidence_add_to_blame(evidence_blame_record(row, ELIDE_BLAME_ABORT, &holder), weight,
				      a->cycles);
	} else if (a->cause == ELIDE_CAUSE_inner_busy) {
		evidence_find_inner(t, a->detail, &holder);
		evidence_add_to_blame(evidence_blame_record(row, ELIDE_BLAME_INNER, &holder), weight,
				      a->cycles);
	}
}

/* Note the classes that an abort shows to be contended: by their locks, not by data of their sections. */
static void contended_by(struct elide_thread *t, const struct elide_row *row,
			 const struct elide_aborted *a)
{
	if (a->cause == ELIDE_CAUSE_busy || killed_by_holder(a))
		evidence_contended(row);
	/* The lock that was held may be of any class that the thread has met. */
	if (a->cause == ELIDE_CAUSE_inner_busy)
		for (uint32_t nr = 1; nr <= t->nr_calls; nr++)
			evidence_contended(elide_call_row(elide_call_at(t, nr)));
	if (a->cause == ELIDE_CAUSE_conflict)
		evidence_conflict(row);
}

/* Read the emulator's whole record. False, too, if an abort in a handler has replaced it meanwhile. */
static bool whole_record(const struct rtmgrind_brief *brief, struct rtmgrind_abort *record)
{
	return brief &&
	       rtmgrind_request(RTMGRIND_ABORT_AGAIN, (unsigned long)record, sizeof(*record)) &&
	       !memcmp(record, brief, sizeof(*brief));
}

/**
 * struct sampled_abort - an abort that is sampled.
 * @t: the calling thread
 * @row: counters of the call
 * @weight: aborts for which it counts
 * @a: the abort
 */
struct sampled_abort {
	struct elide_thread *t;
	struct elide_row *row;
	uint64_t weight;
	const struct elide_aborted *a;
};

static void abort_global(void *arg)
{
	const struct sampled_abort *e = arg;
	struct elide_aborted a = *e->a;
	struct rtmgrind_abort detail;
	uint32_t stack;

	test_point(abort_entered);
	if (whole_record(a.brief, &detail))
		a.detail = &detail;
	stack = evidence_stack(e->row->site);
	test_point(abort_publish);
	evidence_add_to_sample(evidence_sample_record(e->row, ELIDE_SAMPLE_ABORT, stack), e->weight,
			       a.cycles);
	elide_detail_add(e->t, e->row, &a, e->weight, stack);
	blame_abort(e->t, e->row, &a, e->weight);
	evidence_explained(e->row, a.cause == ELIDE_CAUSE_conflict ? EVIDENCE_CONFLICT : EVIDENCE_CONTENDED);
	test_point(abort_done);
}

__cold void elide_evidence_abort(struct elide_thread *t, struct elide_row *row,
				 const struct elide_aborted *a)
{
	const uint64_t *counter = &row->causes[a->cause];
	struct sampled_abort e = {.t = t, .row = row, .a = a};

	if (!row->kind || elide_busy)
		return;
	contended_by(t, row, a);
	e.weight = elide_evidence_weight(t, *counter);
	/* After the first ones the processor chooses one abort in elide_pmu_period(). */
	if (t->pmu && *counter > t->first_seen)
		e.weight = a->sampled ? elide_pmu_period() : 0;
	e.weight = evidence_add_postponed(t, counter, e.weight);
	if (e.weight)
		evidence_sample(t, counter, e.weight, abort_global, &e);
}

/* A load sampled in a locked section of @row. */
struct sampled_load {
	struct elide_thread *t;
	const struct elide_row *row;
	struct elide_pmu_load load;
};

static void loads_global(void *arg)
{
	const struct sampled_load *s = arg;

	test_point(loads_entered);
	/* If a handler has forked meanwhile, the row is the parent's. */
	if (s->t->locked_row == s->row) {
		test_point(loads_publish);
		elide_detail_hint(s->row, s->t->locked, &s->load);
	}
	test_point(loads_done);
}

void elide_evidence_loads(struct elide_thread *t)
{
	const struct elide_row *row = t->locked_row;
	struct sampled_load s;

	if (likely(!elide_pmu_take_load(t->loads, &s.load)))
		return;
	if (!elide_evidence || !row || !row->kind || !row->causes[ELIDE_CAUSE_conflict] || elide_busy)
		return;
	s.t = t;
	s.row = row;
	elide_global_try_run(loads_global, &s);
}

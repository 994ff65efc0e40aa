/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waits.c - see waits.h. */
#include "../base/testpoint.h"
#include "../emulator.h"
#include "../state/gate.h"
#include "../state/modules.h"
#include "../state/thread-record.h"
#include "evidence.h"
#include "holder.h"
#include "records.h"
#include "waits.h"

/**
 * struct wait - a wait that is sampled.
 * @t: the calling thread
 * @row: counters of the call
 * @lock: the lock
 * @weight: waits for which it counts
 * @tid: thread id in the lock
 * @w: its records
 * @waker: the call that ended the wait, NULL if that is not known
 */
struct wait {
	struct elide_thread *t;
	struct elide_row *row;
	const void *lock;
	uint64_t weight;
	uint32_t tid;
	struct elide_waits *w;
	const struct elide_waker *waker;
};

/* elide_evidence_weight() of a wait that is not counted yet, plus that of a postponed one. */
static uint64_t weigh_wait(struct elide_thread *t, const struct elide_row *row)
{
	return evidence_add_postponed(t, &row->contended, elide_evidence_weight(t, row->contended + 1));
}

/* The sample of the wait's stack; the first one is the thread's own, from which readers know what it runs. */
static struct elide_sample *sample_wait(const struct wait *e)
{
	struct elide_thread_record *record = e->t->record;
	uint32_t stack = evidence_stack(e->row->site);

	if (record && !record->stack)
		record->stack = stack;
	return evidence_sample_record(e->row, ELIDE_SAMPLE_WAIT, stack);
}

static void wait_global(void *arg)
{
	const struct wait *e = arg;
	struct evidence_holder holder;

	test_point(wait_entered);
	elide_thread_record_name(e->t);
	if (e->tid && e->tid != e->t->tid)
		evidence_look(e->tid);
	holder = evidence_find_holder(e->t, e->row, e->lock, e->tid);
	e->w->sample = sample_wait(e);
	test_point(wait_publish);
	e->w->blame = evidence_blame_record(e->row, ELIDE_BLAME_WAIT, &holder);
	evidence_explained(e->row, EVIDENCE_CONTENDED);
	test_point(wait_done);
}

__cold void elide_evidence_waits(struct elide_thread *t, struct elide_row *row, const void *lock,
				 uint32_t tid, struct elide_waits *w)
{
	struct wait e = {.t = t, .row = row, .lock = lock, .tid = tid, .w = w};
	RTMGRIND_STILL;

	*w = (struct elide_waits){0};
	if (!elide_evidence || !row->kind || elide_busy)
		return;
	evidence_contended(row);
	e.weight = weigh_wait(t, row);
	if (e.weight && evidence_sample(t, &row->contended, e.weight, wait_global, &e))
		w->weight = e.weight;
}

static void sleep_global(void *arg)
{
	const struct wait *e = arg;

	test_point(sleep_entered);
	test_point(sleep_publish);
	e->w->sample = sample_wait(e);
	e->w->blame = NULL;
	test_point(sleep_done);
}

void elide_evidence_sleeps(struct elide_thread *t, struct elide_row *row, struct elide_waits *w)
{
	struct wait e = {.t = t, .row = row, .w = w};
	RTMGRIND_STILL;

	w->weight = 0;
	if (!elide_evidence || !row->kind || elide_busy)
		return;
	if (likely(!(e.weight = weigh_wait(t, row))))
		return;
	if (evidence_sample(t, &row->contended, e.weight, sleep_global, &e))
		w->weight = e.weight;
}

static void woken_global(void *arg)
{
	const struct wait *e = arg;
	struct evidence_holder holder = {.class_index = e->row->class_index};

	test_point(woken_entered);
	if (e->waker) {
		holder.kind = e->row->kind;
		holder.site = elide_recorded_known((const void *)(uintptr_t)e->waker->by);
		holder.peer = e->waker->peer;
		holder.waker = e->waker->stack;
	}
	test_point(woken_publish);
	e->w->blame = evidence_blame_record(e->row, ELIDE_BLAME_WAIT, &holder);
	test_point(woken_done);
}

__cold void elide_evidence_woken(struct elide_row *row, const struct elide_waker *waker,
				 struct elide_waits *w, unsigned long long cycles)
{
	struct wait e = {.row = row, .waker = waker, .w = w, .weight = w->weight};
	RTMGRIND_STILL;

	if (!row->kind)
		return;
	/* If this must not wait, the sample has its stack, but not the call that woke the thread. */
	evidence_sample_now(e.weight, woken_global, &e);
	elide_evidence_waited(w, cycles);
}

static void reacquire_global(void *arg)
{
	const struct wait *e = arg;
	struct evidence_holder holder;

	test_point(reacquire_entered);
	holder = evidence_find_holder(e->t, e->row, e->lock, e->tid);
	e->w->sample = evidence_sample_record(e->row, ELIDE_SAMPLE_WAIT, evidence_stack(e->row->site));
	test_point(reacquire_publish);
	e->w->blame = evidence_blame_record(e->row, ELIDE_BLAME_WAIT, &holder);
	test_point(reacquire_done);
}

void elide_evidence_reacquired(struct elide_thread *t, struct elide_row *row, const void *mutex,
			       uint32_t tid, unsigned long long cycles)
{
	struct elide_waits w = {0};
	struct wait e = {.t = t, .row = row, .lock = mutex, .tid = tid, .w = &w};
	RTMGRIND_STILL;

	if (!elide_evidence || !row->kind || elide_busy)
		return;
	if (likely(!(e.weight = w.weight = weigh_wait(t, row))))
		return;
	if (evidence_sample(t, &row->contended, e.weight, reacquire_global, &e))
		elide_evidence_waited(&w, cycles);
}

__cold void elide_evidence_waited(const struct elide_waits *w, unsigned long long cycles)
{
	RTMGRIND_STILL;

	if (!w->weight)
		return;
	evidence_add_to_sample(w->sample, w->weight, cycles);
	evidence_add_to_blame(w->blame, w->weight, cycles);
}

/**
 * struct release - a release that is sampled, of a lock for which others waited.
 * @t: the calling thread
 * @lock: the lock
 * @kind: of the call that had locked it
 * @site: return address of the unlock call
 * @weight: releases for which it counts
 */
struct release {
	struct elide_thread *t;
	const void *lock;
	enum elide_kind kind;
	const void *site;
	uint64_t weight;
};

static void blocked_global(void *arg)
{
	const struct release *e = arg;
	const struct elide_row *row;

	test_point(blocked_entered);
	row = evidence_own_row(e->t, e->lock, e->kind);
	test_point(blocked_publish);
	if (row)
		evidence_add_to_sample(evidence_sample_record(row, ELIDE_SAMPLE_BLOCK,
							      evidence_stack((uintptr_t)e->site)),
				       e->weight, 0);
	test_point(blocked_done);
}

__cold void elide_evidence_blocked(struct elide_thread *t, const void *lock,
				   enum elide_kind kind, const void *site)
{
	struct release e = {.t = t, .lock = lock, .kind = kind, .site = site};
	RTMGRIND_STILL;

	if (!elide_evidence || !t || elide_busy)
		return;
	e.weight = elide_evidence_weight(t, ++t->nr_blocked);
	e.weight = evidence_add_postponed(t, &t->nr_blocked, e.weight);
	if (e.weight && elide_registry_find(lock) != ELIDE_NONE)
		evidence_sample(t, &t->nr_blocked, e.weight, blocked_global, &e);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * decisions.c - see decisions.h.
 */
#include <errno.h>

#include "../base/testpoint.h"
#include "../state/gate.h"
#include "../state/settings.h"
#include "../state/wiped.h"
#include "decisions.h"

/* Decisions in the timeline, at most: 4 MiB of the data file. Further ones count as dropped. */
#define MAX_EVENTS 65536

/* The chunk that is being filled, and the number of decisions. In wiped memory. */
static struct {
	struct elide_chunk *chunk;
	uint32_t nr;
} *events;

int elide_evidence_events_start(void)
{
	events = elide_wiped_alloc(sizeof(*events));
	return events ? 0 : -ENOMEM;
}

void elide_evidence_events_restart(void)
{
	if (events)
		elide_wiped_clear(events, sizeof(*events));
}

static void event_global(void *arg)
{
	const struct elide_event *decision = arg;
	struct elide_event *event = NULL;

	test_point(event_entered);
	if (events->nr < MAX_EVENTS)
		event = elide_data_record(&events->chunk, ELIDE_CHUNK_TIMELINE, sizeof(*event));
	if (event) {
		*event = *decision;
		event->time = cycles_now();
		test_point(event_publish);
		elide_data_publish(events->chunk);
		events->nr++;
	} else {
		elide_data->dropped[ELIDE_DROPPED_EVENTS]++;
	}
	test_point(event_done);
}

static void add_event(struct elide_event *decision)
{
	if (events)
		elide_global_run(event_global, decision);
}

__cold void elide_evidence_event(enum elide_event_type type, const struct elide_row *row,
				 const void *lock, const struct policy_lock *policy,
				 const struct policy_window *window)
{
	if (row && !row->kind)
		return;
	add_event(&(struct elide_event){
		.type = type,
		.class_index = row ? row->class_index : 0,
		.kind = row ? row->kind : ELIDE_KIND_NONE,
		.site = row ? row->site : 0,
		.lock = (uintptr_t)lock,
		.a = type == ELIDE_EVENT_PAUSED ? policy->pause : 0,
		.tries = window ? window->last_tries : 0,
		.fails = window ? window->last_fails : 0,
	});
}

/* The report calls a site paused from a win of an arm that locks to the next win of another arm. */
static enum elide_event_type type_of(const struct learn_decision *d)
{
	if (!d->won)
		return ELIDE_EVENT_CHOSE;
	if (policy_arm_locks(d->arm) == policy_arm_locks(d->before))
		return ELIDE_EVENT_CHOSE;
	return policy_arm_locks(d->arm) ? ELIDE_EVENT_PAUSED : ELIDE_EVENT_RESUMED;
}

__cold void elide_evidence_chose(uint32_t class_index, uint64_t lock, const void *site,
				 enum elide_kind kind, const struct learn_decision *d)
{
	enum elide_event_type type = type_of(d);

	add_event(&(struct elide_event){
		.type = type,
		.class_index = class_index,
		.kind = kind,
		.site = (uintptr_t)site,
		.lock = lock,
		.a = type == ELIDE_EVENT_CHOSE && d->won,
		.arm = d->arm,
		.before = d->before,
		.ratio = d->ratio,
		.confidence = d->confidence,
		.pairs = d->pairs,
	});
}

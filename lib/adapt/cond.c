/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cond.c - see cond.h. */
#include "../state/call.h"
#include "../state/settings.h"
#include "cond.h"

struct elide_call *adapt_call_of(struct elide_thread *t, const void *lock)
{
	struct elide_call *found = NULL;

	if (!elide_process.config.measures || !elide_enabled || t->nr_calls > COND_CALLS)
		return NULL;
	/* If the thread has locked it last by several calls, it is not known by which: count none. */
	for (uint32_t nr = 1; nr <= t->nr_calls; nr++) {
		struct elide_call *call = elide_call_at(t, nr);

		if (call->lock != lock || !call->elided)
			continue;
		if (found)
			return NULL;
		found = call;
	}
	return found;
}

bool adapt_may_probe(struct elide_call *call, const struct elide_row *row)
{
	uint32_t locked = row->not_attempted + row->fallback;
	bool may = 2 * (uint32_t)call->waits <= locked - call->seen;

	call->seen = locked;
	call->waits = 0;
	return may;
}

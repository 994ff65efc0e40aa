/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* thread.c - see thread.h. */
#include "gate.h"
#include "settings.h"
#include "thread.h"

/* The first member of a dummy block, with the alignment of one. */
static const uint64_t always_open
	__attribute__((aligned(_Alignof(struct elide_thread)))) = ~0ull;

__thread struct elide_thread *elide_self;
__thread struct elide_thread *elide_self_fast = (struct elide_thread *)&always_open;
__thread struct elide_refused elide_refused;

bool elide_refused_passes(void)
{
	/* A forked child has no blocks yet, so there is room. */
	if (unlikely(!elide_gate_same_process())) {
		elide_refused = (struct elide_refused){0};
		return false;
	}
	elide_refused.left--;
	return true;
}

bool elide_may_judge(void)
{
	return elide_process.running && !elide_busy && (!elide_self || elide_self->ready);
}

void elide_thread_close(struct elide_closed *was)
{
	was->self = elide_self;
	was->fast = elide_self_fast;
	elide_self = NULL;
	elide_self_fast = (struct elide_thread *)&always_open;
	elide_busy = true;
}

void elide_thread_reopen(const struct elide_closed *was)
{
	elide_self = was->self;
	elide_self_fast = was->fast;
	elide_busy = false;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lifetime.c - see lifetime.h. */
#include "lifetime.h"
#include "life/lock.h"
#include "section/engine.h"

void wrap_init_from(const void *lock, enum elide_kind kind, const void *site, const void *stack,
		    bool shared)
{
	struct elide_thread *t = elide_self;

	if (!elide_inside(t)) {
		elide_lock_new_from(lock, kind, site, stack, shared);
		return;
	}
	if (elide_find_held(t, lock))
		rtm_abort(ELIDE_CODE_destroy);
	elide_defer(t, NULL, lock, site, kind, shared ? ELIDE_DEFER_SHARED : ELIDE_DEFER_NEW);
}

void wrap_destroy_begin(const void *lock)
{
	struct elide_thread *t = elide_self;

	if (elide_inside(t) && elide_find_held(t, lock))
		rtm_abort(ELIDE_CODE_destroy);
}

void wrap_destroy_end(const void *lock, enum elide_kind kind)
{
	struct elide_thread *t = elide_self;

	if (elide_inside(t))
		elide_defer(t, NULL, lock, NULL, kind, ELIDE_DEFER_GONE);
	else
		elide_lock_gone(lock);
}

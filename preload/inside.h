/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inside.h - inside an elided section: defer until its commit locks of real functions, and misuse.
 */
#ifndef ELIDE_INSIDE_H
#define ELIDE_INSIDE_H

#include <errno.h>

#include "check/misuse.h"
#include "section/engine.h"

/* Inside an elided section the real function has answered @err: count the lock if it locked. Returns @err. */
static inline int counted_inside(struct elide_thread *t, struct elide_call *call,
				 const void *lock, const void *site, enum elide_kind kind,
				 bool wait, int err)
{
	if (!err || err == EOWNERDEAD)
		elide_defer(t, call, lock, site, kind,
			    wait ? ELIDE_DEFER_LOCKED : ELIDE_DEFER_LOCKED_TRY);
	return err;
}

/* Inside an elided section: count a misuse if the section commits. */
static inline void misuse_inside(struct elide_thread *t, enum elide_misuse_type type,
				 enum elide_kind kind, const void *site, const void *lock)
{
	elide_defer(t, NULL, lock, site, kind, ELIDE_DEFER_MISUSE + type);
}

/* Count a misuse, inside an elided section or not. */
static inline void misuse(enum elide_misuse_type type, enum elide_kind kind, const void *site,
			  const void *lock)
{
	struct elide_thread *t = elide_self;

	if (elide_inside(t))
		misuse_inside(t, type, kind, site, lock);
	else
		elide_misuse(type, kind, site, lock);
}

#endif

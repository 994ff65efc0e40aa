/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * api.c - the public interface, for locks that are not pthread's.
 *
 * Must hold no logic of its own: it translates between elide.h and engine.h.
 */
#include <sys/auxv.h>

#include "../life/fill.h"
#include "../life/lock.h"
#include "../life/start.h"
#include "engine.h"
#include "held.h"

__export int elide_begin(const void *word, const struct elide_rule *rule)
{
	const void *site = __builtin_return_address(0);
	struct elide_thread *t = elide_self;
	struct elide_cache *entry = elide_cache_find(t, word, site, ELIDE_KIND_CUSTOM);
	enum elide_outcome outcome;
	struct elide_row *row;

	if (elide_inside(t)) {
		if (elide_find_held(t, word))
			rtm_abort(ELIDE_CODE_relock);
		outcome = elide_acquire(t, entry, word, rule, site, ELIDE_KIND_CUSTOM, true);
		if (outcome == ELIDE_NOTHING_DONE)
			elide_defer(t, entry, word, site, ELIDE_KIND_CUSTOM, ELIDE_DEFER_LOCKED);
		return outcome == ELIDE_ELIDED;
	}
	outcome = elide_try(entry, word, rule, site, ELIDE_KIND_CUSTOM, true, &row);
	if (outcome == ELIDE_SKIPPED || outcome == ELIDE_FELL_BACK) {
		elide_count(row, outcome);
		/* The caller is about to lock; when it has is not known here. */
		if (unlikely(elide_process.watch_locked))
			elide_locked_begin(elide_self, row, word, true);
	}
	return outcome == ELIDE_ELIDED;
}

__export int elide_end(const void *word)
{
	struct elide_thread *t = elide_self;

	return elide_inside(t) && elide_release(t, word);
}

__export void elide_forget(const void *word)
{
	struct elide_thread *t = elide_self;

	if (!elide_inside(t)) {
		elide_lock_gone(word);
		return;
	}
	if (elide_find_held(t, word))
		rtm_abort(ELIDE_CODE_destroy);
	elide_defer(t, NULL, word, NULL, ELIDE_KIND_CUSTOM, ELIDE_DEFER_GONE);
}

__export int elide_status(const char **why)
{
	if (why)
		*why = elide_process.why;
	return elide_enabled;
}

/* Before the constructor of preload/, which may have to switch elision off. */
__attribute__((constructor(65000))) static void start(void)
{
	elide_start(getauxval(AT_SECURE));
}

__attribute__((destructor)) static void stop(void)
{
	elide_stop();
}

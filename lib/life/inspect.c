/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inspect.c - see inspect.h. The process does nothing for the reader of its memory, who has to bear that
 * the tables change meanwhile.
 */
#include "../state/registry.h"
#include "../state/settings.h"
#include "../state/thread-list.h"
#include "inspect.h"

_Static_assert(ARRAY_SIZE(((struct elide_inspect *)0)->holder) >= ELIDE_NR_KINDS,
	       "a place for each kind");
_Static_assert(offsetof(struct elide_locks, table) == 8 &&
		       offsetof(struct elide_locks, hot_classes) == 16 &&
		       offsetof(struct elide_table, nr) == 0 && offsetof(struct elide_table, next) == 8,
	       "as struct elide_inspect says");
_Static_assert(offsetof(struct elide_thread, waits_row) ==
		       offsetof(struct elide_thread, waits) + sizeof(void *),
	       "the reader takes both together");
_Static_assert(offsetof(struct elide_acquired, site) == 8 &&
		       offsetof(struct elide_acquired, class_index) == 16 &&
		       offsetof(struct elide_acquired, kind) == 20,
	       "as struct elide_inspect says");

void elide_inspect_fill(struct elide_inspect *to)
{
	*to = (struct elide_inspect){
		.size = sizeof(*to),
		.tag_shift = ELIDE_TAG_SHIFT,
		.held_size = sizeof(struct elide_acquired),
		.locks = (uintptr_t)&elide_locks,
		.lock_words = offsetof(struct elide_table, words),
		.threads = (uintptr_t)elide_threads_head(),
		.next = offsetof(struct elide_thread, next),
		.tid = offsetof(struct elide_thread, tid),
		.waits = offsetof(struct elide_thread, waits),
		.row_site = offsetof(struct elide_row, site),
		.row_kind = offsetof(struct elide_row, kind),
		.nr_held = offsetof(struct elide_thread, nr_acquired),
		.held = offsetof(struct elide_thread, acquired),
	};
	for (int kind = 0; kind < ELIDE_NR_KINDS; kind++)
		to->holder[kind] = elide_process.holder[kind];
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * section.h - what the two ends of an elided section share: elide.c and release.c.
 *
 * Must never be needed by anything else.
 */
#ifndef ELIDE_SECTION_H
#define ELIDE_SECTION_H

#include "thread.h"

#pragma GCC visibility push(hidden)

/* Some transaction has committed since the watch last looked. Rarely written. */
extern bool elide_any_commit;

static __always_inline_fn uint64_t read_word(const void *word, uint32_t size)
{
	return size == 4 ? READ_ONCE(*(const uint32_t *)word) : READ_ONCE(*(const uint64_t *)word);
}

/** elide_decided() - HPCA'14's policy has changed its mind about a lock of that row. */
void elide_decided(struct elide_row *row, const struct policy_window *window);

/** elide_leave_queue() - let the next aborted thread have its turn. */
void elide_leave_queue(struct elide_thread *t);

#pragma GCC visibility pop

#endif

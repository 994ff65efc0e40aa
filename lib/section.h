/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * section.h - what the two ends of an elided section share: elide.c, release.c and quick.h.
 *
 * Must never be needed by anything else.
 */
#ifndef ELIDE_SECTION_H
#define ELIDE_SECTION_H

#include "engine.h"
#include "point.h"

#pragma GCC visibility push(hidden)

static __always_inline_fn uint64_t read_word(const void *word, uint32_t size)
{
	return size == 4 ? READ_ONCE(*(const uint32_t *)word) : READ_ONCE(*(const uint64_t *)word);
}

static __always_inline_fn bool is_free(const void *word, const struct elide_rule *rule,
				       uint64_t *value)
{
	*value = read_word(word, rule->size);
	return (*value & rule->mask) == rule->free;
}

static __always_inline_fn enum elide_deferred elided(bool wait)
{
	return wait ? ELIDE_DEFER_ELIDED : ELIDE_DEFER_ELIDED_TRY;
}

/* The transaction has just begun: the lock is in it from its first act on, and its call alone. */
static __always_inline_fn void subscribe(struct elide_thread *t, struct elide_row *row,
					 const void *word, const struct elide_rule *rule,
					 const void *site, enum elide_kind kind, bool wait)
{
	uint64_t value;

	test_point(begun);
	if (!is_free(word, rule, &value))
		rtm_abort(ELIDE_CODE_busy);
	test_point(subscribed);
	/* All of it was 0, but for what is watched. */
	t->open |= ELIDE_OPEN_ONE;
	/* One by one: the compiler would clear the structures first. */
	t->held[0].word = word;
	t->held[0].value = value;
	t->held[0].size = rule->size;
	t->held[0].depth = 0;
	t->pending[0].what = elided(wait);
	t->pending[0].kind = kind;
	t->pending[0].lock = word;
	t->pending[0].site = site;
	t->pending[0].row = row;
	test_point(held);
}

/** elide_decided() - HPCA'14's policy has changed its mind about the lock of that entry. */
void elide_decided(const struct elide_cache *entry);

/** elide_leave_queue() - let the next aborted thread have its turn. */
void elide_leave_queue(struct elide_thread *t);

#pragma GCC visibility pop

#endif

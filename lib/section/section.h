/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * section.h - what the ends of an elided section share: acquire.c, retry.c, release.c, fast-path.h.
 *
 * Must never be needed by anything else.
 */
#ifndef ELIDE_SECTION_H
#define ELIDE_SECTION_H

#include "../base/testpoint.h"
#include "engine.h"

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

/**
 * elide_conflict_seen() - where there is evidence: count and sample a conflict after which an attempt follows
 * at once. Takes no virtual time.
 * @t: the calling thread
 * @row: counters of the call
 * @word, @rule: the lock's
 * @status: of the attempt
 */
void elide_conflict_seen(struct elide_thread *t, struct elide_row *row, const void *word,
			 const struct elide_rule *rule, unsigned int status);

/*
 * Note what is known of a section. Before XBEGIN, as the shorter a transaction, the less often it is
 * aborted; the lock does not count as held yet.
 */
static __always_inline_fn void prepare(struct elide_thread *t, struct elide_row *row,
				       const void *word, const struct elide_rule *rule)
{
	/* First: the end of a handler's section clears it, which tells subscribe() to prepare again. */
	WRITE_ONCE(t->outer, row);
	barrier();
	/* One by one, or the compiler would clear the structure first. */
	t->held[0].word = word;
	t->held[0].shape = rule->size;
}

/*
 * The transaction has just begun: read the lock's word first.
 * @prepared: prepare() was called; a signal handler that had a section of its own, or forked, has undone it
 */
static __always_inline_fn void subscribe(struct elide_thread *t, struct elide_row *row,
					 const void *word, const struct elide_rule *rule,
					 bool prepared)
{
	uint64_t value;

	test_point(begun);
	if (!is_free(word, rule, &value))
		rtm_abort(ELIDE_CODE_busy);
	test_point(subscribed);
	if (unlikely(!prepared || !t->outer))
		prepare(t, row, word, rule);
	t->held[0].value = value;
	/* It was 0, or has the bit of a watched section. */
	t->open |= ELIDE_OPEN_ONE;
	test_point(held);
}

/*
 * Aborts of a thread, with no commit in the whole process meanwhile, after which RTM is switched off.
 * Chosen: where sections can commit, one commits far earlier.
 */
#define WATCH_ATTEMPTS 10000

/* Does watch() run at the next abort? */
static __always_inline_fn bool watch_is_due(const struct elide_thread *t)
{
	return t->streak >= WATCH_ATTEMPTS - 1;
}

/* The thread is in a locked section that is watched. Outside transactions. */
static inline void section_locked(struct elide_thread *t)
{
	t->held[0].word = t->locked;
	WRITE_ONCE(t->outer, t->locked_row);
}

/*
 * Count locks that were elided inside a section. They count as completed sections, as they would if they
 * were locked: the policy compares these numbers.
 */
static __always_inline_fn void count_nested(struct elide_row *row, struct adapt_thread *adapt,
					    uint32_t nr)
{
	counter_add(row->nested, nr);
	counter_add(adapt->goal, nr);
}

/*
 * Does the call that was noted last elide one more lock, as in a loop or hand over hand? Then one note is
 * for both. False: the lock needs a note of its own.
 */
static __always_inline_fn bool note_repeated(struct elide_thread *t, uint32_t nr_nested,
					  const struct elide_call *call)
{
	uint64_t note;

	if (!nr_nested)
		return false;
	note = t->nested[nr_nested - 1] + 1;
	/* After CACHE_LINE locks it would be the address of the next call. */
	if (ELIDE_NESTED_CALL(note) != call)
		return false;
	t->nested[nr_nested - 1] = note;
	return true;
}

/**
 * elide_retry() - go on after an abort, whatever its cause.
 *
 * Parameters and what it returns are those of elide_acquire_retry().
 * @conflicts: attempts before the last one, all aborted by conflicts and counted
 */
enum elide_outcome elide_retry(struct elide_thread *t, struct elide_call *call,
				   const void *word, const struct elide_rule *rule,
				   const struct elide_until *until, unsigned int status,
				   unsigned int conflicts);

/** elide_policy_changed() - record that HPCA'14's policy has paused or resumed a lock, by @call. */
void elide_policy_changed(const struct elide_call *call, const void *lock);

#pragma GCC visibility pop

#endif

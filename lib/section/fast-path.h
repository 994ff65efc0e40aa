/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fast-path.h - the usual lock call in few instructions, for the wrappers.
 *
 * The usual lock call: the thread knows the call, and is in no section of ours or in one of elided locks
 * alone; the lock is free. The usual unlock call releases the lock acquired last, or ends a section of one
 * or two. engine.h knows every case: nothing may be done here that is not done there too.
 *
 * Keeps the rule of transactions in state/thread.h.
 */
#ifndef ELIDE_FAST_PATH_H
#define ELIDE_FAST_PATH_H

#include "../base/testpoint.h"
#include "engine.h"
#include "section.h"

#pragma GCC visibility push(hidden)

/**
 * struct elide_fast - a call, or that the thread does not know it.
 * @known: the thread knows the call
 * @call: the call; @row, @adapt and @arm are copies of its members
 * @row: counters
 * @adapt: the thread's measurement of the class
 * @arm: address of the code of the site's arm, ELIDE_ARM_CODE()
 */
struct elide_fast {
	bool known;
	struct elide_call *call;
	struct elide_row *row;
	struct adapt_thread *adapt;
	const uint8_t *arm;
};

/*
 * Copy the call before it is compared. A signal handler may fork, which wipes the block in the child:
 * then either the call has no key, or the copy is whole.
 */
static __always_inline_fn struct elide_fast fast_copy(struct elide_call *call)
{
	struct elide_fast q = {
		.call = call,
		.row = READ_ONCE(call->row),
		.arm = READ_ONCE(call->arm),
		.adapt = READ_ONCE(call->adapt),
	};

	barrier();
	return q;
}

/**
 * elide_fast_known() - copy a call that was found, and compare it: a handler may have forked meanwhile.
 * @call: from struct elide_fast
 * @site, @kind: of it
 */
static __always_inline_fn struct elide_fast elide_fast_known(struct elide_call *call, const void *site,
							       enum elide_kind kind)
{
	struct elide_fast q = fast_copy(call);

	q.known = likely(call->key == elide_call_key(site, kind));
	return q;
}

/* Is the guess right? */
static __always_inline_fn bool fast_is(const struct elide_call *call, const void *lock,
					const void *site, enum elide_kind kind)
{
	return likely(call->key == elide_call_key(site, kind)) &&
	       likely(elide_registry_is(lock, call->mark));
}

/**
 * elide_fast() - does the thread know that call, and is it in no section?
 * @t: elide_self_fast
 * @lock: address
 * @site: return address of the call
 * @kind: enum elide_kind
 */
static __always_inline_fn struct elide_fast elide_fast(struct elide_thread *t, const void *lock,
							 const void *site, enum elide_kind kind)
{
	struct elide_fast q;

	if (unlikely(t->open))
		return (struct elide_fast){0};
	q = fast_copy(elide_guessed(t, site));
	q.known = fast_is(q.call, lock, site, kind);
	return q;
}

/* The same for a lock whose word is not one of the first two. */
static __always_inline_fn bool fast_is_far(const struct elide_call *call, const void *lock, const void *site,
					   enum elide_kind kind)
{
	return call->key == elide_call_key(site, kind) && elide_registry_is_far(lock, call->mark);
}

/* The guess by site and lock: the site has locks of several classes, or shares its place with another. */
static __always_inline_fn struct elide_fast fast_second(struct elide_thread *t, const void *lock,
							  const void *site, enum elide_kind kind)
{
	uint64_t key = elide_call_key(site, kind);
	struct elide_fast q = {0};
	uint16_t guess;

	if (!t->has_second) {
		q = fast_copy(elide_guessed(t, site));
		q.known = fast_is_far(q.call, lock, site, kind);
		return q;
	}
	guess = READ_ONCE(*elide_second_guess(t, lock, key));
	q = fast_copy(elide_guess_call(t, guess));
	q.known = fast_is(q.call, lock, site, kind) || fast_is_far(q.call, lock, site, kind);
	if (q.known && unlikely(!(++t->nr_second % ELIDE_SECOND_PERIOD)))
		WRITE_ONCE(t->guesses[elide_guess(site)], guess);
	return q;
}

/**
 * elide_fast_look() - the first guess was wrong: does the thread know that call all the same?
 *
 * Parameters and what it returns are those of elide_fast().
 */
static __always_inline_fn struct elide_fast elide_fast_look(struct elide_thread *t,
							      const void *lock, const void *site,
							      enum elide_kind kind)
{
	struct elide_fast q = {0};
	struct elide_call *call;

	if (unlikely(t->open))
		return q;
	q = fast_second(t, lock, site, kind);
	if (likely(q.known))
		return q;
	call = elide_call_look(t, lock, site, kind);
	return likely(call) ? elide_fast_known(call, site, kind) : q;
}

static __always_inline_fn void push(struct elide_thread *t, uint32_t nr, const void *word,
				    uint64_t value, uint32_t size)
{
	t->held[nr].word = word;
	t->held[nr].value = value;
	t->held[nr].shape = size;
}

/**
 * elide_fast_nested() - elide a lock inside an elided section.
 * @t: elide_self_fast
 * @word: lock word
 * @rule: when it is free; best a constant, so that the compiler knows it
 * @site: return address of the call
 * @kind: enum elide_kind
 *
 * Return: false, with nothing done, if the section has not only elided locks or no room for one more, if the
 * call is not known, or if the lock is held, by another thread or by this one.
 */
static __always_inline_fn bool elide_fast_nested(struct elide_thread *t, const void *word,
						  struct elide_rule rule, const void *site,
						  enum elide_kind kind)
{
	uint64_t open = t->open, value;
	uint32_t nr = (uint16_t)open;
	struct elide_call *call;

	if (unlikely(open >= ELIDE_OPEN_ODD))
		return false;
	call = elide_guessed(t, site);
	if (unlikely(!fast_is(call, word, site, kind))) {
		/* One guess after the other, as in fast_second(). */
		if (t->has_second)
			call = elide_guess_call(t, READ_ONCE(*elide_second_guess(t, word,
										 elide_call_key(site, kind))));
		if (!fast_is(call, word, site, kind) && !fast_is_far(call, word, site, kind))
			return false;
	}
	if (unlikely(call->way < ELIDE_WAY_DORMANT || !is_free(word, &rule, &value) || t->held[0].word == word))
		return false;
	test_point(nested);
	if (likely(open == ELIDE_OPEN_ONE)) {
		/* The second lock, the most frequent case: its places are constants. */
		push(t, 1, word, value, rule.size);
		t->nested[0] = (uint64_t)call;
		t->open = open + ELIDE_OPEN_NESTED;
		return true;
	}
	for (uint32_t i = nr; --i;)
		if (unlikely(t->held[i].word == word))
			return false;
	if (unlikely(nr == ELIDE_MAX_HELD))
		return false;
	if (note_repeated(t, open >> 16, call)) {
		open++;
	} else if (likely(open < ELIDE_MAX_NESTED * 0x10000ull)) {
		t->nested[open >> 16] = (uint64_t)call;
		open += ELIDE_OPEN_NESTED;
	} else {
		return false;
	}
	push(t, nr, word, value, rule.size);
	t->open = open;
	return true;
}

/**
 * elide_fast_locks() - is the arm of a trylock one that locks?
 * @q: the call
 *
 * Then the trylock is a compare-and-swap at once, as in glibc. Reading the word first would move its cache
 * line twice: with two threads that poll a mutex a section took up to 1.8 times as long. The policy
 * counts the trylock only if it gets the lock.
 *
 * Return: the code of the arm, for elide_fast_locked(); 0 if the arm elides, or if the thread flushes at
 * this call.
 */
static __always_inline_fn uint8_t elide_fast_locks(struct elide_fast q)
{
	uint8_t code = *q.arm;

	if (likely(code < ELIDE_ARM_NOW))
		return 0;
	return code == ELIDE_ARM_SHORT || (code == ELIDE_ARM_LOCK && q.adapt->countdown > 1) ?
		       code : 0;
}

/** elide_fast_locked() - the trylock has got the lock: count it. @code: from elide_fast_locks() */
static __always_inline_fn void elide_fast_locked(struct elide_fast q, uint8_t code)
{
	if (code == ELIDE_ARM_LOCK)
		q.adapt->countdown--;
}

/**
 * elide_fast_acquire() - do as the arm of the call says.
 * @t: the calling thread
 * @q: the call
 * @word: lock word
 * @rule: when it is free; best a constant, so that the compiler knows it
 * @status: for ELIDE_FELL_BACK: that of the attempt, for elide_acquire_retry()
 *
 * Return: ELIDE_ELIDED; ELIDE_SKIPPED: lock;
 * ELIDE_FELL_BACK: go on with elide_acquire_retry(); ELIDE_NOTHING_DONE: go the long way.
 */
static __always_inline_fn enum elide_outcome
elide_fast_acquire(struct elide_thread *t, struct elide_fast q, const void *word,
		    struct elide_rule rule, unsigned int *status)
{
	uint64_t value;

	/* Another thread may change the code between the loads: each value is valid. */
	if (unlikely(*q.arm >= ELIDE_ARM_NOW)) {
		barrier(); /* so that each comparison has a memory operand */
		if (likely(*q.arm == ELIDE_ARM_SHORT))
			return ELIDE_SKIPPED;
		barrier();
		if (unlikely(*q.arm != ELIDE_ARM_LOCK))
			return ELIDE_NOTHING_DONE;
		return likely(--q.adapt->countdown) ? ELIDE_SKIPPED : ELIDE_NOTHING_DONE;
	}
	if (unlikely(!is_free(word, &rule, &value) || rtm_test()))
		return ELIDE_NOTHING_DONE;
	if (unlikely(!--q.adapt->countdown))
		return ELIDE_NOTHING_DONE; /* the long way finds it at 0 */
	test_point(enter);
	prepare(t, q.row, word, &rule);
	test_point(prepared);
	if (unlikely(!rtm_started(status)))
		return ELIDE_FELL_BACK;
	subscribe(t, q.row, word, &rule, true);
	return ELIDE_ELIDED;
}

/* Abort if the lock's word has changed. @size: of the word, 0: as at its acquisition */
static __always_inline_fn void compare_word(const struct elide_held *held, const void *word,
					    uint32_t size)
{
	test_point(release);
	if (read_word(word, size ? size : held->size) != held->value)
		rtm_abort(ELIDE_CODE_changed);
	test_point(compared);
}

/**
 * elide_fast_release() - end a section of this one lock.
 * @t: elide_self_fast
 * @word: lock word
 * @size: of the word, 4 or 8 bytes, or 0: as at its acquisition; best a constant
 *
 * Return: false if it is another section, or one whose end needs more.
 */
static __always_inline_fn bool elide_fast_release(struct elide_thread *t, const void *word,
						   uint32_t size)
{
	struct elide_row *row;

	if (t->open != ELIDE_OPEN_ONE || t->held[0].word != word)
		return false;
	row = t->outer;
	compare_word(&t->held[0], word, size);
	t->open = 0;
	t->outer = NULL;
	test_point(commit);
	rtm_end();
	test_point(committed);
	counter_add(row->commits, 1);
	return true;
}

/* Release a lock that is not the only one of its section. */
static __always_inline_fn void pop_nested(struct elide_thread *t, uint32_t i, const void *word,
					  uint32_t size)
{
	compare_word(&t->held[i], word, size);
	t->open--;
}

/* Release the last lock of a section with one note of nested locks. All are counted after the commit. */
static __always_inline_fn void commit_pair(struct elide_thread *t, const void *word, uint32_t size)
{
	uint64_t note = t->nested[0];
	const struct elide_call *call = ELIDE_NESTED_CALL(note);
	struct elide_row *outer = t->outer, *inner = call->row;
	struct adapt_thread *adapt = call->adapt;

	compare_word(&t->held[0], word, size);
	t->open = 0;
	t->outer = NULL;
	test_point(commit);
	rtm_end();
	test_point(committed);
	counter_add(outer->commits, 1);
	count_nested(inner, adapt, ELIDE_NESTED_NR(note));
}

/**
 * elide_fast_release_nested() - release the lock acquired last, or the older of two.
 * @t: elide_self_fast
 * @word: lock word
 * @size: of the word, 4 or 8 bytes, or 0: as at its acquisition; best a constant
 *
 * Commits a section with one note of nested locks if this is its last lock.
 *
 * Return: false if nothing was done: elide_release() does it.
 */
static __always_inline_fn bool elide_fast_release_nested(struct elide_thread *t, const void *word,
							  uint32_t size)
{
	uint64_t open = t->open;
	uint32_t nr = (uint16_t)open;

	/* A section of two calls: the inner one, then the outer one. */
	if (likely(open == ELIDE_OPEN_ONE + ELIDE_OPEN_NESTED && t->held[1].word == word)) {
		pop_nested(t, 1, word, size);
		return true;
	}
	if (likely(open == ELIDE_OPEN_NESTED && t->held[0].word == word)) {
		commit_pair(t, word, size);
		return true;
	}
	if (unlikely(open >> 32 || nr < 2))
		return false; /* or there is no block */
	if (t->held[nr - 1].word == word) {
		pop_nested(t, nr - 1, word, size);
		return true;
	}
	/* Hand over hand: the older of two. */
	if (unlikely(nr != 2 || t->held[0].word != word))
		return false;
	pop_nested(t, 0, word, size);
	t->held[0] = t->held[1];
	return true;
}

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * blocking.h - calls that wait for another thread to signal, to post or to arrive.
 *
 * They are never elided, but counted, timed and sampled. A wrapper calls elide_blocking_begin(), the
 * real function, and then elide_blocking_end(), _failed(), _refused() or _reacquired(). A wait that is
 * cancelled, or left by longjmp(), is not counted.
 */
#ifndef ELIDE_BLOCKING_H
#define ELIDE_BLOCKING_H

#include "../evidence/waits.h"
#include "../state/gate.h"
#include "../state/waker.h"
#include "engine.h"

#pragma GCC visibility push(hidden)

/**
 * struct elide_blocking - a call that may wait.
 * @row:   its counters; NULL if it is not counted
 * @waits: the thread has to wait
 * @noted: it counts as a waiter, so that the call that ends the wait is noted
 * @object: what it waits for; NULL if it does not
 * @start: time-stamp counter before the wait
 * @before: cycles that the thread has waited there in calls just before, which timed out
 * @known: what the thread knows of its last wait at a condition variable, which is this one; or NULL
 * @who:   its sample
 */
struct elide_blocking {
	struct elide_row *row;
	struct elide_cond_call *known;
	bool waits;
	bool noted;
	const void *object;
	uint64_t start, before;
	struct elide_waits who;
};

/**
 * elide_is_parker() - does each thread have such an object, with a mutex of its own?
 * @t: the calling thread, which has waited for a condition variable
 * @object: the one that it signals
 *
 * A lock of the program that parks each thread at a condition variable and a mutex of its own is one for all of
 * them; workers of a pool wait with the mutex of the pool.
 */
static inline bool elide_is_parker(const struct elide_thread *t, const void *object)
{
	const struct elide_cond_call *own = &t->cond_call;
	const void *mutex = READ_ONCE(elide_waited_with[elide_waker_place(object)]);
	uint32_t tag = elide_registry_find(object), own_tag;

	if (!own->object || own->object == object || !mutex || mutex == own->mutex || tag == ELIDE_NONE)
		return false;
	own_tag = elide_registry_find(own->object);
	return own_tag != ELIDE_NONE && elide_tag_class(tag) == elide_tag_class(own_tag);
}

/** elide_note_waited() - a thread waits for @object: if it also wakes others there, they are its peers. */
static inline void elide_note_waited(struct elide_thread *t, const void *object)
{
	for (int i = 0; i < ELIDE_NR_WAITED; i++)
		if (t->waited[i] == object)
			return;
	t->waited[t->last_waited++ % ELIDE_NR_WAITED] = object;
}

/** elide_note_posted() - a thread posts a semaphore. */
static inline void elide_note_posted(struct elide_thread *t, const void *object)
{
	for (int i = 0; i < ELIDE_NR_POSTED; i++)
		if (t->posted[i] == object)
			return;
	t->posted[t->last_posted++ % ELIDE_NR_POSTED] = object;
}

/**
 * elide_has_posted() - has the thread posted that semaphore lately? A thread that both posts a semaphore and
 * waits for it uses it as a lock.
 */
static inline bool elide_has_posted(const struct elide_thread *t, const void *object)
{
	for (int i = 0; i < ELIDE_NR_POSTED; i++)
		if (t->posted[i] == object)
			return true;
	return false;
}

/**
 * elide_blocking_begin() - before the real function.
 * @b: filled
 * @object: the condition variable, semaphore or barrier; only its address is used
 * @site: return address of the call
 * @kind: ELIDE_KIND_SEM or _BARRIER
 * @waits: the thread will have to wait, or it is not known yet
 *
 * Counts nothing in a transaction, ours or the program's.
 */
void elide_blocking_begin(struct elide_blocking *b, const void *object, const void *site,
			  enum elide_kind kind, bool waits);

/**
 * elide_blocking_begin_cond() - elide_blocking_begin() for a condition variable.
 * @mutex: its mutex, which the calling thread holds; only its address is used
 * @noted: the thread counts as a waiter, as the condition variable does not tell whether a thread waits
 *
 * Other parameters are those of elide_blocking_begin(). Other threads wait for the mutex meanwhile, so the
 * call uses again what was found out for the thread's last such call.
 */
void elide_blocking_begin_cond(struct elide_blocking *b, const void *object, const void *mutex,
			       const void *site, bool noted);

/**
 * elide_blocking_begin_futex() - elide_blocking_begin() for a wait in a futex call.
 * @word: the futex; only its address is used
 * @site: return address of the call of the program, outside of lock code
 * @kind: ELIDE_KIND_FUTEX or _FUTEX_LOCK
 *
 * The class is the variable at that address. A futex in other memory is neither initialised nor destroyed by a call,
 * and the allocator gives its memory to other objects. There the class is that of the call that waits, or, while
 * another thread waits for the same futex, that of the other thread's call. The report joins classes that share a
 * call.
 */
void elide_blocking_begin_futex(struct elide_blocking *b, const void *word, const void *site, enum elide_kind kind);

/**
 * elide_blocking_end_futex() - elide_blocking_end() for a wait in a futex call.
 * @word: the futex whose waiters were woken
 *
 * Lock code waits again if another thread has locked the lock first, or after a spurious wake-up. So two waits of a
 * thread for one futex, at most 12 us apart at 2.7 GHz and with no other futex call between them, count as one.
 */
void elide_blocking_end_futex(struct elide_blocking *b, const void *word);

/**
 * elide_blocking_end() - the call has got what it waited for.
 * @b: of the call; @b->waits may have become false
 * @object: as before
 */
void elide_blocking_end(struct elide_blocking *b, const void *object);

/**
 * elide_blocking_failed() - the call has timed out, or would have had to wait.
 * @b: of the call
 *
 * The time of a call that timed out counts as part of the thread's next wait, if that is for the same
 * object: many programs wait in a loop of calls that time out.
 */
void elide_blocking_failed(struct elide_blocking *b);

/**
 * elide_blocking_refused() - the call has returned another error: it has not waited.
 * @b: of the call
 */
void elide_blocking_refused(struct elide_blocking *b);

/**
 * elide_blocking_reacquired() - elide_blocking_end() for a condition variable, which has also locked
 * the mutex again.
 * @b: of the call
 * @object: the condition variable
 * @mutex: the mutex; only its address is used
 * @site: return address of the call
 *
 * The mutex was contended if a thread has released it to a waiter since the signal. Then the wait for
 * the condition variable ends, and the wait for the mutex begins, with the signal, and it ends with that
 * release: from then on the thread is late.
 */
void elide_blocking_reacquired(struct elide_blocking *b, const void *object, const void *mutex,
			       const void *site);

/**
 * elide_blocking_wakes_one() - a thread is about to signal, post or arrive at a barrier, and another waits.
 * @object: the condition variable, semaphore or barrier; only its address is used
 * @site: return address of the call
 *
 * Async-signal-safe. Does nothing in a transaction: the call's system call aborts that.
 */
static inline void elide_blocking_wakes_one(const void *object, const void *site)
{
	const struct elide_thread *t = elide_self;
	bool peer = false;
	RTMGRIND_STILL;

	if (!elide_process.running || elide_busy || (READ_ONCE(elide_enabled) && rtm_test()))
		return;
	for (int i = 0; t && i < ELIDE_NR_WAITED; i++)
		peer |= t->waited[i] == object;
	if (t && !peer)
		peer = elide_is_parker(t, object);
	elide_waker_note(object, (uintptr_t)site, peer, t && t->record ? READ_ONCE(t->record->stack) : 0);
}

/**
 * elide_blocking_wakes() - elide_blocking_wakes_one() if a thread counts as a waiter: many programs signal
 * at each release.
 *
 * A transaction does not read the number of waiters, as each change of it would abort the transaction.
 */
static inline void elide_blocking_wakes(const void *object, const void *site)
{
	if (READ_ONCE(elide_enabled) && rtm_test())
		return;
	if (unlikely(elide_waiters_any(object)))
		elide_blocking_wakes_one(object, site);
}

/** elide_blocking_wakes_futex() - elide_blocking_wakes() in a futex call. @site: outside of lock code */
static inline void elide_blocking_wakes_futex(const void *word, const void *site)
{
	if (elide_self)
		elide_self->futex.word = NULL;
	WRITE_ONCE(elide_futex_places[elide_waker_place(word)].to, NULL);
	elide_blocking_wakes_one(word, site);
}

#pragma GCC visibility pop

#endif

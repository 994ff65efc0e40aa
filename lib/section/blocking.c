/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* blocking.c - see blocking.h. Must never store in a transaction. */
#include "../adapt/cond.h"
#include "../life/fill.h"
#include "../state/holds.h"
#include "../state/modules.h"
#include "../state/thread-record.h"
#include "blocking.h"
#include "locked.h"

/* The counters of a call; NULL if it is not counted. */
static struct elide_row *row_of(const void *object, const void *site, enum elide_kind kind)
{
	struct elide_call *call = elide_call_find(elide_self, object, site, kind);

	if (unlikely(!call))
		call = elide_call_get(object, site, kind);
	return call ? elide_call_row(call) : NULL;
}

/*
 * Where the policy chooses, a wait is as long as it lasts, and nothing is done to find out when it could end.
 */
static bool profiles(void)
{
	return elide_process.mode == ELIDE_RUN_PROFILE;
}

static bool may_count(void)
{
	return likely(elide_process.running && !(READ_ONCE(elide_enabled) && rtm_test()));
}

/* The call is counted, and waits. @noted: it counts as a waiter; a sampled call always does */
static void wait_begins(struct elide_blocking *b, struct elide_thread *t, const void *object,
			bool noted)
{
	b->object = object;
	b->before = t->timed_out == object ? t->timed_out_cycles : 0;
	t->timed_out = NULL;
	elide_evidence_sleeps(t, b->row, &b->who);
	b->noted = noted || b->who.weight || profiles();
	if (b->noted)
		elide_waiters_add(object, 1);
	/* Not for a condition variable: the thread still holds the mutex, for which others wait. */
	if (unlikely(t->due.lock && b->row->kind != ELIDE_KIND_COND))
		elide_due_count(t);
	b->start = cycles_now();
	elide_wait_opens(t, b->row, 0, b->start);
}

void elide_blocking_begin(struct elide_blocking *b, const void *object, const void *site,
			  enum elide_kind kind, bool waits)
{
	b->row = may_count() ? row_of(object, site, kind) : NULL;
	b->object = NULL;
	b->known = NULL;
	b->noted = false;
	b->waits = waits && b->row;
	if (!b->row)
		return;
	/* Also if the semaphore has a unit left: a thread that takes units is a peer of those that wait. */
	elide_note_waited(elide_self, object);
	if (b->waits)
		wait_begins(b, elide_self, object, false);
}

/*
 * What stands for a futex that is not in an object's data: its call, in the half of the addresses that no program
 * has.
 */
static const void *call_as_lock(const void *site)
{
	return (const void *)((uintptr_t)site | 1ull << 47);
}

/* Is the futex a lock of kind ELIDE_KIND_LIBRARY? Its library waits for it in futex calls, as in g_cond_wait(). */
static bool is_library_lock(const void *word)
{
	uint32_t class_index = elide_registry_class(word);

	return class_index != ELIDE_NONE && elide_class_info(class_index)->kind == ELIDE_KIND_LIBRARY;
}

/* What the class of a futex is found by. */
static const void *futex_as_lock(const void *word, const void *site)
{
	struct elide_futex_place *p = &elide_futex_places[elide_waker_place(word)];
	const void *as = call_as_lock(site);
	bool in_object;

	elide_module_known(word, &in_object);
	if (in_object)
		return word;
	if (elide_waiters_any(word) && READ_ONCE(p->word) == word) {
		as = READ_ONCE(p->as);
		barrier();
		if (as && READ_ONCE(p->word) == word)
			return as;
		return call_as_lock(site);
	}
	WRITE_ONCE(p->word, NULL);
	barrier();
	WRITE_ONCE(p->as, as);
	barrier();
	WRITE_ONCE(p->word, word);
	return as;
}

void elide_blocking_begin_futex(struct elide_blocking *b, const void *word, const void *site,
				enum elide_kind kind)
{
	*b = (struct elide_blocking){0};
	if (!may_count())
		return;
	if (is_library_lock(word))
		b->row = row_of(word, site, ELIDE_KIND_FUTEX_LOCK);
	else
		b->row = row_of(futex_as_lock(word, site), site, kind);
	if (!b->row)
		return;
	b->waits = true;
	elide_note_waited(elide_self, word);
	wait_begins(b, elide_self, word, true);
}

/* Does what was found out for the thread's last wait hold for this one? */
static bool is_same(const struct elide_cond_call *k, const void *object, const void *mutex,
		    const void *site)
{
	return k->object == object && k->mutex == mutex && k->site == site &&
	       k->nr_calls == elide_self->nr_calls &&
	       k->object_tag == elide_registry_find(object) &&
	       k->mutex_tag == elide_registry_find(mutex) &&
	       (!k->locked_by || k->locked_by->lock == mutex);
}

/* Find out all about a wait that is unlike the thread's last one. elide_self may change. */
static __noinline struct elide_cond_call *cond_call_make(const void *object, const void *mutex,
							 const void *site)
{
	struct elide_row *row = row_of(object, site, ELIDE_KIND_COND);
	uint32_t tag = elide_registry_find(mutex);
	struct elide_thread *t = elide_self;
	struct elide_cond_call *k;

	if (!row)
		return NULL;
	k = &t->cond_call;
	WRITE_ONCE(k->object, NULL);
	k->mutex = mutex;
	k->site = site;
	k->object_tag = elide_registry_find(object);
	k->mutex_tag = tag;
	k->nr_calls = t->nr_calls;
	k->mutex_class = tag == ELIDE_NONE ? ELIDE_NONE : elide_tag_class(tag);
	k->row = row;
	k->reacquired = NULL;
	k->locked_by = adapt_call_of(t, mutex);
	WRITE_ONCE(k->object, object);
	return k;
}

void elide_blocking_begin_cond(struct elide_blocking *b, const void *object, const void *mutex,
			       const void *site, bool noted)
{
	struct elide_thread *t = elide_self;
	struct elide_cond_call *k = NULL;

	b->row = NULL;
	b->object = NULL;
	b->noted = false;
	b->waits = false;
	if (likely(may_count())) {
		k = t ? &t->cond_call : NULL;
		if (!k || !is_same(k, object, mutex, site))
			k = cond_call_make(object, mutex, site);
	}
	b->known = k;
	if (!k)
		return;
	t = elide_self;
	b->row = k->row;
	b->waits = true;
	if (k->locked_by)
		adapt_cond_wait(k->locked_by);
	/* In an oversubscribed process all threads sleep at once anyway. */
	if (k->mutex_class != ELIDE_NONE && !elide_oversubscribed())
		elide_cond_wait_seen(k->mutex_class);
	elide_note_waited(t, object);
	wait_begins(b, t, object, noted);
	WRITE_ONCE(elide_waited_with[elide_waker_place(object)], mutex);
}

static void waits_no_more(struct elide_blocking *b)
{
	/* A call without a row may be in a transaction of the program, which must not store to the record. */
	if (b->row && elide_self)
		elide_wait_closes(elide_self);
	if (b->noted)
		elide_waiters_add(b->object, -1);
	b->noted = false;
	b->object = NULL;
}

/*
 * @end: when the wait was over
 * @held: the lock that the thread holds now, for which others may wait; NULL: none
 */
static void end(struct elide_blocking *b, const void *object, uint64_t end, const void *held)
{
	struct elide_row *row = b->row;
	struct elide_waker waker;
	uint64_t cycles, late;
	bool known;

	if (!row)
		return;
	waits_no_more(b);
	if (b->waits) {
		known = (profiles() || b->who.weight) && elide_waker_find(object, b->start, end, &waker);
		late = known && profiles() ? end - waker.time : 0;
		cycles = b->before + end - b->start - late;
		if (unlikely(b->who.weight))
			elide_evidence_woken(row, known ? &waker : NULL, &b->who, cycles);
		/* Last: a handler may leave the global-lock path above by longjmp(). */
		if (held)
			elide_wait_over(elide_self, row, held, end - late, cycles, late);
		else
			elide_wait_count(elide_self, row, end - late, cycles, late);
	}
	counter_add(row->not_attempted, 1);
}

void elide_blocking_end(struct elide_blocking *b, const void *object)
{
	bool is_lock = elide_self && elide_has_posted(elide_self, object);

	end(b, object, b->waits ? cycles_now() : 0, is_lock ? object : NULL);
}

/*
 * The longest time in cycles from the end of a wait to one that continues it. Lock code spins before it waits again:
 * std's Mutex of Rust for 100 iterations, 5 us at 2.7 GHz. Chosen.
 */
#define AGAIN_MAX (1u << 15)

/* Take back the thread's last wait, if @b has gone on with it. Return: its cycles. */
static uint64_t wait_before(struct elide_thread *t, const struct elide_blocking *b, const void *word)
{
	struct elide_futex_wait *last = &t->futex;

	if (last->word != word || last->row != b->row || b->start - last->over > AGAIN_MAX)
		return 0;
	counter_add(b->row->not_attempted, -1ull);
	counter_add(b->row->contended, -1ull);
	counter_add(b->row->late, -last->late);
	elide_time_remove(&b->row->wait, b->row->wait_bins, last->cycles);
	return last->cycles + last->late;
}

void elide_blocking_end_futex(struct elide_blocking *b, const void *word)
{
	struct elide_thread *t = elide_self;
	struct elide_row *row = b->row;
	uint64_t now, cycles, late = 0;
	struct elide_waker waker;
	bool known = false;

	if (!row)
		return;
	now = cycles_now();
	waits_no_more(b);
	if (profiles() || b->who.weight)
		known = elide_waker_find_moved(word, b->start, now, &waker);
	if (known && profiles())
		late = now - waker.time;
	cycles = now - b->start - late;
	if (unlikely(b->who.weight))
		elide_evidence_woken(row, known ? &waker : NULL, &b->who, b->before + cycles);
	cycles += b->before + wait_before(t, b, word);
	elide_wait_count(t, row, now - late, cycles, late);
	counter_add(row->not_attempted, 1);
	t->futex = (struct elide_futex_wait){word, row, now, cycles, late};
}

void elide_blocking_failed(struct elide_blocking *b)
{
	if (!b->row)
		return;
	counter_add(b->row->failed, 1);
	if (!b->waits)
		return;
	elide_self->timed_out = b->object;
	elide_self->timed_out_cycles = b->before + cycles_now() - b->start;
	waits_no_more(b);
}

void elide_blocking_refused(struct elide_blocking *b)
{
	waits_no_more(b);
}

/* The counters of the acquisition after the wait. @k: what was known before it, or NULL */
static struct elide_row *reacquired_row(struct elide_cond_call *k, const void *object,
					const void *mutex, const void *site)
{
	struct elide_row *row;

	/* A fork may have wiped it, or a wait in a signal handler replaced it. */
	if (!k || k->object != object || k->mutex != mutex || k->site != site)
		return row_of(mutex, site, ELIDE_KIND_REACQUIRE);
	if (likely(k->reacquired))
		return k->reacquired;
	row = row_of(mutex, site, ELIDE_KIND_REACQUIRE);
	/* The call that row_of() may have added changes nothing of the rest. */
	k->nr_calls = elide_self->nr_calls;
	return k->reacquired = row;
}

void elide_blocking_reacquired(struct elide_blocking *b, const void *object, const void *mutex,
			       const void *site)
{
	struct elide_waker signalled, released;
	bool contended = false;
	struct elide_row *row;
	uint64_t now;

	if (!b->row)
		return;
	now = cycles_now();
	row = reacquired_row(b->known, object, mutex, site);
	if (!elide_waker_find(object, b->start, now, &signalled) ||
	    !elide_waker_find(mutex, signalled.time, now, &released)) {
		end(b, object, now, mutex);
	} else {
		end(b, object, signalled.time, mutex);
		if (row) {
			elide_evidence_reacquired(elide_self, row, mutex, released.by,
						  released.time - signalled.time);
			elide_wait_count(elide_self, row, released.time, released.time - signalled.time,
					 now - released.time);
			contended = true;
		}
	}
	if (!row)
		return;
	counter_add(row->not_attempted, 1);
	elide_hold_begin(elide_self, row, mutex, contended ? now & elide_hold_contended : 0);
}

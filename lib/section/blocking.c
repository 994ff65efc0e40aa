/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* blocking.c - see blocking.h. Must never store in a transaction. */
#include "../life/fill.h"
#include "blocking.h"
#include "held.h"

/* The counters of a call; NULL if it is not counted. */
static struct elide_row *row_of(const void *object, const void *site, enum elide_kind kind)
{
	struct elide_cache *entry = elide_cache_find(elide_self, object, site, kind);

	if (unlikely(!entry))
		entry = elide_cache_fill(object, site, kind);
	return entry ? elide_row(entry) : NULL;
}

/* Remember that the thread waits there: if it wakes others there, too, they are its peers. */
static void note_waited(struct elide_thread *t, const void *object)
{
	for (int i = 0; i < ELIDE_NR_WAITED; i++)
		if (t->waited[i] == object)
			return;
	t->waited[t->last_waited++ % ELIDE_NR_WAITED] = object;
}

void elide_blocking_begin(struct elide_blocking *b, const void *object, const void *site,
			  enum elide_kind kind, bool waits)
{
	b->row = NULL;
	b->object = NULL;
	if (unlikely(!elide_process.running || (READ_ONCE(elide_enabled) && rtm_test())))
		return;
	b->row = row_of(object, site, kind);
	b->waits = waits && b->row;
	if (!b->row)
		return;
	/* Also a semaphore that has a unit left: who takes units is a peer of who waits for them. */
	note_waited(elide_self, object);
	if (!b->waits)
		return;
	b->object = object;
	elide_waiters_add(object, 1);
	b->before = elide_self->timed_out == object ? elide_self->timed_out_cycles : 0;
	elide_self->timed_out = NULL;
	elide_evidence_sleeps(elide_self, b->row, &b->who);
	b->start = cycles_now();
}

static void waits_no_more(struct elide_blocking *b)
{
	if (b->object)
		elide_waiters_add(b->object, -1);
	b->object = NULL;
}

static void count_wait(struct elide_row *row, uint64_t cycles)
{
	counter_add(row->contended, 1);
	elide_time_add(&row->wait, row->wait_bins, cycles);
}

/* @end: when the wait was over. */
static void end(struct elide_blocking *b, const void *object, uint64_t end)
{
	struct elide_row *row = b->row;
	struct elide_waker waker;
	uint64_t cycles;
	bool known;

	if (!row)
		return;
	waits_no_more(b);
	if (b->waits) {
		cycles = b->before + end - b->start;
		if (unlikely(b->who.weight)) {
			known = elide_waker_find(object, b->start, end, &waker);
			elide_evidence_woken(row, known ? &waker : NULL, &b->who, cycles);
		}
		/* Last: a handler may leave the slow path before. */
		count_wait(row, cycles);
	}
	counter_add(row->not_attempted, 1);
}

void elide_blocking_end(struct elide_blocking *b, const void *object)
{
	end(b, object, b->waits ? cycles_now() : 0);
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

void elide_blocking_reacquired(struct elide_blocking *b, const void *object, const void *mutex,
			       const void *site)
{
	struct elide_waker signalled, released;
	struct elide_row *row;
	uint64_t now;

	if (!b->row)
		return;
	now = cycles_now();
	row = row_of(mutex, site, ELIDE_KIND_REACQUIRE);
	if (!elide_waker_find(object, b->start, now, &signalled) ||
	    !elide_waker_find(mutex, signalled.time, now, &released)) {
		end(b, object, now);
	} else {
		end(b, object, signalled.time);
		if (row) {
			elide_evidence_reacquired(elide_self, row, mutex, released.by,
						  now - signalled.time);
			count_wait(row, now - signalled.time);
		}
	}
	if (row)
		counter_add(row->not_attempted, 1);
}

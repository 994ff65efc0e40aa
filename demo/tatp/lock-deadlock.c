// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lock-deadlock.c - finds out whether a thread waits for itself (see lock.h).
 *
 * The search follows the edges "waits for" from the calling thread, with the latch of one
 * lock at a time. A cycle is complete when the last of its threads begins to wait, and the
 * others wait then and stay in it. So that thread finds it. A cycle whose edges were not
 * there at the same time may be found, too; then a transaction is repeated without need.
 */
#include "lock.h"

#include <string.h>

/**
 * struct search - a search
 * @open: clients to follow
 * @nr: number of clients in @open
 * @seen: clients that are, or have been, in @open
 */
struct search {
	uint16_t open[LOCK_CLIENTS_MAX];
	unsigned int nr;
	bool seen[LOCK_CLIENTS_MAX];
};

static void add(struct search *s, const struct lock_client *a)
{
	if (s->seen[a->nr])
		return;
	s->seen[a->nr] = true;
	s->open[s->nr++] = (uint16_t)a->nr;
}

/* True if @r waits for @other of the same queue; @before: @other is before it. */
static bool waits_for(const struct lock_request *r, const struct lock_request *other, bool before)
{
	enum lock_state state = lock_state(other);

	if (other == r || state == REQUEST_INACTIVE)
		return false;
	if (!lock_compatible((enum lock_mode)__atomic_load_n(&r->want, __ATOMIC_RELAXED),
			     (enum lock_mode)other->mode))
		return true;
	/* The queue: conversions come first, and a new request waits behind those before it. */
	return lock_state(r) == REQUEST_WAITING &&
	       (state == REQUEST_CONVERTING || (before && state == REQUEST_WAITING));
}

/* True if the request is the one that @a waits for, and waits in the queue of a latched lock. */
static bool waits_in(const struct lock_client *a, const struct lock_request *r,
		     const struct lock_head *head)
{
	enum lock_state state = lock_state(r);

	/* The head is written before the state, so a later use of the request has another one. */
	return (state == REQUEST_WAITING || state == REQUEST_CONVERTING) &&
	       __atomic_load_n(&r->head, __ATOMIC_RELAXED) == head &&
	       __atomic_load_n(&a->waiting, __ATOMIC_SEQ_CST) == r;
}

/* Add the clients that @a waits for. */
static void follow(struct search *s, const struct lock_client *a)
{
	const struct lock_request *r = __atomic_load_n(&a->waiting, __ATOMIC_SEQ_CST);
	bool before = true;
	struct lock_head *head;
	struct latch_hold hold;

	/*
	 * Memory of requests and heads keeps its type, so a request that is granted and used
	 * anew in the meantime has a head, or none yet.
	 */
	head = r ? __atomic_load_n(&r->head, __ATOMIC_RELAXED) : NULL;
	if (!head)
		return;
	latch_acquire(&head->latch, LATCH_WRITE, &hold);
	if (waits_in(a, r, head)) {
		for (const struct lock_request *other = head->first; other; other = other->next) {
			before = before && other != r;
			if (waits_for(r, other, before))
				add(s, other->client);
		}
	}
	latch_release(&head->latch, &hold);
}

/**
 * lock_deadlock() - true if the calling thread waits for itself
 * @a: its client, which waits
 */
bool lock_deadlock(struct lock_client *a)
{
	struct search s;

	s.nr = 0;
	memset(s.seen, 0, sizeof(s.seen));
	follow(&s, a);
	while (s.nr && !s.seen[a->nr])
		follow(&s, a->manager->clients[s.open[--s.nr]]);
	return s.seen[a->nr];
}

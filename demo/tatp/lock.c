// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lock.c - acquires locks, waits for them, and releases them at the end of a transaction (see
 * lock.h).
 */
#include "lock.h"

#include "sleep.h"

#include <errno.h>
#include <string.h>

/*
 * Longest sleep before a waiting thread looks for deadlocks again, 20 ms: a deadlock is
 * found when the last of its threads begins to wait, so this is a second look. A test has its own.
 */
#ifndef WAIT_NS
#define WAIT_NS 20000000
#endif

static struct lock_slot *slot_of(struct lock_client *a, uint64_t id)
{
	/* The page and the slot differ between the locks of a level, or the table does. */
	return &a->cache[lock_level(id)][(id ^ id >> 16 ^ id >> 48) % LOCK_CACHE];
}

/* The client's request of a lock, or NULL. */
static struct lock_request *find(struct lock_client *a, uint64_t id)
{
	struct lock_slot *slot = slot_of(a, id);
	struct lock_request *r = NULL;
	struct latch_hold hold;

	latch_acquire(&a->latch, LATCH_READ, &hold);
	if (slot->id == id && slot->request)
		r = slot->request;
	for (unsigned int i = 0; unlikely(a->lost) && i < a->nr_requests && !r; i++)
		if (a->list[i]->id == id)
			r = a->list[i];
	latch_release(&a->latch, &hold);
	return r;
}

/* Enter a request into the list and the table of its client. */
static void enter(struct lock_client *a, struct lock_request *r)
{
	struct lock_slot *slot = slot_of(a, r->id);
	struct latch_hold hold;

	latch_acquire(&a->latch, LATCH_WRITE, &hold);
	a->lost = a->lost || slot->request;
	*slot = (struct lock_slot){ .id = r->id, .request = r };
	a->list[a->nr_requests++] = r;
	latch_release(&a->latch, &hold);
}

static void forget_slot(struct lock_client *a, struct lock_request *r)
{
	struct lock_slot *slot = slot_of(a, r->id);

	if (slot->request == r)
		slot->request = NULL;
}

/* Take a request out of the list that is in no queue any more, mostly one of the last. */
static void forget(struct lock_client *a, struct lock_request *r)
{
	struct latch_hold hold;
	unsigned int at;

	latch_acquire(&a->latch, LATCH_WRITE, &hold);
	forget_slot(a, r);
	for (at = a->nr_requests - 1; a->list[at] != r; at--)
		;
	a->nr_requests--;
	memmove(a->list + at, a->list + at + 1, (a->nr_requests - at) * sizeof(*a->list));
	latch_release(&a->latch, &hold);
	lock_free(a, r);
}

static bool granted(const struct lock_request *r)
{
	return lock_state(r) == REQUEST_GRANTED;
}

/* Wait until a request is granted. Returns 0 or -EDEADLK; then it is as before the wait. */
static int lock_wait(struct lock_client *a, struct lock_request *r)
{
	int err = 0;

	a->counts.waits++;
	/* Sequentially consistent: of two threads that begin to wait, one sees the other one. */
	__atomic_store_n(&a->waiting, r, __ATOMIC_SEQ_CST);
	for (;;) {
		uint32_t woken = sleep_begin(&a->woken);

		if (granted(r))
			break;
		if (lock_deadlock(a) && lock_leave_queue(a, r, true)) {
			a->counts.deadlocks++;
			err = -EDEADLK;
			break;
		}
		__atomic_store_n(&a->sleeping, 1, __ATOMIC_SEQ_CST);
		sleep_on(&a->woken, woken, WAIT_NS);
		__atomic_store_n(&a->sleeping, 0, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&a->waiting, NULL, __ATOMIC_SEQ_CST);
	return err;
}

/*
 * Grant a mode, or count the request as waiting. Inherited locks that are in the way are
 * invalidated. Only a new request, which holds nothing, waits behind others.
 */
static bool try_grant(struct lock_head *head, struct lock_request *r, enum lock_mode mode)
{
	enum lock_mode own = (enum lock_mode)r->mode;
	bool first = own != LOCK_NL || !head->waiting;

	if (first && lock_grantable(head, mode, own))
		return true;
	__atomic_fetch_add(&head->waiting, 1, __ATOMIC_SEQ_CST);
	sli_invalidate(head, mode);
	if (!first || !lock_grantable(head, mode, own))
		return false;
	__atomic_fetch_sub(&head->waiting, 1, __ATOMIC_SEQ_CST);
	return true;
}

/*
 * What a request does that is not granted and that @waiting counts: it waits, or not. Others
 * that wait may be granted, because inherited locks were invalidated which their owner was about
 * to release. Returns 0 or -EAGAIN.
 */
static int or_wait(struct lock_head *head, struct lock_request *r, bool wait,
		   enum lock_state state, struct lock_wake *wake)
{
	if (wait)
		__atomic_store_n(&r->state, state, __ATOMIC_RELEASE);
	else
		__atomic_fetch_sub(&head->waiting, 1, __ATOMIC_SEQ_CST);
	if (wait && state == REQUEST_WAITING)
		lock_queue_add(head, r, NULL);
	lock_serve(head, wake);
	return wait ? 0 : -EAGAIN;
}

/* Convert a granted request to a stronger mode. */
static int convert(struct lock_client *a, struct lock_request *r, enum lock_mode mode, bool wait)
{
	struct lock_head *head = r->head;
	struct lock_wake wake;
	struct latch_hold hold;
	int err = 0;

	wake.nr = 0;
	lock_head_latch(head, &hold);
	if (try_grant(head, r, mode)) {
		head->held[r->mode]--;
		head->held[mode]++;
		r->mode = r->want = (uint8_t)mode;
	} else {
		r->want = wait ? (uint8_t)mode : r->mode;
		err = or_wait(head, r, wait, REQUEST_CONVERTING, &wake);
	}
	latch_release(&head->latch, &hold);
	lock_wake(&wake);
	return err || granted(r) ? err : lock_wait(a, r);
}

/* Acquire a lock of which the client has no request. */
static int acquire(struct lock_client *a, struct lock_request *r, enum lock_mode mode, bool wait)
{
	struct latch_hold hold;
	struct lock_head *head = lock_head_get(a, r->id, &hold);
	struct lock_wake wake;
	int err = 0;

	wake.nr = 0;
	__atomic_store_n(&r->head, head, __ATOMIC_RELAXED);
	r->want = (uint8_t)mode;
	if (try_grant(head, r, mode)) {
		r->mode = (uint8_t)mode;
		__atomic_store_n(&r->state, REQUEST_GRANTED, __ATOMIC_RELAXED);
		lock_queue_add(head, r, NULL);
	} else {
		err = or_wait(head, r, wait, REQUEST_WAITING, &wake);
	}
	latch_release(&head->latch, &hold);
	lock_wake(&wake);
	if (err)
		return err;
	a->counts.acquired++;
	enter(a, r);
	return granted(r) ? 0 : lock_wait(a, r);
}

/* The deadlock detection of another thread may still look at what the request was before. */
static void request_init(struct lock_client *a, struct lock_request *r, uint64_t id,
			 struct lock_request *parent)
{
	__atomic_store_n(&r->head, NULL, __ATOMIC_RELAXED);
	r->mode = LOCK_NL;
	__atomic_store_n(&r->want, LOCK_NL, __ATOMIC_RELAXED);
	r->left = r->keep = false;
	r->id = id;
	r->client = a;
	r->parent = parent;
}

/**
 * lock_acquire() - acquire a lock, or a stronger mode of it
 * @a: the client
 * @id: name of the lock
 * @mode: the mode
 * @wait: wait if necessary
 * @parent: the client's request of the level above, NULL for none
 * @request: receives the request, if not NULL
 *
 * Return: 0; -EDEADLK if waiting would not end; -EAGAIN if it would wait and may not;
 * -ENOMEM.
 */
int lock_acquire(struct lock_client *a, uint64_t id, enum lock_mode mode, bool wait,
		 struct lock_request *parent, struct lock_request **request)
{
	struct lock_request *r = find(a, id);
	int err = 0;

	if (r && !granted(r) && !sli_reuse(a, r)) {
		a->counts.invalidated++;
		forget(a, r);
		r = NULL;
	}
	if (r) {
		enum lock_mode sum = lock_sum((enum lock_mode)r->mode, mode);

		r->parent = parent;
		if (sum != r->mode)
			err = convert(a, r, sum, wait);
	} else {
		err = lock_memory(a);
		if (err)
			return err;
		r = a->requests;
		a->requests = r->next;
		request_init(a, r, id, parent);
		err = acquire(a, r, mode, wait);
		if (err == -EAGAIN)
			lock_free(a, r);
		else if (err)
			forget(a, r);
	}
	if (request)
		*request = r;
	return err;
}

static enum lock_mode intention(enum lock_mode mode)
{
	return mode == LOCK_IS || mode == LOCK_S ? LOCK_IS : LOCK_IX;
}

static int lock_above(struct lock_client *a, unsigned int store, enum lock_mode mode,
		      struct lock_request **table)
{
	struct lock_request *database;
	int err = lock_acquire(a, lock_id(LOCK_DATABASE, 0, 0, 0), intention(mode), true, NULL,
			       &database);

	return err ? err : lock_acquire(a, lock_id(LOCK_TABLE, store, 0, 0), mode, true, database,
					table);
}

/** lock_table() - lock a table or an index, after the database; as lock_acquire() */
int lock_table(struct lock_client *a, unsigned int store, enum lock_mode mode)
{
	return lock_above(a, store, mode, NULL);
}

/**
 * lock_row() - lock a row, after the database, its table and its page
 * @a: the client
 * @store: the table
 * @rid: the row
 * @mode: the mode
 * @wait: wait for the row if necessary
 *
 * Return: as lock_acquire().
 */
int lock_row(struct lock_client *a, unsigned int store, uint64_t rid, enum lock_mode mode,
	     bool wait)
{
	uint32_t page = (uint32_t)(rid >> 16);
	struct lock_request *table, *in;
	int err = lock_above(a, store, intention(mode), &table);

	if (!err)
		err = lock_acquire(a, lock_id(LOCK_PAGE, store, page, 0), intention(mode), wait,
				   table, &in);
	return err ? err : lock_acquire(a, lock_id(LOCK_ROW, store, page, rid & 0xffff), mode, wait,
					in, NULL);
}

/**
 * lock_key() - lock the entries of an index whose keys have a prefix, present or not
 * @a: the client
 * @store: the index
 * @key: number of the prefix
 * @mode: the mode
 *
 * Return: as lock_acquire().
 */
int lock_key(struct lock_client *a, unsigned int store, uint32_t key, enum lock_mode mode)
{
	struct lock_request *index;
	int err = lock_above(a, store, intention(mode), &index);

	return err ? err : lock_acquire(a, lock_id(LOCK_ROW, store, key, 0), mode, true, index,
					NULL);
}

/** lock_held() - mode of a lock that the client's transaction holds, LOCK_NL for none */
enum lock_mode lock_held(struct lock_client *a, uint64_t id)
{
	struct lock_request *r = find(a, id);

	return r && granted(r) ? (enum lock_mode)r->mode : LOCK_NL;
}

/**
 * lock_end() - end the locks of a transaction, after its end
 * @a: the client
 *
 * With speculative lock inheritance some of them stay for the next transaction.
 */
void lock_end(struct lock_client *a)
{
	/* A parent is before its children, which stay with it alone. */
	for (unsigned int i = 0; i < a->nr_requests && a->manager->inherit; i++)
		a->list[i]->keep = sli_keep(a, a->list[i]);
	for (unsigned int i = a->nr_requests; i-- > 0;) {
		struct lock_request *r = a->list[i];

		if (r->keep)
			continue;
		if (granted(r))
			lock_leave_queue(a, r, false);
		else
			a->counts.invalidated++;
		forget(a, r);
	}
	/* Requests whose slots were given to others are found in the list. */
	for (unsigned int i = 0; unlikely(a->lost); i++) {
		a->lost = i < a->nr_requests;
		if (a->lost && slot_of(a, a->list[i]->id)->request != a->list[i])
			break;
	}
}

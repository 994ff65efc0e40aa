// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sli.c - which locks a transaction leaves to the next one of its thread, and how such a
 * lock is used again or invalidated (see lock.h).
 */
#include "lock.h"

#include "sli-point.h"

/*
 * A head is hot if three quarters of the recent acquisitions of its latch were contended, as
 * in Shore-MT. A level above pages needs not be hot.
 */
#define HOT (256 * 3 / 4)

static bool change(struct lock_request *r, uint32_t from, uint32_t to)
{
	/*
	 * Acquire and release: the owner and the invalidating thread each see what the other
	 * one did with the request and its queue before.
	 */
	return __atomic_compare_exchange_n(&r->state, &from, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

/**
 * sli_reuse() - use an inherited lock
 * @a: its owner
 * @r: the request, which was inactive
 *
 * Return: false if it was invalidated.
 */
bool sli_reuse(struct lock_client *a, struct lock_request *r)
{
	sli_point(SLI_REUSING);
	if (!change(r, REQUEST_INACTIVE, REQUEST_GRANTED))
		return false;
	a->counts.reused++;
	return true;
}

/**
 * sli_invalidate() - take inherited locks that are in the way out of a queue
 * @head: the lock, latched, whose @waiting already counts the request of the caller
 * @mode: mode of that request
 */
void sli_invalidate(struct lock_head *head, enum lock_mode mode)
{
	struct lock_request *r, *next;

	sli_point(SLI_WAITING);
	for (r = head->first; r; r = next) {
		next = r->next;
		if (lock_compatible(mode, (enum lock_mode)r->mode) ||
		    __atomic_load_n(&r->state, __ATOMIC_SEQ_CST) != REQUEST_INACTIVE)
			continue;
		/* The owner may free the request after the CAS, so it leaves the queue before. */
		sli_point(SLI_INVALIDATING);
		lock_queue_remove(head, r);
		if (!change(r, REQUEST_INACTIVE, REQUEST_INVALID))
			lock_queue_add(head, r, next);
	}
}

/* True if the transaction may leave a granted request to the next one. */
static bool leavable(const struct lock_request *r)
{
	enum lock_level level = lock_level(r->id);

	if (level == LOCK_ROW || (r->parent && !r->parent->left))
		return false;
	if (r->mode != LOCK_IS && r->mode != LOCK_IX && r->mode != LOCK_S)
		return false;
	if (level == LOCK_PAGE && __atomic_load_n(&r->head->heat, __ATOMIC_RELAXED) < HOT)
		return false;
	return !__atomic_load_n(&r->head->waiting, __ATOMIC_RELAXED);
}

/* Leave a request. Returns false if it must be released. */
static bool leave(struct lock_client *a, struct lock_request *r)
{
	struct lock_head *head = r->head;

	if (!leavable(r))
		return false;
	sli_point(SLI_LEAVING);
	__atomic_store_n(&r->state, REQUEST_INACTIVE, __ATOMIC_SEQ_CST);
	sli_point(SLI_LEFT);
	a->counts.inherited++;
	/*
	 * Sequentially consistent, as the increment of @waiting and the load of the state in
	 * sli_invalidate(): either the waiting transaction finds the request inactive, or the
	 * owner finds that it waits. An invalidated request has left its queue, and the head
	 * may be another lock's; then the CAS fails.
	 */
	if (!__atomic_load_n(&head->waiting, __ATOMIC_SEQ_CST))
		return true;
	if (!change(r, REQUEST_INACTIVE, REQUEST_GRANTED))
		return true;
	a->counts.inherited--;
	return false;
}

/**
 * sli_keep() - what becomes of a request at the end of a transaction
 * @a: its owner
 * @r: the request
 *
 * Return: true if it stays in the client's list; else the caller releases it if it is granted,
 * or frees it if it is invalid.
 */
bool sli_keep(struct lock_client *a, struct lock_request *r)
{
	uint32_t state = __atomic_load_n(&r->state, __ATOMIC_SEQ_CST);

	if (state == REQUEST_GRANTED) {
		r->left = leave(a, r);
		return r->left;
	}
	/* It was not used. Those of a table or the database stay until they are invalidated. */
	if (state == REQUEST_INACTIVE && lock_level(r->id) <= LOCK_TABLE)
		return true;
	sli_point(SLI_DISCARDING);
	if (state == REQUEST_INACTIVE && change(r, REQUEST_INACTIVE, REQUEST_GRANTED))
		a->counts.discarded++;
	r->left = false;
	return false;
}

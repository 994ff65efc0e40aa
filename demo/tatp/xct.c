// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * xct.c - transactions: log records, commit and rollback.
 *
 * A transaction that changes nothing has no log records. It is committed or rolled back, which is
 * the same then.
 */
#include "sm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Greatest length of a record that is kept for the rollback: a row of half a page, twice. */
#define UNDO_RECORD_MAX (PAGE_BYTES + sizeof(struct log_record))

/**
 * xct_room() - have memory and room in the log for an operation that changes something
 * @x: the transaction; the thread holds no latch
 *
 * Return: 0, -ENOMEM, -ENOSPC if a log in memory is full, or the error of the log's store. A
 * rollback gets no error but the last one.
 */
int xct_room(struct xct *x)
{
	/* A rollback adds nothing to the records, which must not move then. */
	if (unlikely(!x->undoing && x->undo_max - x->undo_len < 4 * UNDO_RECORD_MAX)) {
		size_t max = 2 * x->undo_max + 4 * UNDO_RECORD_MAX;
		unsigned char *undo = realloc(x->undo, max);

		if (!undo)
			return -ENOMEM;
		x->undo = undo;
		x->undo_max = max;
	}
	return x->sm->logging ? log_room(&x->sm->log, x->undoing) : 0;
}

/* Insert the record of the transaction. The thread has the gate. */
static uint64_t insert(struct xct *x)
{
	struct log_record *r = x->record;

	if (!x->xid) {
		/* Threads are numbered below 2^16, and a number is used once. */
		x->xid = ++x->serial << 16 | (x->nr + 1);
		x->first = x->last = 0;
	}
	r->xid = x->xid;
	r->prev = x->last;
	r->compensation = x->undoing;
	r->undo_next = x->undo_next;
	x->last = log_insert(&x->sm->log, r);
	x->first = x->first ? x->first : x->last;
	return x->last;
}

/**
 * xct_change() - log the record of the transaction, and carry out its change
 * @x: the transaction, after xct_room()
 * @ref: the page, latched for writing
 */
void xct_change(struct xct *x, struct page_ref *ref)
{
	struct log_record *r = x->record;
	struct sm *sm = x->sm;
	struct latch_hold hold;
	uint64_t lsn = 1, len;

	if (sm->logging) {
		/* The checkpointer finds a page changed whose record is before the checkpoint's. */
		latch_acquire(&sm->gate, LATCH_READ, &hold);
		lsn = r->type == LOG_FORMAT ? log_insert(&sm->log, r) : insert(x);
		change_apply(ref->page, r);
		buffer_dirty(ref, lsn);
		latch_release(&sm->gate, &hold);
	} else {
		change_apply(ref->page, r);
		buffer_dirty(ref, lsn);
	}
	if (x->undoing || r->type == LOG_FORMAT)
		return;
	r->lsn = lsn;
	/* The length stands behind the record, too: a rollback goes backwards. */
	len = (r->len + 7) & ~7u;
	memcpy(x->undo + x->undo_len, r, r->len);
	x->undo_len += len;
	memcpy(x->undo + x->undo_len, &len, sizeof(len));
	x->undo_len += sizeof(len);
}

/* Reverse a change to an entry of an index, which may be in another page by now. */
static int undo_index(struct xct *x, const struct log_record *r)
{
	struct btree *tree = &x->sm->trees[r->store - SM_HEAPS];
	uint64_t entry[2];

	memcpy(entry, r->payload, sizeof(entry));
	if (r->type == LOG_INDEX_INSERT)
		return btree_delete(x, tree, entry[0]);
	return btree_insert(x, tree, entry[0], entry[1]);
}

/* Reverse a record of a transaction that is being rolled back. */
static int undo(struct xct *x, const struct log_record *r)
{
	struct page_ref ref;
	unsigned int before;
	int err = xct_room(x);

	if (err)
		return err;
	x->undo_next = r->prev;
	if (r->type == LOG_INDEX_INSERT || r->type == LOG_INDEX_DELETE)
		return undo_index(x, r);
	buffer_fix(&x->sm->buffer, r->page, LATCH_WRITE, &ref);
	change_reverse(x->record, r);
	before = ref.page->nr;
	xct_change(x, &ref);
	heap_changed(&x->sm->heaps[r->store], ref.page, before);
	buffer_unfix(&x->sm->buffer, &ref);
	return 0;
}

/* Reverse the records of @undo, the last one first. It needs no memory. */
static int undo_all(struct xct *x)
{
	size_t at = x->undo_len;
	int err = 0;

	while (at && !err) {
		uint64_t len;

		at -= sizeof(len);
		memcpy(&len, x->undo + at, sizeof(len));
		at -= len;
		err = undo(x, (const struct log_record *)(x->undo + at));
	}
	return err;
}

/*
 * The transaction leaves the list that the checkpointer reads, and has a record of that if it has
 * other ones. Returns the record's number, or 0.
 *
 * A transaction without records passes the gate, too, as in the public version of Shore-MT that has
 * xct_t::_xct_ended(): the list there has all transactions. It is "in the critical path of
 * transaction execution" (Cervini et al., DaMoN 2015, section 3.2) that this latch is acquired to
 * read.
 */
static uint64_t leave(struct xct *x, enum log_type type)
{
	struct latch_hold hold;
	uint64_t lsn = 0;

	if (x->xid)
		*x->record = (struct log_record){ .type = type, .len = sizeof(*x->record) };
	latch_acquire(&x->sm->gate, LATCH_READ, &hold);
	if (x->xid)
		lsn = insert(x);
	x->xid = 0;
	latch_release(&x->sm->gate, &hold);
	return lsn;
}

/* Forget what a rollback would need, and release or inherit the locks. */
static void end(struct xct *x)
{
	x->undo_len = 0;
	lock_end(x->locks);
}

/**
 * xct_commit() - commit a transaction
 * @x: the transaction
 *
 * Return: 0 once its changes are durable, or the error of the log's store; then it is unknown
 * whether they will be found after the program's end.
 */
int xct_commit(struct xct *x)
{
	uint64_t lsn = leave(x, LOG_COMMIT);
	int err = lsn ? log_durable(&x->sm->log, lsn) : 0;

	end(x);
	return err;
}

/**
 * xct_rollback() - reverse all changes of a transaction
 * @x: the transaction
 *
 * Return: 0, or the error of the log's store; then the transaction is rolled back by recovery.
 */
int xct_rollback(struct xct *x)
{
	int err = 0;

	x->undoing = true;
	if (x->undo_len)
		err = undo_all(x);
	x->undo_next = 0;
	/* With an error recovery ends it: the checkpointer goes on listing it. */
	if (!err)
		leave(x, LOG_END);
	x->undoing = false;
	end(x);
	return err;
}

/**
 * xct_recover() - roll a transaction back that had not ended when the log ended
 * @x: any thread's transaction
 * @xid: number of the transaction
 * @last: its last record
 *
 * Return: 0, -EBADMSG if one of its records is missing, or -errno.
 */
int xct_recover(struct xct *x, uint64_t xid, uint64_t last)
{
	struct log_record *r = malloc(LOG_RECORD_MAX);
	int err = r ? 0 : -ENOMEM;
	uint64_t lsn = last;

	x->xid = xid;
	x->first = x->last = last;
	x->undoing = true;
	while (lsn && !err) {
		err = log_fetch(&x->sm->log, lsn, r);
		if (err)
			break;
		lsn = r->compensation ? r->undo_next : r->prev;
		if (!r->compensation)
			err = undo(x, r);
	}
	x->undo_next = 0;
	if (!err)
		leave(x, LOG_END);
	x->undoing = false;
	free(r);
	return err;
}

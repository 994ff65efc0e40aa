// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * checkpoint.c - notes in the log where recovery has to begin.
 *
 * The checkpoint is fuzzy: transactions go on. Under the gate it reads the end of the log and
 * the transactions that have changed something. Changes before that are in their pages, so
 * the first of them that the volume has not got is found afterwards.
 */
#include "sm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/**
 * checkpoint_clean() - write all changed pages to the volume
 * @sm: the storage manager
 *
 * Return: 0 or -errno. Pages that are changed meanwhile may stay changed.
 */
int checkpoint_clean(struct sm *sm)
{
	int err;

	do {
		err = buffer_clean(&sm->buffer, sm->buffer.nr, NULL);
	} while (err == -EBUSY);
	return err;
}

/* Note the transactions in the payload. Returns the end of the log. */
static uint64_t list(struct sm *sm, struct log_record *r, uint64_t *forget)
{
	uint64_t *entry = (uint64_t *)r->payload + 1;
	struct latch_hold hold;
	uint64_t tail;

	latch_acquire(&sm->gate, LATCH_WRITE, &hold);
	tail = *forget = __atomic_load_n(&sm->log.tail, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < sm->nr_xcts; i++) {
		const struct xct *x = &sm->xcts[i];

		if (!x->xid)
			continue;
		*entry++ = x->xid;
		*entry++ = x->last;
		*forget = x->first < *forget ? x->first : *forget;
		r->n++;
	}
	latch_release(&sm->gate, &hold);
	return tail;
}

/**
 * checkpoint() - make a checkpoint
 * @sm: the storage manager; one caller at a time
 *
 * Return: 0, -ENOMEM, or the error of the volume or the log.
 */
int checkpoint(struct sm *sm)
{
	struct log_record *r = calloc(1, sizeof(*r) + 8 + 16 * sm->nr_xcts);
	uint64_t tail, forget, redo, lsn;
	int err;

	if (!r)
		return -ENOMEM;
	r->type = LOG_CHECKPOINT;
	tail = list(sm, r, &forget);
	redo = buffer_redo_lsn(&sm->buffer);
	redo = redo < tail ? redo : tail;
	forget = redo < forget ? redo : forget;
	memcpy(r->payload, &redo, sizeof(redo));
	r->len = (uint32_t)sizeof(*r) + 8 + 16u * r->n;
	lsn = log_insert(&sm->log, r);
	err = log_durable(&sm->log, lsn);
	/* Pages that are clean may not be durable yet. */
	if (!err)
		err = volume_sync(&sm->volume);
	if (!err)
		err = log_mark(&sm->log, lsn, forget);
	free(r);
	return err;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * recover.c - recovery as in ARIES (Mohan et al., "ARIES: a transaction recovery method
 * supporting fine-granularity locking and partial rollbacks using write-ahead logging", TODS
 * 17(1), 1992): read the log from the last checkpoint's first record on, repeat all changes, then
 * roll the transactions back that had not ended. A log or pages that are refused are as they were,
 * because nothing is written before all of them have been read.
 *
 * The log ends before the first record that is not valid. A valid record behind that one,
 * which says that the log was durable beyond it, shows that the log is damaged.
 */
#include "sm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* struct loser - the last transaction of a thread, if it has not ended */
struct loser {
	uint64_t xid;
	uint64_t last;
};

/**
 * struct redo - state of a recovery
 * @sm: the storage manager
 * @r: a record
 * @losers: by the number of the thread
 * @out: what was done
 * @why: receives the reason of an error
 * @len: size of @why
 */
struct redo {
	struct sm *sm;
	struct log_record *r;
	struct loser *losers;
	struct recovered *out;
	char *why;
	size_t len;
};

/* Numbers of threads in a transaction's number. */
#define XID_THREADS 65536

static int __attribute__((format(printf, 2, 3))) refuse(struct redo *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(d->why, d->len, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* Repeat a change of a page, if the page has not got it. */
static void redo_page(struct redo *d, uint32_t id, const void *image)
{
	struct page_ref ref;

	buffer_renew(&d->sm->buffer, id, &ref);
	if (ref.page->lsn < d->r->lsn) {
		if (image)
			memcpy(ref.page, image, PAGE_BYTES);
		else
			change_apply(ref.page, d->r);
		buffer_dirty(&ref, d->r->lsn);
		d->out->redone++;
	}
	buffer_unfix(&d->sm->buffer, &ref);
}

static void redo_record(struct redo *d)
{
	const struct log_record *r = d->r;
	uint32_t id;

	if (r->type == LOG_PAGES) {
		for (unsigned int i = 0; i < r->n; i++) {
			const unsigned char *image = r->payload + i * PAGE_BYTES;

			memcpy(&id, image + offsetof(struct page, id), sizeof(id));
			redo_page(d, id, image);
		}
	} else if (r->type != LOG_COMMIT && r->type != LOG_END && r->type != LOG_CHECKPOINT) {
		redo_page(d, r->page, NULL);
	}
}

/* Keep the table of transactions. */
static void note_xct(struct redo *d)
{
	struct loser *loser = &d->losers[d->r->xid % XID_THREADS];

	if (!d->r->xid)
		return;
	*loser = (struct loser){ .xid = d->r->xid, .last = d->r->lsn };
	if (d->r->type == LOG_COMMIT || d->r->type == LOG_END)
		loser->xid = 0;
	d->out->committed += d->r->type == LOG_COMMIT;
}

/* Refuse a log that is damaged at @at and not merely ends there. */
static int check_end(struct redo *d, uint64_t at)
{
	const struct log *log = &d->sm->log;

	for (uint64_t later = at + 8; later + sizeof(*d->r) <= log->store.end; later += 8)
		if (!log_fetch(log, later, d->r) && d->r->durable > at)
			return refuse(d, "is damaged at byte %" PRIu64, at);
	return 0;
}

/* Read the checkpoint. Returns 0 and where to begin, or -errno. */
static int read_checkpoint(struct redo *d, uint64_t *begin)
{
	const struct log *log = &d->sm->log;
	int err = log_fetch(log, log->last.checkpoint, d->r);

	if (err == -EBADMSG || (!err && d->r->type != LOG_CHECKPOINT))
		return refuse(d, "is damaged or truncated at its last checkpoint, byte %" PRIu64,
			      log->last.checkpoint);
	if (err)
		return refuse(d, "%s", strerror(-err));
	memcpy(begin, d->r->payload, sizeof(*begin));
	for (unsigned int i = 0; i < d->r->n; i++) {
		struct loser loser;

		memcpy(&loser, d->r->payload + 8 + i * sizeof(loser), sizeof(loser));
		d->losers[loser.xid % XID_THREADS] = loser;
	}
	return 0;
}

/* Read the log from the checkpoint's first record to its end. */
static int analyse(struct redo *d)
{
	uint64_t at = 0;
	int err = read_checkpoint(d, &at);

	if (err)
		return err;
	d->out->begin = at;
	while (!(err = log_fetch(&d->sm->log, at, d->r))) {
		note_xct(d);
		d->out->records++;
		at += d->r->len;
	}
	if (err != -EBADMSG)
		return refuse(d, "%s", strerror(-err));
	d->out->end = at;
	/* The checkpoint's record was durable before it was marked. */
	if (at <= d->sm->log.last.checkpoint)
		return refuse(d, "is damaged at byte %" PRIu64, at);
	return check_end(d, at);
}

/* Read the pages: each is whole, and has no change that the log has not got. */
static int check_pages(struct redo *d)
{
	struct page *page = malloc(sizeof(*page));
	int err = page ? volume_mend(&d->sm->volume) : -ENOMEM;

	for (uint32_t id = 1; id < d->sm->volume.nr && !err; id++) {
		err = volume_read(&d->sm->volume, id, page);
		if (err == -EBADMSG)
			err = refuse(d, ".pages is damaged at page %" PRIu32, id);
		else if (err)
			err = refuse(d, ".pages %s", strerror(-err));
		else if (page->lsn >= d->out->end)
			err = refuse(d, "is truncated at byte %" PRIu64 ": page %" PRIu32
				     " has a later change", d->out->end, id);
	}
	if (err && err != -EINVAL)
		err = refuse(d, "%s", strerror(-err));
	free(page);
	return err;
}

/* Repeat all changes. The log was read once and ends at @out->end. */
static int redo_all(struct redo *d)
{
	for (uint64_t at = d->out->begin; at < d->out->end; at += d->r->len) {
		int err = log_fetch(&d->sm->log, at, d->r);

		if (err)
			return refuse(d, "%s", strerror(-err));
		redo_record(d);
	}
	return 0;
}

/* Find the pages of the heaps with free rows, and the end of the volume. */
static void find_pages(struct redo *d)
{
	struct sm *sm = d->sm;
	uint32_t nr = sm->volume.nr, last = 0;

	for (uint32_t id = 1; id < nr; id++) {
		struct page_ref ref;

		buffer_fix(&sm->buffer, id, LATCH_READ, &ref);
		last = ref.page->id ? id : last;
		if (ref.page->kind == PAGE_HEAP)
			heap_changed(&sm->heaps[ref.page->store], ref.page,
				     heap_page_rows(ref.page->stride));
		buffer_unfix(&d->sm->buffer, &ref);
	}
	sm->volume.nr = last + 1;
}

static int undo_all(struct redo *d)
{
	for (unsigned int i = 0; i < XID_THREADS; i++) {
		int err;

		if (!d->losers[i].xid)
			continue;
		err = xct_recover(d->sm->xcts, d->losers[i].xid, d->losers[i].last);
		if (err == -EBADMSG)
			return refuse(d, "lacks a record of transaction %" PRIu64,
				      d->losers[i].xid);
		if (err)
			return refuse(d, "%s", strerror(-err));
		d->out->undone++;
	}
	return 0;
}

/**
 * recover() - bring pages and log to the state after the last durable commit
 * @sm: the storage manager, with a log and a volume that were opened
 * @out: receives what was done
 * @why: receives the reason of an error, to follow the name of the log
 * @len: size of @why in bytes
 *
 * Return: 0 or -errno.
 */
int recover(struct sm *sm, struct recovered *out, char *why, size_t len)
{
	struct redo d = { .sm = sm, .out = out, .why = why, .len = len };
	int err;

	*out = (struct recovered){ 0 };
	d.r = malloc(LOG_RECORD_MAX);
	d.losers = calloc(XID_THREADS, sizeof(*d.losers));
	if (!d.r || !d.losers) {
		err = refuse(&d, "%s", strerror(ENOMEM));
		goto free;
	}
	sm->logging = false;
	err = analyse(&d);
	if (!err)
		err = check_pages(&d);
	if (err)
		goto free;
	err = store_cut(&sm->log.store, out->end);
	if (err) {
		refuse(&d, "%s", strerror(-err));
		goto free;
	}
	log_continue(&sm->log, out->end);
	err = redo_all(&d);
	if (err)
		goto free;
	find_pages(&d);
	sm->logging = true;
	err = undo_all(&d);
free:
	free(d.losers);
	free(d.r);
	return err;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * log.c - inserts records and writes them to the store (see log.h).
 */
#include "log.h"

#include "io.h"
#include "sleep.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

/* Bytes of the ring: 16 MiB, and more for more than 80 threads. */
#define RING_BYTES (16u << 20)

/* Greatest time that a thread sleeps while another one writes, 0.1 s. */
#define SLEEP_NS 100000000

static uint32_t record_crc(const struct log_record *r)
{
	return io_crc((const char *)r + sizeof(r->crc), r->len - sizeof(r->crc));
}

/** log_seal() - set the checksum of a record */
void log_seal(struct log_record *r)
{
	r->crc = record_crc(r);
}

static int log_init(struct log *log, const struct log_options *opts)
{
	uint64_t reserve = (uint64_t)opts->threads * LOG_ROOM;

	log->ring_size = RING_BYTES;
	while (log->ring_size < 2 * reserve)
		log->ring_size *= 2;
	log->room = log->ring_size - reserve;
	log->group = opts->group;
	latch_init(&log->insert, LATCH_ROLE_log_insert);
	latch_init(&log->consolidate, LATCH_ROLE_log_consolidate);
	latch_init(&log->flush, LATCH_ROLE_log_flush);
	log_continue(log, LOG_BEGIN);
	return area_init(&log->ring, 1, log->ring_size);
}

/**
 * log_create() - make an empty log
 * @log: the log
 * @opts: where it is kept; the file must not exist
 * @id: database of the log
 *
 * Return: 0 or -errno; then log_close() in any case.
 */
int log_create(struct log *log, const struct log_options *opts, const struct identity *id)
{
	int err;

	memset(log, 0, sizeof(*log));
	log->identity = *id;
	err = store_create(&log->store, opts->path, id);
	return err ? err : log_init(log, opts);
}

/**
 * log_open() - open a log for recovery
 * @log: the log
 * @opts: its file
 * @why: receives the reason of an error, to follow the name of the file
 * @len: size of @why in bytes
 *
 * Return: 0 or -errno; then log_close() in any case.
 */
int log_open(struct log *log, const struct log_options *opts, char *why, size_t len)
{
	int err;

	memset(log, 0, sizeof(*log));
	err = store_open(&log->store, opts->path, &log->identity, &log->last, why, len);
	return err ? err : log_init(log, opts);
}

/** log_close() - close a log; records that are not durable are lost */
void log_close(struct log *log)
{
	store_close(&log->store);
	area_destroy(&log->ring);
}

/**
 * log_continue() - set the number of the next record, after recovery
 * @log: the log
 * @end: the number
 */
void log_continue(struct log *log, uint64_t end)
{
	log->tail = log->filled = log->durable = end;
}

/* Position in the store at which an inserting thread must wait; memory keeps a bounded part. */
static bool store_full(const struct log *log, uint64_t tail)
{
	return log->store.fd < 0 &&
	       tail - __atomic_load_n(&log->store.forgotten, __ATOMIC_RELAXED) + log->ring_size >
		       log->store.size;
}

/**
 * log_room() - wait until the ring has room for LOG_ROOM bytes of each thread
 * @log: the log
 * @undo: the records are of a rollback, for which a log in memory that is full has room yet: the
 *	  size of the ring
 *
 * Called without latches, before an operation that inserts records.
 *
 * Return: 0, -ENOSPC if a log in memory is full, or the error of the store.
 */
int log_room(struct log *log, bool undo)
{
	uint64_t tail = __atomic_load_n(&log->tail, __ATOMIC_RELAXED);
	int err = 0;

	if (unlikely(tail - __atomic_load_n(&log->durable, __ATOMIC_RELAXED) > log->room))
		err = log_flush(log);
	while (!undo && unlikely(store_full(log, tail)) && !err) {
		if (!__atomic_load_n(&log->kept, __ATOMIC_RELAXED))
			return -ENOSPC;
		sched_yield();
	}
	return err;
}

static void ring_copy(struct log *log, uint64_t lsn, const void *from, uint32_t len)
{
	uint64_t at = lsn % log->ring_size;
	uint64_t first = len < log->ring_size - at ? len : log->ring_size - at;

	memcpy(log->ring.base + at, from, first);
	memcpy(log->ring.base, (const char *)from + first, len - first);
}

/* Advance @filled over the pending ranges that it has reached. */
static void absorb(struct log *log)
{
	for (unsigned int i = 0; i < log->nr_pending;) {
		if (log->pending[i].from != log->filled) {
			i++;
			continue;
		}
		log->filled = log->pending[i].to;
		log->pending[i] = log->pending[--log->nr_pending];
		i = 0;
	}
}

/* Report that a range is in the ring. */
static void fill(struct log *log, uint64_t from, uint64_t to)
{
	struct latch_hold hold;
	bool done = false;

	while (!done) {
		latch_acquire(&log->consolidate, LATCH_WRITE, &hold);
		done = true;
		if (log->filled == from) {
			log->filled = to;
			absorb(log);
		} else if (log->nr_pending < LOG_PENDING) {
			log->pending[log->nr_pending].from = from;
			log->pending[log->nr_pending++].to = to;
		} else {
			done = false;
		}
		latch_release(&log->consolidate, &hold);
		if (!done)
			sched_yield();
	}
}

/**
 * log_insert() - insert a record
 * @log: the log, with room
 * @r: the record; its number, length and checksum are set
 *
 * Return: its number.
 */
uint64_t log_insert(struct log *log, struct log_record *r)
{
	struct latch_hold hold;

	r->len = (r->len + 7) & ~7u;
	r->durable = __atomic_load_n(&log->durable, __ATOMIC_RELAXED);
	latch_acquire(&log->insert, LATCH_WRITE, &hold);
	r->lsn = log->tail;
	__atomic_store_n(&log->tail, r->lsn + r->len, __ATOMIC_RELAXED);
	latch_release(&log->insert, &hold);
	log_seal(r);
	ring_copy(log, r->lsn, r, r->len);
	fill(log, r->lsn, r->lsn + r->len);
	return r->lsn;
}

/*
 * Wait for the threads that waited during the last write, at most half the time that it took:
 * they have begun another transaction since, and a write that comes too early would leave
 * them to the next one.
 */
static void gather(const struct log *log)
{
	uint64_t begin, most = log->sync_ns / 2;

	if (!log->group || log->store.fd < 0 || log->expected < 2)
		return;
	begin = now_ns();
	while (__atomic_load_n(&log->arrived, __ATOMIC_RELAXED) - log->covered < log->expected &&
	       now_ns() - begin < most)
		sched_yield();
}

/* The end of what is filled, once that is behind @lsn. */
static uint64_t filled_behind(struct log *log, uint64_t lsn)
{
	for (;;) {
		struct latch_hold hold;
		uint64_t filled;

		latch_acquire(&log->consolidate, LATCH_WRITE, &hold);
		filled = log->filled;
		latch_release(&log->consolidate, &hold);
		if (filled > lsn)
			return filled;
		sched_yield();
	}
}

/* Write a part of the ring to the store. */
static int write_ring(struct log *log, uint64_t from, uint64_t to)
{
	uint64_t at = from % log->ring_size, len = to - from;
	uint64_t first = len < log->ring_size - at ? len : log->ring_size - at;
	int err = store_write(&log->store, from, log->ring.base + at, first);

	if (!err && len > first)
		err = store_write(&log->store, from + first, log->ring.base, len - first);
	return err ? err : store_sync(&log->store);
}

/* A field of a record in the ring, where the record may begin at the end of the ring. */
static void ring_field(const struct log *log, uint64_t at, void *field, size_t len)
{
	/* Fields are within 8 bytes, which do not wrap, as records are multiples of 8. */
	memcpy(field, log->ring.base + at % log->ring_size, len);
}

/* The end of the first commit from @from on, at most that of the record @lsn. */
static uint64_t first_commit(const struct log *log, uint64_t from, uint64_t lsn)
{
	for (;;) {
		uint32_t len;
		uint8_t type;

		ring_field(log, from + offsetof(struct log_record, len), &len, sizeof(len));
		ring_field(log, from + offsetof(struct log_record, type), &type, sizeof(type));
		from += len;
		if (from > lsn || type == LOG_COMMIT)
			return from;
	}
}

/*
 * Write what is filled, or without group commit and @all one commit. The caller has set @flushing
 * and holds no latch.
 */
static void flush(struct log *log, uint64_t lsn, bool all)
{
	uint64_t from = log->durable, to, begin, took, before = log->covered;
	struct latch_hold hold;
	int err;

	gather(log);
	log->covered = __atomic_load_n(&log->arrived, __ATOMIC_RELAXED);
	to = filled_behind(log, lsn);
	if (!log->group && !all)
		to = first_commit(log, from, lsn);
	begin = now_ns();
	err = write_ring(log, from, to);
	/* Not in the section: where reading the clock is a system call, it would abort. */
	took = now_ns() - begin;
	latch_acquire(&log->flush, LATCH_WRITE, &hold);
	if (err)
		log->err = err;
	else
		__atomic_store_n(&log->durable, to, __ATOMIC_RELAXED);
	log->sync_ns = took;
	log->syncs++;
	log->flushing = false;
	log->expected = __atomic_load_n(&log->arrived, __ATOMIC_RELAXED) - before;
	latch_release(&log->flush, &hold);
	sleep_end(&log->written, &log->waiting, 1);
}

/* Wait until the log is durable behind @lsn, which without @all is a record's number. */
static int make_durable(struct log *log, uint64_t lsn, bool all)
{
	bool counted = false;
	int err;

	for (;;) {
		uint32_t written = sleep_begin(&log->written);
		struct latch_hold hold;
		bool done, lead;

		latch_acquire(&log->flush, LATCH_WRITE, &hold);
		err = log->err;
		done = err || log->durable > lsn;
		lead = !done && !log->flushing;
		if (lead)
			log->flushing = true;
		latch_release(&log->flush, &hold);
		if (done)
			break;
		if (!counted) {
			__atomic_fetch_add(&log->arrived, 1, __ATOMIC_RELAXED);
			__atomic_fetch_add(&log->waiting, 1, __ATOMIC_SEQ_CST);
		}
		counted = true;
		if (lead)
			flush(log, lsn, all);
		else
			sleep_on(&log->written, written, SLEEP_NS);
	}
	if (counted)
		__atomic_fetch_sub(&log->waiting, 1, __ATOMIC_RELAXED);
	return err;
}

/**
 * log_durable() - wait until a record is durable
 * @log: the log
 * @lsn: number of the record
 *
 * Return: 0, or the error of the store.
 */
int log_durable(struct log *log, uint64_t lsn)
{
	return make_durable(log, lsn, false);
}

/**
 * log_flush() - wait until all records that were inserted before the call are durable
 * @log: the log
 *
 * Return: 0, or the error of the store.
 */
int log_flush(struct log *log)
{
	return make_durable(log, __atomic_load_n(&log->tail, __ATOMIC_RELAXED) - 1, true);
}

/**
 * log_identity() - read which database the file of a log belongs to
 * @path: the file
 * @id: receives it
 * @why: receives the reason of an error, to follow the name of the file
 * @len: size of @why in bytes
 *
 * Return: 0 or -errno.
 */
int log_identity(const char *path, struct identity *id, char *why, size_t len)
{
	struct log_position last;
	struct log_store store;
	int err = store_open(&store, path, id, &last, why, len);

	store_close(&store);
	return err;
}

/**
 * log_mark() - note the last checkpoint
 * @log: the log
 * @checkpoint: number of its record, which is durable
 * @forget: no record before this one is needed any more
 *
 * Return: 0, or the error of the store.
 */
int log_mark(struct log *log, uint64_t checkpoint, uint64_t forget)
{
	struct log_position last = { .checkpoint = checkpoint, .serial = log->last.serial + 1 };
	int err = store_mark(&log->store, &last);

	if (err)
		return err;
	log->last = last;
	__atomic_store_n(&log->store.forgotten, forget, __ATOMIC_RELAXED);
	return 0;
}

/**
 * log_fetch() - read a record from the store
 * @log: the log
 * @lsn: its number
 * @r: receives it; has room for LOG_RECORD_MAX bytes
 *
 * Return: 0, or -EBADMSG if there is no valid record, or -errno.
 */
int log_fetch(const struct log *log, uint64_t lsn, struct log_record *r)
{
	int err = store_read(&log->store, lsn, r, sizeof(*r));

	if (err)
		return err;
	if (r->lsn != lsn || r->len < sizeof(*r) || r->len > LOG_RECORD_MAX || r->len % 8 ||
	    r->type <= LOG_NONE || r->type >= NR_LOG_TYPES)
		return -EBADMSG;
	err = store_read(&log->store, lsn, r, r->len);
	if (err)
		return err;
	return r->crc == record_crc(r) ? 0 : -EBADMSG;
}

/** log_at_rest() - true if no latch of the log is held and no record is on its way */
bool log_at_rest(const struct log *log)
{
	return !latch_held(&log->insert) && !latch_held(&log->consolidate) &&
	       !latch_held(&log->flush) && !log->flushing && !log->waiting &&
	       log->filled == log->tail && !log->nr_pending;
}

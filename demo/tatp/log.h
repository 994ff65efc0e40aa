/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log.h - the write-ahead log.
 *
 * The number of a record (LSN) is its position in the log. A record goes through a ring:
 *
 *	tail		the next record gets this number		latch log_insert
 *	filled		all records before it are in the ring		latch log_consolidate
 *	durable		all records before it are in the store		latch log_flush
 *
 * A thread gets a range of the ring under the first latch, copies its record without a
 * latch, and reports the range under the second. A range that is reported before an earlier
 * one waits in @pending. The store is memory or a file. The thread that needs a record in
 * the store writes all that is filled, and with it the records of the threads that wait
 * (group commit); while it writes, it holds no latch.
 */
#ifndef DEMO_TATP_LOG_H
#define DEMO_TATP_LOG_H

#include "latch/latch.h"
#include "volume.h"

/* Number of the first record: the file has its header before. */
#define LOG_BEGIN 4096

/* Greatest length of a record: three pages and the header. */
#define LOG_RECORD_MAX (3 * PAGE_BYTES + 128)

/* Bytes of the records that a thread inserts between two calls of log_room(), at most. */
#define LOG_ROOM (4 * LOG_RECORD_MAX)

/* Ranges that may wait for an earlier one. */
#define LOG_PENDING 64

enum log_type {
	LOG_NONE,
	LOG_COMMIT,
	LOG_END,	  /* the transaction was rolled back */
	LOG_ROW_UPDATE,	  /* n bytes at off: before, after */
	LOG_ROW_INSERT,	  /* n bytes: the row */
	LOG_ROW_DELETE,	  /* n bytes: the row */
	LOG_INDEX_INSERT, /* key, value */
	LOG_INDEX_DELETE, /* key, value */
	LOG_FORMAT,	  /* a page of a heap; off is the number of bytes of a row */
	LOG_PAGES,	  /* n whole pages, as after a split */
	LOG_CHECKPOINT,	  /* first record to repeat, then number and last record of transactions */
	NR_LOG_TYPES,
};

/**
 * struct log_record - a record of the log
 * @crc: checksum of all that follows
 * @len: bytes of the record with its payload, a multiple of 8
 * @lsn: its number
 * @durable: records before this number were durable when this one was inserted
 * @xid: transaction, 0 for none
 * @prev: the transaction's record before this one, 0 for none
 * @undo_next: of a compensation: the record that rolling back goes on with
 * @type: an enum log_type
 * @compensation: the record reverses another one, and is never reversed itself
 * @store: heap or tree
 * @page: page that was changed
 * @slot: row of the page
 * @off: offset within the row
 * @n: number of bytes or pages
 */
struct log_record {
	uint32_t crc;
	uint32_t len;
	uint64_t lsn;
	uint64_t durable;
	uint64_t xid;
	uint64_t prev;
	uint64_t undo_next;
	uint8_t type;
	uint8_t compensation;
	uint16_t store;
	uint32_t page;
	uint16_t slot;
	uint16_t off;
	uint16_t n;
	uint16_t reserved;
	unsigned char payload[];
};

_Static_assert(sizeof(struct log_record) == 64, "the header has no padding");

/**
 * struct log_options - the user's choices
 * @path: file of the log, NULL for memory
 * @group: a write of the log may end the commits of several transactions
 * @threads: number of threads that insert records
 */
struct log_options {
	const char *path;
	bool group;
	unsigned int threads;
};

/**
 * struct log_store - where the log is kept
 * @fd: the file, or -1
 * @memory: a ring of @size bytes
 * @size: its size
 * @end: of a log that was opened: its end; else UINT64_MAX
 * @forgotten: records before it are not needed any more
 */
struct log_store {
	int fd;
	struct area memory;
	uint64_t size;
	uint64_t end;
	uint64_t forgotten;
};

/**
 * struct log_position - a checkpoint
 * @checkpoint: number of its record, 0 for none
 * @serial: number of checkpoints
 */
struct log_position {
	uint64_t checkpoint;
	uint64_t serial;
};

/**
 * struct log - a log
 * @store: where it is kept
 * @ring: records on their way to the store, of @ring_size bytes
 * @room: distance of @tail from @durable at which inserting threads write the log
 * @group: several commits may share a write
 * @kept: a helper makes checkpoints, so that a full memory gets room
 * @identity: database of the log
 * @last: the last checkpoint
 * @insert: latch of @tail
 * @consolidate: latch of @filled, @pending and @nr_pending
 * @flush: latch of @durable, @flushing and @err; @expected and @covered are those of the
 *	   thread that writes
 * @flushing: a thread writes
 * @err: the first error of the store, which all later commits get
 * @expected: number of threads that waited during the last write, for it or for the next one
 * @covered: @arrived when the last write began
 * @arrived: number of times that a thread began to wait
 * @waiting: threads that need a record durable
 * @written: changes after each write, for sleep_on()
 * @sync_ns: duration of the last write
 * @syncs: number of writes
 */
struct log {
	struct log_store store;
	struct area ring;
	uint64_t ring_size;
	uint64_t room;
	bool group;
	bool kept;
	struct identity identity;
	struct log_position last;
	struct latch insert;
	uint64_t tail __cacheline_aligned;
	struct latch consolidate;
	uint64_t filled __cacheline_aligned;
	unsigned int nr_pending;
	struct {
		uint64_t from, to;
	} pending[LOG_PENDING];
	struct latch flush;
	uint64_t durable __cacheline_aligned;
	bool flushing;
	int err;
	uint64_t expected;
	uint64_t covered;
	uint64_t arrived __cacheline_aligned;
	unsigned int waiting;
	uint32_t written;
	uint64_t sync_ns;
	uint64_t syncs;
};

int log_create(struct log *log, const struct log_options *opts, const struct identity *id);
int log_open(struct log *log, const struct log_options *opts, char *why, size_t len);
void log_close(struct log *log);
int log_room(struct log *log, bool undo);
void log_seal(struct log_record *r);
uint64_t log_insert(struct log *log, struct log_record *r);
int log_durable(struct log *log, uint64_t lsn);
int log_flush(struct log *log);
int log_identity(const char *path, struct identity *id, char *why, size_t len);
int log_mark(struct log *log, uint64_t checkpoint, uint64_t forget);
int log_fetch(const struct log *log, uint64_t lsn, struct log_record *r);
void log_continue(struct log *log, uint64_t end);
bool log_at_rest(const struct log *log);

int store_create(struct log_store *s, const char *path, const struct identity *id);
int store_open(struct log_store *s, const char *path, struct identity *id,
	       struct log_position *last, char *why, size_t len);
void store_close(struct log_store *s);
int store_write(struct log_store *s, uint64_t at, const void *buf, size_t len);
int store_read(const struct log_store *s, uint64_t at, void *buf, size_t len);
int store_sync(const struct log_store *s);
int store_mark(struct log_store *s, const struct log_position *last);
int store_cut(struct log_store *s, uint64_t end);

#endif

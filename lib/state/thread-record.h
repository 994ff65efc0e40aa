/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * thread-record.h - records of threads in the data file: which thread counted what.
 *
 * Outside transactions, and not in each acquisition.
 */
#ifndef ELIDE_THREAD_RECORD_H
#define ELIDE_THREAD_RECORD_H

#include "thread.h"

#pragma GCC visibility push(hidden)

/**
 * elide_thread_record_make() - make the record of a new block; without room it gets none.
 *
 * In a global-lock path.
 */
void elide_thread_record_make(struct elide_thread *t);

/**
 * elide_thread_record_is_made() - can elide_thread_record_begin() do without a global-lock path?
 * @t: a block that the calling thread alone uses
 *
 * Not if the record of past threads of a name is to be made.
 */
bool elide_thread_record_is_made(const struct elide_thread *t);

/**
 * elide_thread_record_begin() - a thread has got a block: begin its record.
 * @t: the block of the calling thread
 *
 * Keeps the sums of the block's rows in the record, and adds what the block's last thread has counted to the
 * record of past threads of its name. In a global-lock path, or if elide_thread_record_is_made().
 */
void elide_thread_record_begin(struct elide_thread *t);

/** elide_thread_record_end() - the thread of a block has ended. */
void elide_thread_record_end(struct elide_thread *t);

/**
 * elide_thread_record_name() - the calling thread makes a row.
 *
 * Its name, which it may set meanwhile, is read when it begins, and again with its second, third, fifth,
 * ninth row and so on.
 */
void elide_thread_record_name(struct elide_thread *t);

/** elide_thread_records_end() - the process ends: read the names of its threads for the last time. */
void elide_thread_records_end(void);

/** elide_thread_records_forget() - in a forked child: there are no records. */
void elide_thread_records_forget(void);

/**
 * elide_wait_opens() - a thread begins to wait. From its record readers count the wait while it lasts, also
 * if the process is killed before it ends.
 * @t: the calling thread, outside transactions
 * @row: counters of the call
 * @holder: thread id in the lock, 0 if it has none
 * @since: time-stamp counter
 */
static inline void elide_wait_opens(struct elide_thread *t, const struct elide_row *row, uint32_t holder,
				    uint64_t since)
{
	struct elide_thread_record *r = t->record;

	if (unlikely(!r))
		return;
	r->waits_class = row->class_index;
	r->waits_kind = row->kind;
	r->waits_site = row->site;
	r->waits_for = holder;
	barrier(); /* a reader finds all or nothing */
	WRITE_ONCE(r->waits_since, since);
}

/** elide_wait_closes() - the wait is over, and is counted or has failed. */
static inline void elide_wait_closes(struct elide_thread *t)
{
	if (likely(t->record))
		WRITE_ONCE(t->record->waits_since, 0);
}

#pragma GCC visibility pop

#endif

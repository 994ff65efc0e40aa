/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * thread-record.h - which thread counted what: its record in the data file.
 *
 * Used outside transactions; nothing here is done for an acquisition.
 */
#ifndef ELIDE_THREAD_RECORD_H
#define ELIDE_THREAD_RECORD_H

#include "thread.h"

#pragma GCC visibility push(hidden)

/**
 * elide_thread_record_make() - make the record of a block that no thread has had.
 *
 * In a global-lock path. Where there is no room for it the block goes without.
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
 * elide_thread_record_begin() - a thread has got a block: its record begins.
 * @t: the block of the calling thread
 *
 * What the rows of the block have is kept in the record; what the thread counted that had the block
 * before goes to the record of past threads of its name. In a global-lock path, or where
 * elide_thread_record_is_made().
 */
void elide_thread_record_begin(struct elide_thread *t);

/** elide_thread_record_end() - the thread of a block has ended. */
void elide_thread_record_end(struct elide_thread *t);

/**
 * elide_thread_record_name() - the calling thread makes a row.
 *
 * Its name is read when it begins, and again with its second, fourth, eighth row and so on: it
 * may have got one meanwhile.
 */
void elide_thread_record_name(struct elide_thread *t);

/** elide_thread_records_end() - the process ends: read the names of its threads for the last time. */
void elide_thread_records_end(void);

/** elide_thread_records_forget() - in a forked child: there are no records. */
void elide_thread_records_forget(void);

#pragma GCC visibility pop

#endif

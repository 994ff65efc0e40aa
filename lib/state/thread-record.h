/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * thread-record.h - which thread counted what: its record in the data file.
 *
 * Used in slow paths only, outside transactions; nothing here is done for an acquisition.
 */
#ifndef ELIDE_THREAD_RECORD_H
#define ELIDE_THREAD_RECORD_H

#include "thread.h"

#pragma GCC visibility push(hidden)

/**
 * elide_thread_record_begin() - a thread has got a block: its record begins.
 * @t: the block of the calling thread
 *
 * What the rows of the block have is kept in the record; what the thread counted that had the block
 * before goes to the record of past threads of its name.
 */
void elide_thread_record_begin(struct elide_thread *t);

/** elide_thread_record_end() - the thread of a block has ended. */
void elide_thread_record_end(struct elide_thread *t);

/**
 * elide_thread_record_name() - read the name of the calling thread again, which may have got one
 * since it began. After the first ELIDE_NAME_READS times it does nothing.
 */
void elide_thread_record_name(struct elide_thread *t);

/* A thread that is given a name is given it at its beginning. Chosen here. */
#define ELIDE_NAME_READS 32

/** elide_thread_records_end() - the process ends: read the names of its threads for the last time. */
void elide_thread_records_end(void);

/** elide_thread_records_forget() - in a forked child: there are no records. */
void elide_thread_records_forget(void);

#pragma GCC visibility pop

#endif

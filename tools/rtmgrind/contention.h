/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * contention.h - which core gets a line next if several request it; see contention.c.
 *
 * Must never know what a cache is.
 */
#ifndef RTMGRIND_CONTENTION_H
#define RTMGRIND_CONTENTION_H

#include "directory.h"

void contention_init(UInt nr_threads);
Bool contention_busy(const struct shared_line *entry);
Int contention_next_core(const struct shared_line *entry);
Bool contention_take(struct shared_line *entry, Int core, Bool write);
void contention_done(ThreadId tid, Long hold);
void contention_cancel(ThreadId tid);
void contention_forked(void);

#endif

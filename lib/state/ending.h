/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ending.h - the kernel tells in a thread's block that the thread has ended.
 *
 * When a thread ends, the kernel walks its list of robust futexes (set_robust_list(2)) and marks each
 * whose word has the thread's id. A word of the thread's block is in that list, as if it were a robust
 * mutex that the thread holds. So the end of a detached thread is found without a system call, and the
 * mark is there before the thread can be joined. If the list cannot be used, tgkill(2) has to tell.
 */
#ifndef ELIDE_ENDING_H
#define ELIDE_ENDING_H

#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>

#include "../compiler.h"

#pragma GCC visibility push(hidden)

/**
 * struct elide_ending - an entry of a thread's list, laid out as the robust mutexes of libc beside it.
 * @word: id of the thread; FUTEX_OWNER_DIED once it has ended
 * @unused: bytes that nobody reads
 * @prev: of the list; libc writes it when the thread locks or unlocks robust mutexes
 * @next: of the list, which the kernel follows; NULL: the entry is not in a list
 */
struct elide_ending {
	uint32_t word;
	uint32_t unused[5];
	void *prev;
	void *next;
};

/** elide_ending_start() - find out where libc has the list of a thread. Called by the first thread. */
void elide_ending_start(void);

/**
 * elide_ending_begin() - the calling thread begins to use @e.
 * @tid: its Linux thread id
 *
 * The thread that used @e before has ended.
 */
void elide_ending_begin(struct elide_ending *e, uint32_t tid);

/** elide_ending_is_known() - does the kernel tell the end of the thread that uses @e? */
static inline bool elide_ending_is_known(const struct elide_ending *e)
{
	return READ_ONCE(e->next) != NULL;
}

/** elide_ending_is_over() - has the kernel told that the thread has ended? It no longer runs. */
static inline bool elide_ending_is_over(const struct elide_ending *e)
{
	return __atomic_load_n(&e->word, __ATOMIC_ACQUIRE) & FUTEX_OWNER_DIED;
}

#pragma GCC visibility pop

#endif

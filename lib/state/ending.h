/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ending.h - the kernel tells in a thread's block that the thread has ended.
 *
 * When a thread ends, the kernel walks its list of robust futexes (set_robust_list(2)) and marks
 * each whose word has the thread's id. A thread with a block has a word of the block in that
 * list, as if it were a robust mutex that the thread holds. So no system call asks for a detached
 * thread, and the mark is there before the thread can be joined. Of a thread whose list cannot
 * be used tgkill(2) tells it.
 */
#ifndef ELIDE_ENDING_H
#define ELIDE_ENDING_H

#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>

#include "../compiler.h"

#pragma GCC visibility push(hidden)

/**
 * struct elide_ending - an entry of a thread's list, laid out as libc's robust mutexes are,
 * beside which it is.
 * @word: id of the thread; FUTEX_OWNER_DIED once it has ended
 * @unused: bytes that nobody reads
 * @prev: of the list; libc writes it where the thread locks and unlocks robust mutexes
 * @next: of the list, which the kernel follows; NULL: there is no such entry
 */
struct elide_ending {
	uint32_t word;
	uint32_t unused[5];
	void *prev;
	void *next;
};

/** elide_ending_start() - find out where libc has the list of a thread. By the first thread. */
void elide_ending_start(void);

/**
 * elide_ending_begin() - the calling thread begins to use @e.
 * @tid: its Linux thread id
 *
 * The thread that has used @e before has ended.
 */
void elide_ending_begin(struct elide_ending *e, uint32_t tid);

/** elide_ending_is_known() - does the kernel tell the end of the thread that uses @e? */
static inline bool elide_ending_is_known(const struct elide_ending *e)
{
	return READ_ONCE(e->next) != NULL;
}

/**
 * elide_ending_is_over() - has the thread ended, as the kernel has told? It does not run any
 * more.
 */
static inline bool elide_ending_is_over(const struct elide_ending *e)
{
	return __atomic_load_n(&e->word, __ATOMIC_ACQUIRE) & FUTEX_OWNER_DIED;
}

#pragma GCC visibility pop

#endif

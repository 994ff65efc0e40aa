/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ending.c - see ending.h. */
#include <stddef.h>

#include "../base/syscalls.h"
#include "../emulator.h"
#include "ending.h"

/*
 * Offset of the word of an entry from its @next, by which the kernel finds it: one for all entries of a list.
 */
#define WORD_AT \
	((long)offsetof(struct elide_ending, word) - (long)offsetof(struct elide_ending, next))

/*
 * The head of a list must lie in this number of bytes behind the thread pointer: libc's struct pthread.
 */
#define MOST 4096

/* Offset of the head of a thread's list from the thread pointer; 0: not known, or of no use. */
static uint32_t head_at;

void elide_ending_start(void)
{
	const char *self = __builtin_thread_pointer();
	struct robust_list_head *head = NULL;
	size_t size = 0, at;

	/* Under Valgrind a thread ends at another time for the kernel than for the program. */
	if (valgrind_runs() || sys_call(get_robust_list, 0, (long)&head, (long)&size, 0, 0, 0))
		return;
	at = (const char *)head - self;
	if (head && size == sizeof(*head) && at < MOST && head->futex_offset == WORD_AT)
		head_at = at;
}

void elide_ending_begin(struct elide_ending *e, uint32_t tid)
{
	char *self = __builtin_thread_pointer();
	struct robust_list_head *head = (struct robust_list_head *)(self + head_at);

	e->next = NULL;
	/* A list that is not empty has mutexes of the program, whose memory may be gone. */
	if (!head_at || head->futex_offset != WORD_AT || READ_ONCE(head->list.next) != &head->list)
		return;
	e->word = tid;
	e->prev = &head->list;
	WRITE_ONCE(e->next, &head->list);
	/* The thread may be killed at any point, and then the kernel reads the list. */
	barrier();
	WRITE_ONCE(head->list.next, (struct robust_list *)&e->next);
}

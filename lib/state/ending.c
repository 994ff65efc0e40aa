/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ending.c - see ending.h. */
#include <stddef.h>

#include "../base/syscalls.h"
#include "../emulator.h"
#include "ending.h"

/*
 * Where the kernel finds the word of an entry, from @next of it: one offset for all entries of a
 * list.
 */
#define WORD_AT \
	((long)offsetof(struct elide_ending, word) - (long)offsetof(struct elide_ending, next))

/*
 * Bytes behind the thread pointer in which the head of a list is looked for: libc's struct
 * pthread.
 */
#define MOST 4096

/* Where the head of a thread's list is, from its thread pointer; 0: not known, or of no use. */
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
	/* A list that is not empty has mutexes of the program: their memory may be gone. */
	if (!head_at || head->futex_offset != WORD_AT || READ_ONCE(head->list.next) != &head->list)
		return;
	e->word = tid;
	e->prev = &head->list;
	WRITE_ONCE(e->next, &head->list);
	/* The kernel reads the list of a thread that is killed here, too. */
	barrier();
	WRITE_ONCE(head->list.next, (struct robust_list *)&e->next);
}

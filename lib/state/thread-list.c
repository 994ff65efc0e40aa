/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* thread-list.c - see thread-list.h. */
#include "../base/syscalls.h"
#include "thread-list.h"

static struct elide_thread *all;

/*
 * By the lowest bits of thread ids, which the kernel gives one after the other: a later thread takes the
 * place of an earlier one, whose end is found out later.
 */
static struct elide_thread *by_tid[1u << 14];

struct elide_thread *elide_threads_all(void)
{
	return READ_ONCE(all);
}

const void *elide_threads_head(void)
{
	return &all;
}

void elide_threads_add(struct elide_thread *t)
{
	struct elide_thread *first = READ_ONCE(all);

	/* Release for readers that follow the list: the block is whole. */
	do
		t->next = first;
	while (!__atomic_compare_exchange_n(&all, &first, t, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED));
}

struct elide_thread *elide_thread_of(uint32_t tid)
{
	struct elide_thread *t;

	if (likely(!valgrind_runs()))
		return READ_ONCE(by_tid[tid % ARRAY_SIZE(by_tid)]);
	/* Else the simulated caches would depend on the thread ids. */
	for (t = elide_threads_all(); t && t->tid != tid; t = t->next)
		;
	return t;
}

void elide_thread_known(struct elide_thread *t)
{
	if (likely(!valgrind_runs()))
		WRITE_ONCE(by_tid[t->tid % ARRAY_SIZE(by_tid)], t);
}

void elide_threads_clear(void)
{
	all = NULL;
}

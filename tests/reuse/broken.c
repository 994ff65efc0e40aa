/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * broken.c - planted faults: the library's functions that are told of a lock's beginning and end do so
 * wrongly now and then. The library that run.sh must catch has these in front of its own.
 *
 * REUSE_BROKEN=FAULT:N: one call in N of
 *   gone      forgets that the lock was destroyed, so that the old entry stays in place
 *   late      is made only at the next end of a lock, when a new one may have the address
 *   new       does not make the new lock known, so that an older one's entry may stay in place
 *   unmarked  loses the process-shared mark
 * Without a fault it is the library as it is.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "life/lock.h"

void __real_elide_lock_new_from(const void *lock, enum elide_kind kind, const void *site,
				const void *stack, bool shared);
void __wrap_elide_lock_new_from(const void *lock, enum elide_kind kind, const void *site,
				const void *stack, bool shared);
void __real_elide_lock_gone(const void *lock);
void __wrap_elide_lock_gone(const void *lock);

static enum { NONE, GONE, LATE, NEW, UNMARKED } fault;
static unsigned long one_in = 1, nr_calls;
static __thread const void *later;

__attribute__((constructor(101))) static void read_setting(void)
{
	static const char *const names[] = {"none", "gone", "late", "new", "unmarked"};
	const char *setting = getenv("REUSE_BROKEN"), *number = setting ? strchr(setting, ':') : NULL;

	if (!number)
		return;
	one_in = strtoul(number + 1, NULL, 10);
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(setting, names[i], strlen(names[i])))
			fault = i;
}

static bool is_turn(void)
{
	return !(__atomic_add_fetch(&nr_calls, 1, __ATOMIC_RELAXED) % one_in);
}

void __wrap_elide_lock_new_from(const void *lock, enum elide_kind kind, const void *site,
				const void *stack, bool shared)
{
	if (fault == NEW && is_turn())
		return;
	if (fault == UNMARKED && shared && is_turn())
		shared = false;
	__real_elide_lock_new_from(lock, kind, site, stack, shared);
}

void __wrap_elide_lock_gone(const void *lock)
{
	const void *due = later;

	later = NULL;
	if (due)
		__real_elide_lock_gone(due);
	if (fault == LATE && is_turn())
		later = lock;
	else if (fault != GONE || !is_turn())
		__real_elide_lock_gone(lock);
}

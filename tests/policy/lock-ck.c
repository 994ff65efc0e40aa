// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lock-ck.c - the locks of the loads as Concurrency Kit's, elided by its adaptive form
 * with its default numbers.
 *
 * It does not ask the processor for RTM: must never run where there is none.
 */
#include <stdbool.h>
#include <string.h>

#include <ck_elide.h>
#include <ck_rwlock.h>
#include <ck_spinlock.h>

#define LOCKS_OF 2
#include "lock.h"

#ifndef CK_F_PR_RTM
#error "Concurrency Kit without RTM elides nothing"
#endif

static struct ck_elide_config config = CK_ELIDE_CONFIG_DEFAULT_INITIALIZER;

/* A thread's counts of each lock; of a read-write lock, of reading. */
static __thread struct ck_elide_stat stats[LOCKS_MAX];
static __thread struct ck_elide_stat write_stats[4];

struct numbered {
	unsigned int number;
	union {
		ck_spinlock_t spin;
		ck_rwlock_t rwlock;
	} at __attribute__((aligned(64)));
};

_Static_assert(sizeof(struct numbered) <= sizeof(union lock), "room for it");

#define ck(lock) ((struct numbered *)(lock))

void lock_init(union lock *lock, unsigned int number)
{
	ck_spinlock_init(&ck(lock)->at.spin);
	ck(lock)->number = number % LOCKS_MAX;
}

void lock_acquire(union lock *lock, struct guard *guard)
{
	CK_ELIDE_LOCK_ADAPTIVE(ck_spinlock, &stats[ck(lock)->number], &config, &ck(lock)->at.spin);
}

void lock_release(union lock *lock, struct guard *guard)
{
	CK_ELIDE_UNLOCK_ADAPTIVE(ck_spinlock, &stats[ck(lock)->number], &ck(lock)->at.spin);
}

void rwlock_init(union lock *lock, unsigned int number)
{
	ck_rwlock_init(&ck(lock)->at.rwlock);
	ck(lock)->number = number % 4;
}

/* Which way it is held is noted before, outside of the transaction. */
void rwlock_read(union lock *lock, struct guard *guard)
{
	guard->bytes[0] = 0;
	CK_ELIDE_LOCK_ADAPTIVE(ck_rwlock_read, &stats[ck(lock)->number], &config,
			       &ck(lock)->at.rwlock);
}

void rwlock_write(union lock *lock, struct guard *guard)
{
	guard->bytes[0] = 1;
	CK_ELIDE_LOCK_ADAPTIVE(ck_rwlock_write, &write_stats[ck(lock)->number], &config,
			       &ck(lock)->at.rwlock);
}

void rwlock_release(union lock *lock, struct guard *guard)
{
	if (guard->bytes[0])
		CK_ELIDE_UNLOCK_ADAPTIVE(ck_rwlock_write, &write_stats[ck(lock)->number],
					 &ck(lock)->at.rwlock);
	else
		CK_ELIDE_UNLOCK_ADAPTIVE(ck_rwlock_read, &stats[ck(lock)->number],
					 &ck(lock)->at.rwlock);
}

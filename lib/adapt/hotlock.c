/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * hotlock.c - one lock of a class whose acquisitions fall back far more often than the others'.
 *
 * The policy learns of a class, so that a new lock begins with what is known of the others. But
 * one lock of many may be contended while the others are not, as the root of a tree or the bucket
 * of a frequent key; or the sections of one lock alone may be unelidable. The acquisitions of a
 * class that fall back are counted in windows of HOT_WINDOW; a lock that has HOT_MOST of a window gets
 * a state of its own, which begins as a copy of that of the class. So does a lock whose
 * acquisitions could not be elided UNELIDABLE_ROW times in a row (giveup.c) at a site where others
 * were. The class begins its round of challenges anew without that lock.
 *
 * Outside transactions, after an acquisition has given up. Must never wait.
 */
#include "../state/way.h"
#include "hotlock.h"

static uint32_t nr_hot;

/* Has the class other locks than this one? */
static bool is_one_of_many(const struct adapt_class *p)
{
	return elide_class_info(p->class_index)->nr_locks > 1;
}

/* A state for a lock. Return: its number, from 1; 0: all HOT_LOCKS are in use. */
static uint32_t state_for(struct adapt_class *p, const void *lock)
{
	uint32_t nr = __atomic_fetch_add(&nr_hot, 1, __ATOMIC_RELAXED);
	struct adapt_class *own;

	if (nr >= HOT_LOCKS) {
		WRITE_ONCE(nr_hot, HOT_LOCKS);
		return 0;
	}
	own = adapt_hotlock(nr + 1);
	own->class_index = p->class_index;
	own->lock_address = (uintptr_t)lock;
	for (uint32_t i = 0; i < LEARN_SITES; i++) {
		own->keys[i] = p->keys[i];
		own->settled[i] = p->settled[i];
		own->arms[i] = ELIDE_ARM_CODE(p->settled[i]);
	}
	own->nr_keys = p->nr_keys;
	own->interval = p->interval;
	learn_inherit(&own->learn, &p->learn);
	return nr + 1;
}

static bool split(struct adapt_class *p, const void *lock)
{
	uint32_t nr;

	if (elide_registry_find(lock) != p->class_index || !adapt_class_try_lock(p))
		return false;
	nr = state_for(p, lock);
	if (nr)
		learn_anew(&p->learn, adapt_now());
	adapt_class_unlock(p);
	if (!nr)
		return false;
	/* From then on all threads have another call for the lock. */
	return elide_registry_split(lock, p->class_index, nr);
}

bool adapt_hotlock_split(struct adapt_class *p, const void *lock)
{
	return is_one_of_many(p) && split(p, lock);
}

void adapt_hotlock_blame(struct adapt_class *p, const void *lock)
{
	struct policy_lock *policy;

	/* Mostly: others wait for what the thread will do with the lock, so it must be short. */
	if (likely(!is_one_of_many(p)))
		return;
	policy = elide_policy_of(lock);
	/* Increments may be lost: a window gets a little longer. */
	if (READ_ONCE(p->fails) >= HOT_WINDOW) {
		WRITE_ONCE(p->fails, 0);
		WRITE_ONCE(p->window, p->window + 1);
	}
	WRITE_ONCE(p->fails, p->fails + 1);
	if (policy->window != p->window) {
		policy->window = p->window;
		policy->fails = 0;
	}
	if (++policy->fails < HOT_MOST)
		return;
	policy->fails = 0;
	split(p, lock);
}

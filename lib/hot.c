/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * hot.c - the single lock that spoils what its class could gain.
 *
 * What is learned is learned of a class, so that a new lock need not begin with
 * nothing. But one lock of many may be fought for while the others are not: the
 * root of a tree, the bucket of a frequent key; or nothing may be elided under it alone. The
 * acquisitions of a class that give up are counted in windows; a lock that has most of
 * such a window is taken out of the class and has a state of its own from then on, which
 * begins with what the class knows. So is one that gives up without hope several times in a
 * row where others have not. The class is asked anew without it.
 *
 * Outside transactions, after an acquisition has given up. Must never wait.
 */
#include "engine.h"
#include "pace.h"

/* Acquisitions that give up, of a window, and of these as many are most. */
#define WINDOW 128
#define MOST   80

static uint32_t nr_hot;

/* Is there anything that the class would be without it? */
static bool is_one_of_many(const struct elide_pacer *p)
{
	return elide_registry_class_info(p->class_index)->nr_locks > 1;
}

/* A state for a lock, number of it from 1. 0: there are no more. */
static uint32_t state_for(struct elide_pacer *p, const void *word)
{
	uint32_t nr = __atomic_fetch_add(&nr_hot, 1, __ATOMIC_RELAXED);
	struct elide_pacer *own;

	if (nr >= ELIDE_NR_HOT) {
		WRITE_ONCE(nr_hot, ELIDE_NR_HOT);
		return 0;
	}
	own = elide_pacer_hot(nr + 1);
	own->class_index = p->class_index;
	own->lock_address = (uintptr_t)word;
	for (uint32_t i = 0; i < LEARN_SITES; i++) {
		own->keys[i] = p->keys[i];
		own->arms[i] = own->settled[i] = p->settled[i];
	}
	own->nr_keys = p->nr_keys;
	own->interval = p->interval;
	learn_inherit(&own->learn, &p->learn);
	return nr + 1;
}

bool elide_hot_split(struct elide_pacer *p, struct policy_lock *lock, const void *word,
		     uint64_t now)
{
	uint32_t nr;

	if (lock->hot || !is_one_of_many(p) || !elide_pacer_try_lock(p))
		return false;
	nr = state_for(p, word);
	if (nr)
		learn_anew(&p->learn, now);
	elide_pacer_unlock(p);
	if (!nr)
		return false;
	WRITE_ONCE(lock->hot, nr);
	/* Pairs with the look at it before a cache entry is made: all threads look again. */
	__atomic_add_fetch(elide_generation(word), 1, __ATOMIC_RELEASE);
	return true;
}

void elide_hot_blame(struct elide_pacer *p, struct policy_lock *lock, const void *word,
		     uint64_t now)
{
	/* Counts may be lost: they are compared, not summed up. */
	if (READ_ONCE(p->fails) >= WINDOW) {
		WRITE_ONCE(p->fails, 0);
		WRITE_ONCE(p->window, p->window + 1);
	}
	WRITE_ONCE(p->fails, p->fails + 1);
	if (lock->window != p->window) {
		lock->window = p->window;
		lock->fails = 0;
	}
	if (++lock->fails < MOST)
		return;
	lock->fails = 0;
	elide_hot_split(p, lock, word, now);
}

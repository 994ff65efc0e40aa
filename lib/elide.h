/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * elide.h - elide locks of your own: a B-tree latch, a ticket or MCS lock, ...
 *
 * pthread locks need nothing of this: preload the library. A program that
 * links libelide and is preloaded too uses the preloaded engine.
 *
 *	static const struct elide_rule free_rule = {.mask = ~0u, .free = 0, .size = 4};
 *
 *	if (!elide_begin(&latch->word, &free_rule))
 *		latch_lock(latch);
 *	...critical section...
 *	if (!elide_end(&latch->word))
 *		latch_unlock(latch);
 *
 * Any number of threads may call the functions at once, also from signal handlers. A signal that arrives in
 * an elided section aborts it before its handler runs. fork() in an elided section aborts it, as any system
 * call does, so the child never inherits one. The child counts into a data file of its own.
 */
#ifndef ELIDE_H
#define ELIDE_H

#include <stdint.h>

/* Grows by one with each function or field that is added here. */
#define ELIDE_API_VERSION 3

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct elide_rule - when a lock word counts as free: (word & mask) == free.
 * @mask: bits that matter
 * @free: their value in a free lock
 * @size: bytes of the word, 4 or 8; it is aligned to them. Any other number counts as 8
 *
 * Data and not a function, so that nothing is called inside a transaction. Every path that locks the lock
 * must make the rule false, or elided sections would run beside its holder.
 */
struct elide_rule {
	uint64_t mask;
	uint64_t free;
	uint32_t size;
};

/**
 * elide_begin() - begin a critical section, by elision if that works.
 * @word: the lock word; its address stands for the lock
 * @rule: when the lock is free
 *
 * May wait for the lock to become free, for a bounded time: before each attempt SPIN_BUSY iterations
 * (elide-tunables(7); 1,000 by default), then up to two of its typical hold times and at most 2,097,152
 * cycles (waiting in elide(7)). After a conflict it pauses: for a mean of 1 iteration first, which doubles
 * with each further conflict. The numbers of the policy bound the attempts; conflicts with a thread that
 * has locked the lock add at most 64. The report names the place of this call as the call site.
 * Thread-safe; not for locks in memory that other processes map.
 *
 * Return: 1: the section is elided, do not take the lock; 0: take it.
 */
int elide_begin(const void *word, const struct elide_rule *rule);

/**
 * elide_end() - end a critical section.
 * @word: as given to elide_begin()
 *
 * Sections may end in any order. The end of a lock that was not elided, or not begun, changes and counts
 * nothing.
 *
 * Return: 1: it was elided, do not release the lock; 0: release it.
 */
int elide_end(const void *word);

/**
 * elide_try_begin() - begin a critical section if the lock is free, by elision if that works.
 * @word: the lock word
 * @rule: when the lock is free
 *
 * Waits neither for the lock nor after a conflict; attempts are bounded as those of elide_begin(). End the
 * section with elide_end(). If it returns 0, the lock was free a moment ago, and the call counts as an
 * acquisition under the lock, even if another thread then comes first. Thread-safe; not for locks in
 * memory that other processes map.
 *
 * Return: 1: the section is elided, do not take the lock; 0: try to take it; -1: the lock is held,
 * by another thread or by an elided section of this one, and nothing was counted.
 */
int elide_try_begin(const void *word, const struct elide_rule *rule);

/**
 * elide_init() - a lock is initialised.
 * @word: the lock word
 * @site: a return address that stands for the place where the lock is initialised, for example that of the
 *        lock's own function for it; NULL: this call
 *
 * Optional. In reports all locks of one such place are a class, with the name of the place; a lock in data of
 * the program has the name of the data. Without elide_init() the class is named after the first call of
 * elide_begin(). An earlier lock at the address is forgotten.
 */
void elide_init(const void *word, const void *site);

/** elide_forget() - the lock is destroyed, or its memory reused; its counts stay. */
void elide_forget(const void *word);

/**
 * elide_status() - does this process elide, and why (not)?
 * @why: if not NULL, set to the reason in words, valid for ever
 *
 * Return: 1 if locks are elided, 0 if they are only profiled or passed through.
 */
int elide_status(const char **why);

#ifdef __cplusplus
}
#endif

#endif

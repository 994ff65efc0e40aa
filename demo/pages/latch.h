/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latch.h - the latch of a page: all kinds in one type, of which the program chooses one at start.
 *
 *	kind	state			those that wait	readers
 *	hybrid	version, pthread rwlock	sleep		look, or hold it together
 *	spin	version with readers	spin		look, or hold it together
 *	rwlock	pthread rwlock		sleep		hold it together
 *	mutex	pthread mutex		sleep		hold it alone
 *
 * hybrid is the latch of Alhomssi and Leis, CIDR 2021, appendix A: the version grows by 1 after the
 * read-write lock was acquired exclusively, and by 1 before it is released. So it is odd while
 * a writer holds it. A reader that only looks notes an even version, reads, and compares: the
 * same version means that nothing was changed in between. Böttcher, Leis, Giceva and Neumann,
 * "Scalable and robust latches for database systems", DaMoN 2020, have the same.
 *
 * spin has the version in the lower 48 bits of its word and the number of readers above.
 *
 * What is read between latch_begin() and latch_validate() may be torn. It must not lead anywhere
 * before it was validated, and reading it must be safe whatever it is.
 *
 * All operations are inlined, so the call of a pthread function has the address of the operation
 * of the tree. A holder may be in a transaction of a preloaded library, where the version is
 * written as everywhere else: readers that look abort it or see a new version.
 */
#ifndef DEMO_PAGES_LATCH_H
#define DEMO_PAGES_LATCH_H

#include "../base/base.h"
#include "../latch/back-off.h"

#include <pthread.h>
#include <stdbool.h>

enum latch_kind {
#define PAGE_LATCH(id, readers, help) LATCH_##id,
#include "latches.def"
	NR_LATCH_KINDS
};

/* The kind of all latches. Set before the first latch_init() and not changed after it. */
extern enum latch_kind latch_kind;

/* The word: odd while a writer holds the latch; of spin: LATCH_READER for each reader. */
#define LATCH_HELD 1u
#define LATCH_READER (1ull << 48)
#define LATCH_READERS (~(LATCH_READER - 1))

/**
 * struct latch - the latch of a page
 * @word: of hybrid and spin, else 0
 * @rwlock: of hybrid and rwlock
 * @mutex: of mutex
 */
struct latch {
	uint64_t word;
	union {
		pthread_rwlock_t rwlock;
		pthread_mutex_t mutex;
	};
};

void latch_init(struct latch *l);
void latch_destroy(struct latch *l);

/** latch_optimistic() - true if the latches have versions, so that latch_begin() may be called */
static __inline_always bool latch_optimistic(void)
{
	return latch_kind <= LATCH_spin;
}

/* ThreadSanitizer does not know fences. */
#ifdef DEMO_TSAN
#define latch_fence(order) ((void)0)
#else
#define latch_fence(order) __atomic_thread_fence(order)
#endif

static __inline_always uint64_t latch_word(const struct latch *l)
{
	return __atomic_load_n(&l->word, __ATOMIC_RELAXED);
}

static __inline_always void latch_note(bool *waited)
{
	if (waited)
		*waited = true;
}

/* hybrid: the version becomes odd, before any store to the page. */
static __inline_always void latch_word_enter(struct latch *l)
{
	__atomic_store_n(&l->word, latch_word(l) + LATCH_HELD, __ATOMIC_RELAXED);
	/* Release: the stores to the page come after it. Pairs with latch_validate(). */
	latch_fence(__ATOMIC_RELEASE);
}

/*
 * The version becomes even. Nobody else writes the word meanwhile. Release: pairs with the acquire
 * in latch_begin() and latch_spin_enter().
 */
static __inline_always void latch_word_leave(struct latch *l)
{
	__atomic_store_n(&l->word, latch_word(l) + LATCH_HELD, __ATOMIC_RELEASE);
}

/* spin: from @word, in which nobody holds the latch, to held. Acquire: pairs with the leaving. */
static __inline_always bool latch_spin_enter(struct latch *l, uint64_t word)
{
	if (!__atomic_compare_exchange_n(&l->word, &word, word + LATCH_HELD, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	latch_fence(__ATOMIC_RELEASE);
	return true;
}

static __inline_always bool latch_spin_try_exclusive(struct latch *l)
{
	uint64_t word = latch_word(l);

	return !(word & (LATCH_HELD | LATCH_READERS)) && latch_spin_enter(l, word);
}

static __inline_always bool latch_spin_try_shared(struct latch *l)
{
	uint64_t word = latch_word(l);

	return !(word & LATCH_HELD) &&
	       __atomic_compare_exchange_n(&l->word, &word, word + LATCH_READER, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/**
 * latch_begin() - wait until no writer holds a latch, and note its version
 * @l: the latch, of a kind with versions
 * @waited: set to true if it had to wait, else as before; or NULL
 *
 * hybrid: one that waits sleeps until the writer has left.
 *
 * Return: the version.
 */
static __inline_always uint64_t latch_begin(struct latch *l, bool *waited)
{
	unsigned int n = 0;
	uint64_t word;

	/* Acquire: pairs with the release in latch_word_leave(). */
	while (unlikely((word = __atomic_load_n(&l->word, __ATOMIC_ACQUIRE)) & LATCH_HELD)) {
		latch_note(waited);
		if (latch_kind == LATCH_hybrid) {
			pthread_rwlock_rdlock(&l->rwlock);
			word = latch_word(l);
			pthread_rwlock_unlock(&l->rwlock);
			return word;
		}
		latch_pause(&n);
	}
	return word & ~LATCH_READERS;
}

/**
 * latch_validate() - true if no writer held a latch since latch_begin()
 * @l: the latch
 * @version: what latch_begin() returned
 */
static __inline_always bool latch_validate(const struct latch *l, uint64_t version)
{
	/* Acquire: what was read is read before the word. Pairs with latch_word_enter(). */
	latch_fence(__ATOMIC_ACQUIRE);
	return (latch_word(l) & ~LATCH_READERS) == version;
}

/**
 * latch_try_exclusive() - acquire a latch to write if nobody holds it
 * @l: the latch
 *
 * Return: true if it was acquired.
 */
static __inline_always bool latch_try_exclusive(struct latch *l)
{
	switch (latch_kind) {
	case LATCH_spin:
		return latch_spin_try_exclusive(l);
	case LATCH_mutex:
		return !pthread_mutex_trylock(&l->mutex);
	case LATCH_rwlock:
		return !pthread_rwlock_trywrlock(&l->rwlock);
	default:
		if (pthread_rwlock_trywrlock(&l->rwlock))
			return false;
		latch_word_enter(l);
		return true;
	}
}

/**
 * latch_try_shared() - acquire a latch to read if no writer holds it
 * @l: the latch
 *
 * mutex: if nobody holds it. spin: it may fail as well where another reader comes at the same time.
 *
 * Return: true if it was acquired.
 */
static __inline_always bool latch_try_shared(struct latch *l)
{
	switch (latch_kind) {
	case LATCH_spin:
		return latch_spin_try_shared(l);
	case LATCH_mutex:
		return !pthread_mutex_trylock(&l->mutex);
	default:
		return !pthread_rwlock_tryrdlock(&l->rwlock);
	}
}

/**
 * latch_exclusive() - acquire a latch to write
 * @l: the latch
 * @waited: set to true if another held it at first (the slow path), else as before; or NULL
 *
 * With NULL it is a single call of the pthread function; otherwise one that does not wait comes
 * first. A version that the calling thread noted before is out of date then.
 */
static __inline_always void latch_exclusive(struct latch *l, bool *waited)
{
	unsigned int n = 0;

	if (waited) {
		if (likely(latch_try_exclusive(l)))
			return;
		*waited = true;
	}
	switch (latch_kind) {
	case LATCH_spin:
		while (!latch_spin_try_exclusive(l))
			latch_pause(&n);
		return;
	case LATCH_mutex:
		pthread_mutex_lock(&l->mutex);
		return;
	case LATCH_rwlock:
		pthread_rwlock_wrlock(&l->rwlock);
		return;
	default:
		pthread_rwlock_wrlock(&l->rwlock);
		latch_word_enter(l);
	}
}

/**
 * latch_shared() - acquire a latch to read
 * @l: the latch
 * @waited: set to true if a writer, or with mutex anybody, held it at first; or NULL
 *
 * As of latch_exclusive(). A thread must not acquire a latch twice.
 */
static __inline_always void latch_shared(struct latch *l, bool *waited)
{
	unsigned int n = 0;

	if (waited) {
		if (likely(latch_try_shared(l)))
			return;
		if (latch_kind != LATCH_spin || latch_word(l) & LATCH_HELD)
			*waited = true;
	}
	switch (latch_kind) {
	case LATCH_spin:
		while (!latch_spin_try_shared(l))
			latch_pause(&n);
		return;
	case LATCH_mutex:
		pthread_mutex_lock(&l->mutex);
		return;
	default:
		pthread_rwlock_rdlock(&l->rwlock);
	}
}

/**
 * latch_upgrade() - acquire a latch to write if no writer held it since latch_begin()
 * @l: the latch, of a kind with versions
 * @version: what latch_begin() returned
 *
 * It does not wait: one that is held, for reading too, is not acquired.
 *
 * Return: true if it was acquired, and what was read since latch_begin() is valid.
 */
static __inline_always bool latch_upgrade(struct latch *l, uint64_t version)
{
	if (latch_kind == LATCH_spin)
		return latch_spin_enter(l, version);
	if (pthread_rwlock_trywrlock(&l->rwlock))
		return false;
	if (unlikely(latch_word(l) != version)) {
		pthread_rwlock_unlock(&l->rwlock);
		return false;
	}
	latch_word_enter(l);
	return true;
}

/** latch_release() - release a latch that the calling thread holds to write */
static __inline_always void latch_release(struct latch *l)
{
	if (latch_kind == LATCH_mutex) {
		pthread_mutex_unlock(&l->mutex);
		return;
	}
	if (latch_optimistic())
		latch_word_leave(l);
	if (latch_kind != LATCH_spin)
		pthread_rwlock_unlock(&l->rwlock);
}

/** latch_release_shared() - release a latch that the calling thread holds to read */
static __inline_always void latch_release_shared(struct latch *l)
{
	switch (latch_kind) {
	case LATCH_spin:
		__atomic_fetch_sub(&l->word, LATCH_READER, __ATOMIC_RELEASE);
		return;
	case LATCH_mutex:
		pthread_mutex_unlock(&l->mutex);
		return;
	default:
		pthread_rwlock_unlock(&l->rwlock);
	}
}

#endif

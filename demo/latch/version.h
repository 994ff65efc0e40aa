/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * version.h - a latch with a version, which readers compare instead of acquiring it.
 *
 * The word is odd while a writer holds the latch, and grows by 2 with each acquisition
 * and release. A reader notes an even word, reads, and compares: if the word is the same,
 * no writer changed anything meanwhile. It is the latch of OLFIT (Cha, Hwang, Kim, Kwon,
 * VLDB 2001, section 3) and of optimistic lock coupling (Leis, Scheibner, Kemper,
 * Neumann, "The ART of practical synchronization", DaMoN 2016, section 3).
 *
 * The version has 31 bits. A reader that is stopped while a writer changes the same node
 * exactly 2^31 times would not see it.
 *
 * What a reader reads before version_same() may be torn and must be read with
 * __atomic_load_n(); pointers among it lead to nodes only after version_same().
 */
#ifndef DEMO_LATCH_VERSION_H
#define DEMO_LATCH_VERSION_H

#include "back-off.h"

#include <stdbool.h>
#include <stdint.h>

/* Set while a writer holds the latch. */
#define VERSION_HELD 1u

/**
 * version_begin() - wait until no writer holds the latch
 * @word: the word of the latch
 *
 * Return: the version, for version_same() and version_upgrade().
 */
static inline uint32_t version_begin(const uint32_t *word)
{
	unsigned int pauses = 1;
	uint32_t version;

	/* Acquire: pairs with the release in version_release(). */
	while ((version = __atomic_load_n(word, __ATOMIC_ACQUIRE)) & VERSION_HELD)
		back_off(&pauses);
	return version;
}

/**
 * version_same() - true if no writer held the latch since version_begin()
 * @word: the word of the latch
 * @version: what version_begin() returned
 */
static inline bool version_same(const uint32_t *word, uint32_t version)
{
#ifndef __SANITIZE_THREAD__
	/*
	 * Acquire: the reads before are done before the word is read again. Pairs with the
	 * acquisition of the writer, which precedes its stores. ThreadSanitizer does not
	 * know fences, and needs none, as all these accesses are atomic.
	 */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
	return __atomic_load_n(word, __ATOMIC_RELAXED) == version;
}

/**
 * version_upgrade() - acquire the latch if no writer held it since version_begin()
 * @word: the word of the latch
 * @version: what version_begin() returned
 *
 * Return: true if the latch was acquired; it is then released by version_release().
 */
static inline bool version_upgrade(uint32_t *word, uint32_t version)
{
	/* Acquire: pairs with the release in version_release(). */
	return __atomic_compare_exchange_n(word, &version, version + VERSION_HELD, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/**
 * version_acquire() - acquire the latch to write
 * @word: the word of the latch
 */
static inline void version_acquire(uint32_t *word)
{
	while (!version_upgrade(word, version_begin(word)))
		__builtin_ia32_pause();
}

/**
 * version_release() - release the latch; all versions that readers noted are out of date
 * @word: the word of the latch
 */
static inline void version_release(uint32_t *word)
{
	/* Release: pairs with the acquire in version_begin() and version_upgrade(). */
	__atomic_store_n(word, __atomic_load_n(word, __ATOMIC_RELAXED) + VERSION_HELD,
			 __ATOMIC_RELEASE);
}

/**
 * version_free() - true if no writer holds the latch
 * @word: the word of the latch
 */
static inline bool version_free(const uint32_t *word)
{
	return !(__atomic_load_n(word, __ATOMIC_RELAXED) & VERSION_HELD);
}

#endif

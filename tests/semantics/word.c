/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * word.c - word: a lock of the program's own, one word, elided by the functions of elide.h.
 *
 * Where the library is not preloaded there are no such functions, and the word is locked. Must
 * print nothing that depends on whether a section is elided. The acquisitions that the library
 * can count are those that tests/semantics/rows names.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../lib/elide.h"

#pragma weak elide_begin
#pragma weak elide_try_begin
#pragma weak elide_end
#pragma weak elide_init
#pragma weak elide_forget

#define ROUNDS 100

static const struct elide_rule rule = {.mask = ~0ull, .free = 0, .size = 8};

static uint64_t outer, inner;
static unsigned long value;

static int try_word(uint64_t *word)
{
	uint64_t expected = 0;

	return __atomic_compare_exchange_n(word, &expected, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void lock(uint64_t *word)
{
	if (elide_begin && elide_begin(word, &rule))
		return;
	while (!try_word(word))
		;
}

/* Returns 0 if the lock is held. */
static int try_lock(uint64_t *word)
{
	int answer = elide_try_begin ? elide_try_begin(word, &rule) : 0;

	return answer ? answer > 0 : try_word(word);
}

static void unlock(uint64_t *word)
{
	if (!elide_end || !elide_end(word))
		__atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

static void init(uint64_t *word)
{
	*word = 0;
	if (elide_init)
		elide_init(word, NULL);
}

static void forget(uint64_t *word)
{
	if (elide_forget)
		elide_forget(word);
}

/* How often a try of a free lock, of one that this thread holds, and of a held one succeeds. */
static void tries(void)
{
	unsigned int nr_free = 0, nr_own = 0, nr_inside = 0, nr_held = 0;

	for (int i = 0; i < ROUNDS; i++) {
		int got = try_lock(&outer), again = try_lock(&outer), other = try_lock(&inner);

		value++;
		unlock(&inner);
		unlock(&outer);
		nr_free += got;
		nr_own += again;
		nr_inside += other;
	}
	inner = 1;
	for (int i = 0; i < ROUNDS; i++) {
		int got;

		lock(&outer);
		got = try_lock(&inner);
		unlock(&outer);
		nr_held += got + try_lock(&inner);
	}
	inner = 0;
	printf("tries: %u of a free lock, %u of the same, %u of another, %u of a held one\n", nr_free,
	       nr_own, nr_inside, nr_held);
}

/* Locks that come and go at one address, in sections and outside of them. */
static void lives(void)
{
	uint64_t *word = aligned_alloc(64, 64);

	for (int i = 0; i < ROUNDS; i++) {
		lock(&outer);
		init(word);
		unlock(&outer);
		lock(word);
		value++;
		unlock(word);
		forget(word);
		init(word);
		lock(&outer);
		forget(word);
		unlock(&outer);
	}
	free(word);
}

int main(void)
{
	tries();
	lives();
	printf("%lu sections\n", value);
	return outer || inner;
}

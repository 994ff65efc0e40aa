/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * known-calls.c - see known-calls.h.
 *
 * What is known of a call, one word; 0 for an empty place:
 *   bit 0       it only passes another one on
 *   bits 1-47   its return address
 *   bits 48-59  if so: words on the stack from the stack pointer after the call to the stack pointer after the
 *               call of its function, below which is the return address of that; 0: not known
 *   bits 60-63  walks of the stack that have all found this number of words, at most ALL_WALKS
 */
#include "../compiler.h"
#include "../state/modules.h"
#include "known-calls.h"

#define SITE_END  48
#define WORDS_END 60
#define WORDS_MAX ((1u << (WORDS_END - SITE_END)) - 1)

/*
 * Walks that have to find the same number of words before the stack is read without a walk. A function with
 * an array of variable size on its stack has another number sooner or later: 0 words and ALL_WALKS say that
 * the stack is always walked. Chosen.
 */
#define ALL_WALKS 15

void elide_known_settle(struct elide_known_calls *k)
{
	uint32_t now = READ_ONCE(elide_modules_epoch);

	if (likely(READ_ONCE(k->epoch) == now))
		return;
	for (unsigned int i = 0; i < ELIDE_NR_KNOWN; i++)
		WRITE_ONCE(k->words[i], 0);
	WRITE_ONCE(k->epoch, now);
}

/* What is known of a call; 0: nothing. */
static uint64_t known_of(const struct elide_known_calls *k, const void *site)
{
	uint64_t value = READ_ONCE(k->words[elide_known_place(site)]);

	return (value & ((1ull << SITE_END) - 1)) >> 1 == (uintptr_t)site ? value : 0;
}

static uint64_t words_of(uint64_t value)
{
	return value >> SITE_END & WORDS_MAX;
}

bool elide_known_call(const struct elide_known_calls *k, const void *site, bool *passes)
{
	uint64_t value = known_of(k, site);

	*passes = value & 1;
	return value;
}

void elide_known_note(struct elide_known_calls *k, const void *site, bool passes)
{
	WRITE_ONCE(k->words[elide_known_place(site)], (uint64_t)(uintptr_t)site << 1 | passes);
}

void elide_known_walked(struct elide_known_calls *k, const void *site, uint64_t stack, uint64_t outer)
{
	uint64_t value = known_of(k, site), walks = value >> WORDS_END, words = words_of(value);
	uint64_t found = (outer - stack) / sizeof(uint64_t);

	if (!stack || (walks == ALL_WALKS && (!words || found == words)))
		return;
	if (found > WORDS_MAX || (walks && found != words)) {
		words = 0;
		walks = ALL_WALKS;
	} else {
		words = found;
		walks++;
	}
	WRITE_ONCE(k->words[elide_known_place(site)],
		   walks << WORDS_END | words << SITE_END | (uint64_t)(uintptr_t)site << 1 | 1);
}

const void *elide_known_caller(const struct elide_known_calls *k, const void *site, const void *stack,
			       uint64_t *passed, unsigned int room, unsigned int *nr)
{
	const uint64_t *word = stack;

	if (!stack || word[-1] != (uintptr_t)site)
		return NULL;
	for (*nr = 0;; (*nr)++) {
		uint64_t value = known_of(k, site);

		if (!value)
			return NULL;
		if (!(value & 1) || *nr == room)
			return site;
		if (!words_of(value) || value >> WORDS_END != ALL_WALKS)
			return NULL;
		passed[*nr] = (uintptr_t)site;
		word += words_of(value);
		site = (const void *)word[-1];
	}
}

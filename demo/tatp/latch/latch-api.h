/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latch-api.h - elided sections with the library's functions: --means=api.
 *
 * It is the only file of the demo programs that includes elide.h. The functions are those of a
 * preloaded library: the program does not link it, and without it they have no address.
 */
#ifndef DEMO_TATP_LATCH_API_H
#define DEMO_TATP_LATCH_API_H

#include "../../../lib/elide.h"
#include "latch-base.h"

#pragma weak elide_begin
#pragma weak elide_try_begin
#pragma weak elide_end
#pragma weak elide_init
#pragma weak elide_forget
#pragma weak elide_status

/* When a latch is free: to a writer, and to a reader, who shares it with readers. */
static const struct elide_rule latch_api_free = {.mask = ~0ull, .free = 0, .size = 8};
static const struct elide_rule latch_api_no_writer = {.mask = 1, .free = 0, .size = 8};

/** latch_api_usable() - true if a library with these functions is preloaded */
static inline bool latch_api_usable(void)
{
	return elide_begin && elide_try_begin && elide_end && elide_init && elide_forget &&
	       elide_status;
}

/** latch_api_status() - true if the library elides; sets *@why to the reason in words */
static inline bool latch_api_status(const char **why)
{
	return elide_status(why);
}

static __inline_always const struct elide_rule *latch_api_rule(uint64_t mask)
{
	return mask == 1 ? &latch_api_no_writer : &latch_api_free;
}

/**
 * latch_api_begin() - begin an elided section
 * @word: the latch's word
 * @mask: of the word, which is 0 in a latch that is free
 *
 * It is inlined: the call of elide_begin() in the function that acquires the latch is the call site
 * that reports name.
 *
 * Return: true: the section is elided; false: lock.
 */
static __inline_always bool latch_api_begin(const uint64_t *word, uint64_t mask)
{
	return elide_begin(word, latch_api_rule(mask));
}

/** latch_api_try() - as latch_api_begin(); 1: elided, 0: try to lock, -1: the latch is held */
static __inline_always int latch_api_try(const uint64_t *word, uint64_t mask)
{
	return elide_try_begin(word, latch_api_rule(mask));
}

/** latch_api_end() - end an elided section */
static __inline_always void latch_api_end(const uint64_t *word)
{
	elide_end(word);
}

/**
 * latch_api_init() - a latch comes into being
 *
 * The function that it is inlined in names its class.
 */
static __inline_always void latch_api_init(const uint64_t *word)
{
	elide_init(word, NULL);
}

/** latch_api_forget() - the latch is destroyed */
static inline void latch_api_forget(const uint64_t *word)
{
	elide_forget(word);
}

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * known-calls.h - calls of which is known whether they are in a function that only passes the call on, and
 * where that function's return address is on the stack.
 *
 * So the caller of such functions is found by a few loads, without a walk of the stack. Each table has one rule
 * of what such a function is. All functions are lock-free and async-signal-safe, allocate nothing, and must never
 * be used inside a transaction.
 */
#ifndef ELIDE_KNOWN_CALLS_H
#define ELIDE_KNOWN_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Calls that are remembered, each in one place of a table; a later call may replace an earlier one. */
#define ELIDE_NR_KNOWN 1024

/**
 * struct elide_known_calls - a table of calls.
 * @words: what is known of each; 0: nothing
 * @epoch: elide_modules_epoch for which that holds
 */
struct elide_known_calls {
	uint64_t words[ELIDE_NR_KNOWN];
	uint32_t epoch;
};

/** elide_known_place() - the index in @words of a call. */
static inline unsigned int elide_known_place(const void *site)
{
	/* Multiplicative hashing (Knuth, TAOCP vol. 3, 6.4) with 2^64 / phi. */
	return ((uintptr_t)site * 0x9e3779b97f4a7c15ull >> 32) % ELIDE_NR_KNOWN;
}

/** elide_known_settle() - forget all calls if objects were unloaded, as others may have their addresses. */
void elide_known_settle(struct elide_known_calls *k);

/** elide_known_call() - is it known of a call whether it only passes another one on? @passes: set if so */
bool elide_known_call(const struct elide_known_calls *k, const void *site, bool *passes);

/** elide_known_note() - remember that. */
void elide_known_note(struct elide_known_calls *k, const void *site, bool passes);

/**
 * elide_known_walked() - a walk has found the return address of a call that only passes another one on.
 * @stack, @outer: the stack pointers after the call, and after that of its function; 0: not known
 */
void elide_known_walked(struct elide_known_calls *k, const void *site, uint64_t stack, uint64_t outer);

/**
 * elide_known_caller() - follow calls that only pass another one on.
 * @site: return address of the innermost one
 * @stack: the stack pointer after it; NULL: not known
 * @passed: filled with the calls passed, @room of them at most
 * @nr: set to their number
 *
 * A word on the stack counts as a return address only if it is the known one of a call.
 *
 * Return: the call behind them; NULL: something is not known yet.
 */
const void *elide_known_caller(const struct elide_known_calls *k, const void *site, const void *stack,
			       uint64_t *passed, unsigned int room, unsigned int *nr);

#pragma GCC visibility pop

#endif

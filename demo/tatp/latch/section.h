/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * section.h - elided sections with the program's own transactions: --means=inline.
 *
 * The wrapper of Cervini et al., DaMoN 2015, section 3.2. It is the only file of tatp_bench that
 * begins and ends transactions. It must be used only where section_usable() returned true.
 *
 *	XBEGIN	the word is free	the section runs
 *		the word is held	XABORT 0xff
 *	status	XABORT 0xff		wait until the word is free; one more attempt
 *		conflict		0 to 9 pauses, at random; one more attempt
 *		retry			a pause; one more attempt
 *		else			lock
 *
 * Each of these uses up one of section_attempts. A latch that is acquired in a section begins a
 * nested transaction: an abort returns to the outermost one. After an XABORT in there that waits
 * for its own latch, which is free, and then tries again, as the wrapper of the paper does.
 */
#ifndef DEMO_TATP_SECTION_H
#define DEMO_TATP_SECTION_H

#include "../../latch/rtm.h"
#include "latch-base.h"

/*
 * Transactions that are begun before a thread locks; set before the first section. "Our experiments
 * show that 2 attempts are optimal for our scenario", section 3.2.
 */
extern unsigned int section_attempts;

/* Transactions that are tried before the first section. */
#define SECTION_TRIALS 32

/** section_count() - count an abort with that status; @role: enum latch_role */
void section_count(unsigned int status, unsigned int role);

/**
 * section_aborted() - count an abort and do what the wrapper does after it
 * @status: what XBEGIN returned
 * @word: the latch's word
 * @mask: of the word, which is 0 in a latch that is free
 * @role: enum latch_role
 *
 * Return: true: the wrapper makes another attempt if one is left.
 */
bool section_aborted(unsigned int status, const uint64_t *word, uint64_t mask, unsigned int role);

/** section_usable() - true if the processor has RTM and may commit transactions */
static inline bool section_usable(void)
{
	return rtm_usable();
}

/** section_trial() - how many of SECTION_TRIALS transactions commit; where section_usable() */
static inline unsigned int section_trial(void)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < SECTION_TRIALS; i++) {
		if (rtm_begin() != RTM_STARTED)
			continue;
		rtm_end();
		nr++;
	}
	return nr;
}

/* One attempt; *@status is set if it aborts. */
static __inline_always bool section_attempt(const uint64_t *word, uint64_t mask,
					    unsigned int *status)
{
	*status = rtm_begin();
	if (unlikely(*status != RTM_STARTED))
		return false;
	if (unlikely(READ_ONCE(*word) & mask))
		rtm_abort();
	return true;
}

/**
 * section_begin() - begin an elided section
 * @word: the latch's word
 * @mask: of the word, which is 0 in a latch that is free
 * @role: enum latch_role
 *
 * Return: true: the section is elided; false: lock.
 */
static __inline_always bool section_begin(const uint64_t *word, uint64_t mask, unsigned int role)
{
	unsigned int status;

	for (unsigned int i = 1;; i++) {
		if (likely(section_attempt(word, mask, &status)))
			return true;
		if (!section_aborted(status, word, mask, role) || i >= section_attempts)
			return false;
	}
}

/** section_try() - as section_begin(), with one attempt and without a wait: the paper's attempt */
static __inline_always bool section_try(const uint64_t *word, uint64_t mask, unsigned int role)
{
	unsigned int status;

	if (likely(section_attempt(word, mask, &status)))
		return true;
	section_count(status, role);
	return false;
}

/** section_end() - end an elided section; the outermost one commits */
static __inline_always void section_end(void)
{
	rtm_end();
}

/** section_inside() - true in a transaction, whoever began it; where one has committed before */
static __inline_always bool section_inside(void)
{
	return rtm_test();
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lock-mode.h - the modes of locks: which are granted beside each other, and what two of a
 * transaction make together.
 *
 * The tables are those of Gray and Reuter, "Transaction Processing: Concepts and
 * Techniques", 1993, section 7.8.2, but that U is granted beside IS, too. U is granted beside
 * S, but nothing is granted beside U, so that its holder's conversion to X does not wait for
 * readers that come later.
 */
#ifndef DEMO_TATP_LOCK_MODE_H
#define DEMO_TATP_LOCK_MODE_H

#include <stdbool.h>

enum lock_mode {
	LOCK_NL,
	LOCK_IS,
	LOCK_IX,
	LOCK_S,
	LOCK_SIX,
	LOCK_U,
	LOCK_X,
	NR_LOCK_MODES,
};

/** lock_compatible() - true if a mode is granted beside one that another transaction holds */
static inline bool lock_compatible(enum lock_mode asked, enum lock_mode held)
{
	static const bool table[NR_LOCK_MODES][NR_LOCK_MODES] = {
		/* held:	NL IS IX S SIX U X */
		[LOCK_NL] =  {	1, 1, 1, 1, 1, 1, 1 },
		[LOCK_IS] =  {	1, 1, 1, 1, 1, 0, 0 },
		[LOCK_IX] =  {	1, 1, 1, 0, 0, 0, 0 },
		[LOCK_S] =   {	1, 1, 0, 1, 0, 0, 0 },
		[LOCK_SIX] = {	1, 1, 0, 0, 0, 0, 0 },
		[LOCK_U] =   {	1, 1, 0, 1, 0, 0, 0 },
		[LOCK_X] =   {	1, 0, 0, 0, 0, 0, 0 },
	};

	return table[asked][held];
}

/** lock_sum() - the weakest mode that permits what each of two modes permits */
static inline enum lock_mode lock_sum(enum lock_mode a, enum lock_mode b)
{
	static const unsigned char table[NR_LOCK_MODES][NR_LOCK_MODES] = {
		[LOCK_NL] = { LOCK_NL, LOCK_IS, LOCK_IX, LOCK_S, LOCK_SIX, LOCK_U, LOCK_X },
		[LOCK_IS] = { LOCK_IS, LOCK_IS, LOCK_IX, LOCK_S, LOCK_SIX, LOCK_U, LOCK_X },
		[LOCK_IX] = { LOCK_IX, LOCK_IX, LOCK_IX, LOCK_SIX, LOCK_SIX, LOCK_X, LOCK_X },
		[LOCK_S] = { LOCK_S, LOCK_S, LOCK_SIX, LOCK_S, LOCK_SIX, LOCK_U, LOCK_X },
		[LOCK_SIX] = { LOCK_SIX, LOCK_SIX, LOCK_SIX, LOCK_SIX, LOCK_SIX, LOCK_X, LOCK_X },
		[LOCK_U] = { LOCK_U, LOCK_U, LOCK_X, LOCK_U, LOCK_X, LOCK_U, LOCK_X },
		[LOCK_X] = { LOCK_X, LOCK_X, LOCK_X, LOCK_X, LOCK_X, LOCK_X, LOCK_X },
	};

	return (enum lock_mode)table[a][b];
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pairs.h - runs a program plain and elided, in pairs, and measures its time.
 *
 * Must never judge the times: see compare.h.
 */
#ifndef ELIDE_PAIRS_H
#define ELIDE_PAIRS_H

#include "measured.h"

/* The most pairs that can be run. */
#define PAIRS_MAX 10000

/* The runs whose standard output is let through. */
enum shown { SHOW_NONE, SHOW_FIRST, SHOW_ALL };

/**
 * struct pairs - what is run.
 * @runs:  see there
 * @nr:    pairs to measure
 * @mode:  ELIDE_MODE of elided runs
 *
 * The caller fills all but @mode.
 */
struct pairs {
	struct measured runs;
	size_t nr;
	enum shown shown;
	char *mode;
};

/**
 * pairs_run() - run the program, @p->nr times plain and as often elided.
 * @c: has its seed and room for @p->nr pairs; filled with these, and with the elision of the last elided run
 *
 * Notes signals from now on, see signals.h.
 *
 * Return: 0; 1 if a signal has ended it; -errno after one line.
 */
int pairs_run(struct pairs *p, struct comparison *c);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pairs.h - runs a program plain and elided, in pairs, and measures its time.
 *
 * Must never judge the times: see compare.h.
 */
#ifndef ELIDE_PAIRS_H
#define ELIDE_PAIRS_H

#include "../model/compare.h"
#include "run.h"

/* The most pairs that can be run. */
#define PAIRS_MAX 10000

/* The runs whose standard output is let through. */
enum shown { SHOW_NONE, SHOW_FIRST, SHOW_ALL };

/**
 * struct pairs - what is run.
 * @request, @program: filled by run_prepare()
 * @nr:    pairs to measure
 * @dir:   directory for the files of the runs
 * @mode:  ELIDE_MODE of the caller, NULL if it is not set
 * @null:  /dev/null, open
 *
 * The caller fills the first four.
 */
struct pairs {
	struct run_request request;
	struct run_program program;
	size_t nr;
	enum shown shown;
	char dir[64];
	char *mode;
	int null;
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

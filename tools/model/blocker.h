/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blocker.h - who held the lock that a row waited for.
 *
 * Must never name a call that the data file does not name.
 */
#ifndef ELIDE_BLOCKER_H
#define ELIDE_BLOCKER_H

#include "sums.h"

/**
 * blockers_find() - find for each row of a report the call that held the lock for most of the
 * sampled time that the row waited.
 *
 * Sets @blocker and @blocked of the sums, whose groups are made.
 *
 * Return: 0 or -ENOMEM.
 */
int blockers_find(struct report *r);

/** blocker_hold() - mean hold time of a row's blocker, cycles; 0 if it is not known. */
uint64_t blocker_hold(const struct report *r, const struct line *l);

#endif

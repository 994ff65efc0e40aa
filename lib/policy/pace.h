/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pace.h - after how many sections a thread reports what it has completed.
 *
 * A part of learn.c: pure functions. A report reads the clock and takes longer than many sections, and if the
 * thread holds another lock meanwhile, the others wait for it: with 16 threads at a table's lock and its
 * entries' each of them reported at each call, and the table's lock was held for twice as long.
 */
#ifndef ELIDE_PACE_H
#define ELIDE_PACE_H

#include "learn.h"

/* Sections until a thread's second report. */
#define LEARN_COUNT_FIRST 4

/* Sections between two reports, at most. */
#define LEARN_COUNT_MAX 4096

/* Time between reports before a class has an epoch, ns. */
#define LEARN_INTERVAL_FIRST (8 * LEARN_US)

/**
 * learn_interval() - the time between reports of a thread in the present epoch, ns.
 * @c: the class
 */
uint32_t learn_interval(const struct learn_class *c);

/**
 * learn_count() - after how many sections does a thread report next?
 * @nr: sections that it has completed since its last report
 * @elapsed: time since then, ns
 * @interval: learn_interval()
 * @locked: its call locks, and no challenge is on
 * @contended: it has found locks held meanwhile
 *
 * Return: sections, at least 3, and at most four times @nr.
 */
uint32_t learn_count(uint32_t nr, uint64_t elapsed, uint32_t interval, bool locked, bool contended);

#endif

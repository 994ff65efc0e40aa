/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pace.h - after how many sections a thread flushes what it has completed.
 *
 * A part of learn.c: pure functions. A flush reads the clock and takes longer than many sections, and if the
 * thread holds another lock meanwhile, the others wait for it. With 16 threads at a table's lock and its
 * entries' the table's lock was held for twice as long when each thread flushed at each call, and for a
 * twentieth longer when it flushed at each 60th.
 */
#ifndef ELIDE_PACE_H
#define ELIDE_PACE_H

#include "learn.h"

/**
 * enum learn_locks - how a call locks, between challenges.
 * @LEARN_LOCKS_NOT: it does not
 * @LEARN_LOCKS_FREE: it has found no lock held since the last flush
 * @LEARN_LOCKS_HELD: it has, and waited
 * @LEARN_LOCKS_INSIDE: its thread holds another lock then, for which others wait
 */
enum learn_locks {
	LEARN_LOCKS_NOT,
	LEARN_LOCKS_FREE,
	LEARN_LOCKS_HELD,
	LEARN_LOCKS_INSIDE,
};

/**
 * learn_interval() - the time between flushes of a thread in the present trial, ns.
 * @c: the class
 */
uint32_t learn_interval(const struct learn_class *c);

/**
 * learn_count() - after how many sections does a thread flush next?
 * @nr: sections that it has completed since its last flush
 * @elapsed: time since then, ns
 * @interval: learn_interval()
 * @locks: how its call locks
 *
 * Return: sections, at least 3, and at most four times @nr.
 */
uint32_t learn_count(uint32_t nr, uint64_t elapsed, uint32_t interval, enum learn_locks locks);

#endif

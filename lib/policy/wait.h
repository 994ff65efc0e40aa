/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wait.h - how long a thread waits on its processor for a lock that another thread has locked.
 *
 * Pure functions, like those of policy.h. All times are cycles of the time-stamp counter.
 *
 *   waits for                   waits at most
 *   -------------------------   ------------------------------------------------------------------
 *   an attempt to elide         SPIN_BUSY iterations; then, unless the process is oversubscribed, until
 *                               POLICY_HOLDS hold times have passed, or POLICY_WAIT_MAX
 *   the lock, before it sleeps  POLICY_WAIT_SLEEP, where hold times are shorter, the process is not
 *                               oversubscribed, and few threads come from a condition variable
 *   a unit of a semaphore that  POLICY_WAIT_SLEEP, where such waits are mostly shorter and the process is
 *   is used as a lock           not oversubscribed
 *
 * A process is oversubscribed of which more threads run than there are processors: the holder may have none.
 */
#ifndef ELIDE_WAIT_H
#define ELIDE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "numbers.h"

/**
 * policy_hold() - learn from a hold time.
 * @known: the typical hold time of the class so far; 0: none was measured
 * @cycles: a hold time
 *
 * The typical hold time follows longer ones by at most twofold steps, and shorter ones slowly, as
 * locks of a class may be held by several sites. It stays as it is while hold times are between
 * half of it and nine eighths: threads share it, and would write it too often.
 *
 * Return: the typical hold time from now on, from 1 to POLICY_WAIT_MAX.
 */
uint32_t policy_hold(uint32_t known, uint64_t cycles);

/**
 * policy_wait_attempt() - how long to wait for a held lock before an attempt to elide it.
 * @hold: typical hold time of the class, 0 if none was measured
 * @oversubscribed: more threads run than there are processors
 *
 * Return: cycles, after the iterations of SPIN_BUSY; at most POLICY_WAIT_MAX.
 */
uint32_t policy_wait_attempt(uint32_t hold, bool oversubscribed);

/**
 * policy_wait_sleep() - how long to wait for a held lock before the thread sleeps.
 * @hold: typical hold time of the class, 0 if none was measured
 * @oversubscribed: more threads run than there are processors
 *
 * To sleep and be woken costs two system calls and a wake-up: 3,600 cycles of rtmgrind's flat machine,
 * 2 to 5 us on a processor of one's own, 19 us (49,000 cycles) between two processors of a virtual
 * machine, by "perf bench sched pipe". A thread that waits for as long as that before it sleeps loses no
 * more than that much again (Karlin, Li, Manasse, Owicki, "Empirical studies of competitive spinning for
 * a shared-memory multiprocessor", SOSP'91). With sections of 6 us and two threads on two processors
 * 32,768 cycles gave 1.6 times the sections of 8,192.
 *
 * Return: cycles, POLICY_WAIT_SLEEP or 0.
 */
uint32_t policy_wait_sleep(uint32_t hold, bool oversubscribed);

/**
 * policy_wait_unit() - how long to wait for a unit of a semaphore before the thread sleeps.
 * @usual: usual wait for one, learnt by policy_hold(); 0 if none was measured
 * @oversubscribed: more threads run than there are processors
 * @nr: waits of the thread at the call before this one
 *
 * Return: cycles, POLICY_WAIT_SLEEP or 0.
 */
uint32_t policy_wait_unit(uint32_t usual, bool oversubscribed, uint64_t nr);

/**
 * policy_sleeps_at_once() - do threads of a class sleep at once where they find a lock held?
 * @conds: waits at condition variables with its mutexes, of late
 * @contended: acquisitions that found them locked, of late
 * @site_contended: the same, of the thread's acquisitions at a call site
 * @site_acquired: all of these
 *
 * A thread that comes from a condition variable sleeps in glibc until the mutex is released to it, and
 * threads that are awake are faster: those of one side of a queue go on until it is full, and each release
 * wakes a thread that finds the mutex locked again. By queues of 8 to 64 places and 16 threads on the flat
 * machine to sleep at once took 771 instead of 1,012 ns a section, 646 instead of 943, 533 instead of 738;
 * with one wait to 5 contended acquisitions or more, 870 instead of 687, 581 instead of 468. Where most
 * acquisitions are elided, those that lock hold up the others: 351 instead of 306 with 4 threads.
 */
bool policy_sleeps_at_once(uint32_t conds, uint32_t contended, uint64_t site_contended,
			   uint64_t site_acquired);

#endif

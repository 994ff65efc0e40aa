/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wait.h - how long a thread waits on its processor for a lock that another thread has locked.
 *
 * Pure functions, like those of policy.h. All times are cycles of the time-stamp counter.
 *
 *   waits for                   waits at most
 *   -------------------------   ------------------------------------------------------------------
 *   an attempt to elide         SPIN_BUSY iterations; then, unless the process is crowded, until
 *                               POLICY_HOLDS hold times have passed, or POLICY_WAIT_MAX
 *   the lock, before it sleeps  POLICY_WAIT_SLEEP, where hold times are shorter, the process is not
 *                               crowded, and few threads come from a condition variable
 *   a unit of a semaphore that  POLICY_WAIT_SLEEP, where such waits are mostly shorter and the process is
 *   is used as a lock           not crowded
 *
 * A process is crowded that has more threads than processors: the holder may have none.
 */
#ifndef ELIDE_WAIT_H
#define ELIDE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Hold times that an attempt waits for: whoever comes when the lock has just been locked waits for
 * one, and hold times differ.
 */
#define POLICY_HOLDS 2

/*
 * The longest such wait, whatever the hold time: it bounds what a thread of high priority can lose
 * to a holder that does not run. 1 ms at 2 GHz.
 */
#define POLICY_WAIT_MAX (1u << 21)

/*
 * To sleep and be woken costs two system calls and a wake-up: 3,600 cycles of rtmgrind's flat machine,
 * 2 to 5 us on a processor of one's own, 19 us (49,000 cycles) between two processors of a virtual
 * machine, by "perf bench sched pipe". Whoever waits for as long as that before he sleeps loses no more
 * than that much again (Karlin, Li, Manasse, Owicki, "Empirical studies of competitive spinning for a
 * shared-memory multiprocessor", SOSP'91). Between these: 32,768 cycles. With sections of 6 us and two
 * threads on two processors 1.6 times what 8,192 cycles gave.
 */
#define POLICY_WAIT_SLEEP (1u << 15)

/*
 * A thread that comes from a condition variable sleeps in glibc until the mutex is released to it, and
 * threads that are awake are faster: those of one side of a queue go on until it is full, and each release
 * wakes a thread that finds the mutex locked again. So where more than one wait at a condition variable
 * comes to POLICY_CONDS contended acquisitions, of at least POLICY_CONDS_MIN, all sleep at once, as without
 * the library. By queues of 8 to 64 places and 16 threads on the flat machine: 771 instead of 1,012 ns a
 * section, 646 instead of 943, 533 instead of 738; with one to 5 or more, 870 instead of 687, 581 instead
 * of 468. Where fewer than one acquisition in POLICY_CONDS_OFTEN is contended, as most are elided, those
 * that lock hold up the others: 351 instead of 306 with 4 threads.
 */
#define POLICY_CONDS       2
#define POLICY_CONDS_MIN   16
#define POLICY_CONDS_OFTEN 32

/* Both are halved when they come to this together: what was long ago does not count. */
#define POLICY_CONDS_WINDOW 256

/**
 * policy_hold() - learn from a hold time.
 * @known: the usual hold time of the class so far; 0: none was measured
 * @cycles: a hold time
 *
 * The usual hold time follows longer ones by at most twofold steps, and shorter ones slowly, as
 * locks of a class may be held by several sites. It stays as it is while hold times are between
 * half of it and nine eighths: threads share it, and would write it too often.
 *
 * Return: the usual hold time from now on, from 1 to POLICY_WAIT_MAX.
 */
uint32_t policy_hold(uint32_t known, uint64_t cycles);

/**
 * policy_wait_attempt() - how long to wait for a held lock before an attempt to elide it.
 * @hold: usual hold time of the class, 0 if none was measured
 * @crowded: there are more threads than processors
 *
 * Return: cycles, after the iterations of SPIN_BUSY; at most POLICY_WAIT_MAX.
 */
uint32_t policy_wait_attempt(uint32_t hold, bool crowded);

/**
 * policy_wait_sleep() - how long to wait for a held lock before the thread sleeps.
 * @hold: usual hold time of the class, 0 if none was measured
 * @crowded: there are more threads than processors
 *
 * Return: cycles, POLICY_WAIT_SLEEP or 0.
 */
uint32_t policy_wait_sleep(uint32_t hold, bool crowded);

/*
 * A thread that sleeps waits for its wake-up, too, so its waits do not show how short they could be: one wait
 * for a unit in POLICY_UNIT_PROBE is awake whatever is known. Chosen.
 */
#define POLICY_UNIT_PROBE 16

/**
 * policy_wait_unit() - how long to wait for a unit of a semaphore before the thread sleeps.
 * @usual: usual wait for one, learnt by policy_hold(); 0 if none was measured
 * @crowded: there are more threads than processors
 * @nr: waits of the thread at the call before this one
 *
 * Return: cycles, POLICY_WAIT_SLEEP or 0.
 */
uint32_t policy_wait_unit(uint32_t usual, bool crowded, uint64_t nr);

/**
 * policy_sleeps_at_once() - do threads of a class sleep at once where they find a lock held?
 * @conds: waits at condition variables with its mutexes, of late
 * @contended: acquisitions that found them locked, of late
 * @site_contended: the same, of the thread's acquisitions at a call site
 * @site_acquired: all of these
 */
bool policy_sleeps_at_once(uint32_t conds, uint32_t contended, uint64_t site_contended,
			   uint64_t site_acquired);

#endif

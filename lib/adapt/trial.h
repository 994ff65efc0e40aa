/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trial.h - how many sections of a class of locks complete per trial, and the arms of its sites.
 *
 * This half of the adaptive policy measures, keeps the state and acts; policy/learn.h decides.
 * Threads flush: measure.h. If the trial has lasted long enough, the thread that flushes adds up the
 * sections that all threads have completed in it, gives the sum to learn_trial() and begins the next
 * trial.
 *
 * Outside transactions only. Nothing here waits for another thread.
 */
#ifndef ELIDE_TRIAL_H
#define ELIDE_TRIAL_H

#include "../compiler.h"
#include "../policy/probe.h"
#include "../state/settings.h"
#include "../state/thread.h"
#include "clock.h"

#pragma GCC visibility push(hidden)

/**
 * struct adapt_class - the adaptive policy's state of a class of locks, or of one hot lock.
 * @arms:     by site, arm of its acquisitions now, as ELIDE_ARM_CODE()
 * @settled:  by site, the arm found best: the report calls it the state of the site
 * @dormant:  bits by site: its arm locks and there is no challenge: a call may be dormant
 * @restricts: bits by site: its arm is "restrict", see crowd.h
 * @inside:   bits by site: locks were contended there by threads that held other ones: crowd.c
 * @trial:    number of the trial
 * @start:    beginning of the trial, ns
 * @from:     beginning of its measured part, ns; 0 while threads end what they began before it
 * @interval: time between two flushes of a thread, ns
 * @class_index: number of the class in the registry
 * @lock_address: the lock, where this is the state of a hot lock; else 0
 * @before:   sections that all threads had completed at @from
 * @aborts:   attempts at @from that other threads had aborted
 * @flushers: threads that have flushed in the trial
 * @threads:  threads that flush in most trials
 * @joined:   threads that have begun to use the class in the trial
 * @strays:   flushes in a row whose clock was more than ABSURD away from @start
 * @lock:     1 while a thread changes @arms or what follows here; no thread waits for it
 * @latest:   latest time of a flush, ns
 * @leader:   measurement of the thread that made that flush
 * @waits:    locked acquisitions in the trial that found the lock held
 * @fails:    acquisitions of the present window that fell back: hotlock.c
 * @window:   number of the present window
 * @commits, @fallbacks: by site, what all threads had elided, and what had fallen back, when a thread
 *            last asked whether the site is unelidable: giveup.c
 * @nr_keys, @keys: the sites and their kinds; they change in global-lock paths only
 * @learn:    what the policy has learnt of the class
 *
 * An acquisition reads the first line, which changes with the trial; a flush writes the next
 * ones.
 */
struct adapt_class {
	uint8_t arms[LEARN_SITES];
	uint8_t settled[LEARN_SITES];
	uint64_t start;
	uint64_t from;
	uint32_t trial;
	uint32_t interval;
	uint32_t class_index;
	uint8_t dormant;
	uint8_t restricts;
	uint8_t inside;
	uint64_t lock_address;

	uint64_t before __cacheline_aligned;
	uint64_t aborts;
	uint32_t flushers;
	uint32_t threads;
	uint32_t joined;
	uint32_t strays;
	uint32_t lock;
	uint64_t latest;
	const struct adapt_thread *leader;
	uint32_t waits;
	uint8_t fails;
	uint8_t window;
	uint32_t commits[LEARN_SITES];
	uint32_t fallbacks[LEARN_SITES];

	uint32_t nr_keys __cacheline_aligned;
	uint64_t keys[LEARN_SITES];
	struct learn_class learn;
};

/* All states, by elide_call.adapt_nr. The one with number 0 locks every lock. */
extern struct adapt_class *adapt_classes;

/** adapt_hotlock() - the state of the hot lock with number @nr, from 1. */
struct adapt_class *adapt_hotlock(uint32_t nr);

/** adapt_class_try_lock() - acquire @p->lock, without waiting. Return: false if it is held. */
bool adapt_class_try_lock(struct adapt_class *p);

/** adapt_class_unlock() - release @p->lock. */
void adapt_class_unlock(struct adapt_class *p);

/** adapt_class_publish() - set @p->arms, settled and dormant by @p->learn. With @p->lock. */
void adapt_class_publish(struct adapt_class *p);

/** adapt_class_log() - write the decision @d about @p into the data file's timeline. */
void adapt_class_log(const struct adapt_class *p, const struct learn_decision *d);

/** adapt_start() - make room for @max_classes and for HOT_LOCKS locks. Return: 0 or -ENOMEM. */
int adapt_start(uint32_t max_classes);

/** adapt_forget() - in a forked child: release the locks of all states, whose holders are gone. */
void adapt_forget(void);

/**
 * adapt_knows() - has a call of locks of that class been measured, with that site and kind?
 * @class_index: of a lock that is registered
 * @site: return address of the call
 * @kind: its kind
 *
 * If so, adapt_attach() of another thread's such call changes nothing that threads share. Lock-free.
 */
bool adapt_knows(uint32_t class_index, const void *site, enum elide_kind kind);

/** adapt_class_of() - the state of a class, which is made if it is new: adapt_classes[@class_index + 1]. */
struct adapt_class *adapt_class_of(uint32_t class_index);

/**
 * adapt_site_of() - number of a site, below LEARN_SITES; a new one gets the next number, or the last.
 * @key: elide_call_key()
 *
 * In a global-lock path, or where adapt_knows() the call.
 */
uint32_t adapt_site_of(struct adapt_class *p, uint64_t key);

/**
 * adapt_flushed() - a thread has read the clock: does the measured part begin, or is the trial over?
 * @adapt: the thread's measurement
 * @now: the time, ns
 */
void adapt_flushed(struct adapt_class *p, struct adapt_thread *adapt, uint64_t now);

#pragma GCC visibility pop

#endif

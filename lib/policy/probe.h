/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe.h - call sites whose sections cannot be elided.
 *
 * A part of learn.c: pure functions of what is known of a class. The states of a site are drawn in
 * learn.h.
 */
#ifndef ELIDE_PROBE_H
#define ELIDE_PROBE_H

#include "learn.h"

/* Time of the next probe of a site that began as unelidable: no clock was read yet. */
#define LEARN_PROBE_UNSET UINT64_MAX

/**
 * learn_is_shared() - may the number stand for several sites?
 *
 * Then it is never unelidable: sites that can be elided would be locked with one that cannot. In a tree of 11 sites
 * whose load took page faults at one of them, two that made all the updates had a sixth of the throughput.
 */
static inline bool learn_is_shared(unsigned int site)
{
	return site == LEARN_SITES - 1;
}

/**
 * learn_unelidable() - sections of a site cannot be elided: lock there, and probe now and then.
 * @c: the class
 * @site: number of the site
 * @now: time, ns
 *
 * Return: false if the site was unelidable already or is shared, or if no trial has ended of a class of which an
 * earlier process knew.
 */
bool learn_unelidable(struct learn_class *c, unsigned int site, uint64_t now);

/**
 * learn_hand_over_hand() - do the sections of a site release a lock that was locked before them?
 * @aborts: of a thread, for that cause
 * @commits: of its transactions that began at the site
 *
 * Where the lock before is elided the transaction begins with that. Where it is locked, none of these sections
 * can be elided, and what each attempt costs would count against locking the other one.
 */
bool learn_hand_over_hand(uint64_t aborts, uint64_t commits);

/**
 * learn_elided() - are sections of a site elided, by what all threads have done there of late?
 * @commits: acquisitions elided
 * @fallbacks: acquisitions that fell back, for any cause
 *
 * A thread that cannot elide three acquisitions in a row may have met them by chance: where a quarter
 * of the sections cannot be elided, one in 64 begins such a row, and 16 threads look.
 *
 * Return: true if at least one was elided for four that fell back.
 */
bool learn_elided(uint32_t commits, uint32_t fallbacks);

/** learn_due() - is a probe of @site due? Changes nothing. */
bool learn_due(const struct learn_class *c, unsigned int site, uint64_t now);

/**
 * learn_probe() - is this acquisition a probe?
 * @c: the class
 * @site: number of the site
 * @now: time, ns
 *
 * Return: true if @site is unelidable and a probe is due. learn_probed() sets the time of the next
 * one; if it is not called, that is when the time between probes has passed again.
 */
bool learn_probe(struct learn_class *c, unsigned int site, uint64_t now);

/* Outcome of a probe. */
enum learn_outcome {
	LEARN_PASSED, /* it committed */
	LEARN_FAILED, /* it aborted as those before it */
	LEARN_UNSURE, /* other threads held the lock or aborted it */
};

/**
 * learn_probed() - a probe has ended.
 * @c: the class
 * @site: number of the site
 * @outcome: of the probe
 * @now: time, ns
 *
 * Return: true if the site is usual again.
 */
bool learn_probed(struct learn_class *c, unsigned int site, enum learn_outcome outcome,
		  uint64_t now);

#endif

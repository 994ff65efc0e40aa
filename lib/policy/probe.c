/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe.c - call sites whose sections cannot be elided, and probes whether that has changed.
 *
 * Must never look at a clock, a lock word or anything but its arguments.
 */
#include "probe.h"

/* Longest time between probes of an unelidable site, ns. Chosen with the numbers of learn.c. */
#define PROBE_MAX (4000 * LEARN_US)

/* Acquisitions that fall back for each elided one, at most, at a site that is elided. Chosen here. */
#define ELIDED_FEW 4

/* A site is usual again after this number of probes that committed. */
#define PROBE_PASS 2

/*
 * After a probe that other threads ended, the next one comes after PROBE_AGAIN ns; after the
 * PROBE_UNSURE-th of them the site is usual again, as its sections may be elidable.
 */
#define PROBE_AGAIN  (100 * LEARN_US)
#define PROBE_UNSURE 4

bool learn_unelidable(struct learn_class *c, unsigned int site, uint64_t now)
{
	struct learn_site *s = &c->sites[site];

	if (s->unelidable)
		return false;
	s->unelidable = true;
	s->passed = s->unsure = 0;
	/* @wait is kept when probes pass: a site that fails again is probed less often. */
	if (s->wait < LEARN_PROBE_MIN)
		s->wait = LEARN_PROBE_MIN;
	else if (s->wait < PROBE_MAX)
		s->wait *= 2;
	s->probe_at = now + s->wait;
	return true;
}

bool learn_elided(uint32_t commits, uint32_t fallbacks)
{
	return commits && commits >= fallbacks / ELIDED_FEW;
}

bool learn_due(const struct learn_class *c, unsigned int site, uint64_t now)
{
	const struct learn_site *s = &c->sites[site];

	return s->unelidable && (now >= s->probe_at || s->probe_at > now + PROBE_MAX);
}

bool learn_probe(struct learn_class *c, unsigned int site, uint64_t now)
{
	struct learn_site *s = &c->sites[site];

	if (!s->unelidable)
		return false;
	if (s->probe_at > now + PROBE_MAX)
		s->probe_at = now + PROBE_MAX;
	if (now < s->probe_at)
		return false;
	s->probe_at = now + s->wait;
	return true;
}

bool learn_probed(struct learn_class *c, unsigned int site, enum learn_outcome outcome,
		  uint64_t now)
{
	struct learn_site *s = &c->sites[site];

	if (!s->unelidable)
		return false;
	if (outcome == LEARN_FAILED) {
		s->passed = s->unsure = 0;
		if (s->wait < PROBE_MAX)
			s->wait *= 2;
		s->probe_at = now + s->wait;
		return false;
	}
	s->probe_at = outcome == LEARN_PASSED ? now : now + PROBE_AGAIN;
	s->passed += outcome == LEARN_PASSED;
	s->unsure += outcome == LEARN_UNSURE;
	if (s->passed < PROBE_PASS && s->unsure < PROBE_UNSURE)
		return false;
	s->unelidable = false;
	/* Where locking is the best arm nothing changes: its challenges go on as before. */
	if (s->arm != POLICY_ARM_real)
		learn_anew(c, now);
	return true;
}

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

/*
 * Sections may fail a few times in a row when a process begins, as each touches memory for the first
 * time. What this number of probes has confirmed is kept for later processes. Chosen.
 */
#define PROBE_CONFIRMS 2

bool learn_unelidable(struct learn_class *c, unsigned int site, uint64_t now)
{
	struct learn_site *s = &c->sites[site];

	/* What is known outweighs the first sections of a process, before an epoch has ended. */
	if (s->unelidable || (c->known && !c->starts_from))
		return false;
	s->unelidable = true;
	s->passed = s->unsure = s->failed = 0;
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

void learn_site_with(struct learn_class *c, unsigned int site, const struct learn_known_site *known)
{
	struct learn_site *s = &c->sites[site];

	s->arm = learn_may_have(c, known->arm);
	if (!known->unelidable)
		return;
	s->unelidable = true;
	/* As when that was confirmed. */
	s->failed = PROBE_CONFIRMS;
	s->wait = LEARN_PROBE_MIN << PROBE_CONFIRMS;
	/* The first report sets a time that is further away than PROBE_MAX to that. */
	s->probe_at = LEARN_PROBE_UNSET;
}

void learn_site_keep(const struct learn_class *c, unsigned int site, struct learn_known_site *known)
{
	const struct learn_site *s = &c->sites[site];

	*known = (struct learn_known_site){
		.arm = s->arm,
		.unelidable = s->unelidable && s->failed >= PROBE_CONFIRMS,
	};
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
		s->failed += s->failed < UINT8_MAX;
		c->decided |= s->failed >= PROBE_CONFIRMS;
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
	c->decided = true;
	/*
	 * Where locking is the best arm nothing changes: its challenges go on as before. If no probe had
	 * confirmed that it was unelidable, what an earlier process knew stays.
	 */
	if (s->arm != POLICY_ARM_real && (!c->known || s->failed >= PROBE_CONFIRMS))
		learn_anew(c, now);
	return true;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe.c - call sites whose sections cannot be elided, and probes whether that has changed.
 *
 * Must never look at a clock, a lock word or anything but its arguments.
 */
#include "probe.h"

/* Longest time between probes of an unelidable site, ns. Chosen with the numbers of learn.c. */
#define PROBE_MAX (4000 * LEARN_US)

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
	s->unelidable = c->decided = true;
	s->passed = s->unsure = 0;
	/* @wait is kept when probes pass: a site that fails again is probed less often. */
	if (s->wait < LEARN_PROBE_MIN)
		s->wait = LEARN_PROBE_MIN;
	else if (s->wait < PROBE_MAX)
		s->wait *= 2;
	s->probe_at = now + s->wait;
	return true;
}

void learn_site_with(struct learn_class *c, unsigned int site, const struct learn_known_site *known)
{
	struct learn_site *s = &c->sites[site];

	s->arm = known->arm;
	s->unelidable = known->unelidable;
	if (known->wait || known->unelidable)
		s->wait = known->wait < LEARN_PROBE_MIN ? LEARN_PROBE_MIN :
			  known->wait > PROBE_MAX ? PROBE_MAX : known->wait;
	/* No clock here: the first report sets a time that is further away than PROBE_MAX to that. */
	s->probe_at = UINT64_MAX;
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
	c->decided = true;
	learn_anew(c, now);
	return true;
}

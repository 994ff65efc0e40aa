/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe.c - call sites at which nothing can be elided, and whether that is so still.
 *
 * Must never look at a clock, a lock word or anything but its arguments.
 */
#include "probe.h"

/* Longest time between probes of an unelidable site. */
#define PROBE_MAX  (4000 * LEARN_US)
#define PROBE_PASS 2

/* If others were in its way: time until the next, and how many of these there are. */
#define PROBE_AGAIN  (100 * LEARN_US)
#define PROBE_UNSURE 4

bool learn_unelidable(struct learn_class *c, unsigned int site, uint64_t now)
{
	struct learn_site *s = &c->sites[site];

	if (s->unelidable)
		return false;
	s->unelidable = true;
	s->passed = s->unsure = 0;
	/* What has passed its probes before, and fails again, is not asked as soon. */
	if (s->wait < LEARN_PROBE_MIN)
		s->wait = LEARN_PROBE_MIN;
	else if (s->wait < PROBE_MAX)
		s->wait *= 2;
	s->probe_at = now + s->wait;
	return true;
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
	learn_anew(c, now);
	return true;
}

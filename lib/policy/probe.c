/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe.c - call sites whose sections cannot be elided, and probes whether that has changed.
 *
 * Must never look at a clock, a lock word or anything but its arguments.
 */
#include "probe.h"

bool learn_unelidable(struct learn_class *c, unsigned int site, uint64_t now)
{
	struct learn_site *s = &c->sites[site];

	/* What is known outweighs the first sections of a process, before a trial has ended. */
	if (s->unelidable || learn_is_shared(site) || (c->known && !c->starts_from))
		return false;
	s->unelidable = true;
	s->passed = s->unsure = s->failed = 0;
	/* @wait is kept when probes pass: a site that fails again is probed less often. */
	if (s->wait < PERIOD_MIN)
		s->wait = PERIOD_MIN;
	else if (s->wait < PROBE_MAX)
		s->wait *= 2;
	s->probe_at = now + s->wait;
	return true;
}

bool learn_elided(uint32_t commits, uint32_t fallbacks)
{
	return commits && commits >= fallbacks / ELIDED_FEW;
}

bool learn_hand_over_hand(uint64_t aborts, uint64_t commits)
{
	return aborts >= UNELIDABLE_ROW && aborts >= commits / ELIDED_FEW;
}

void learn_site_with(struct learn_class *c, unsigned int site)
{
	c->sites[site] = (struct learn_site){
		.unelidable = true,
		/* As when that was confirmed. */
		.failed = PROBE_TIMES,
		.wait = PERIOD_MIN << PROBE_TIMES,
		/* The first flush sets a time that is further away than PROBE_MAX to that. */
		.probe_at = LEARN_PROBE_UNSET,
	};
}

bool learn_site_keep(const struct learn_class *c, unsigned int site)
{
	return c->sites[site].unelidable && c->sites[site].failed >= PROBE_TIMES;
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
		c->decided |= s->failed >= PROBE_TIMES;
		if (s->wait < PROBE_MAX)
			s->wait *= 2;
		s->probe_at = now + s->wait;
		return false;
	}
	s->probe_at = outcome == LEARN_PASSED ? now : now + PROBE_AGAIN;
	s->passed += outcome == LEARN_PASSED;
	s->unsure += outcome == LEARN_UNSURE;
	if (s->passed < PROBE_TIMES && s->unsure < PROBE_UNSURE)
		return false;
	s->unelidable = false;
	c->decided = true;
	/*
	 * Where locking is the best arm nothing changes: its challenges go on as before. If no probe had
	 * confirmed that it was unelidable, what an earlier process knew stays.
	 */
	if (c->arm != POLICY_ARM_real && (!c->known || s->failed >= PROBE_TIMES))
		learn_anew(c, now);
	return true;
}

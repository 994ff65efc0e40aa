// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * distance.c - how far cores are from each other, and how long a line takes between them.
 *
 * Must never have a number of its own: all latencies are in model.def.
 */
#include "distance.h"
#include "model.h"
#include "rtmgrind.h"

/**
 * distance_between() - the part of the machine that two cores have in common.
 * @a: a core
 * @b: another core
 *
 * Return: enum distance, which is in the order of the distance.
 */
enum distance distance_between(Int a, Int b)
{
	if (a / model.domain == b / model.domain)
		return SAME_DOMAIN;
	if (a / model.die == b / model.die)
		return SAME_DIE;
	if (a / model.quadrant == b / model.quadrant)
		return SAME_QUADRANT;
	return model_socket(a) == model_socket(b) ? SAME_SOCKET : REMOTE;
}

/** distance_clean() - Return: latency of an unmodified line from core @from to core @to, cycles. */
Long distance_clean(Int from, Int to)
{
	switch (distance_between(from, to)) {
	case SAME_DOMAIN:
		return model.clean_domain;
	case SAME_DIE:
		return model.clean_die;
	case SAME_QUADRANT:
		return model.clean_quadrant;
	case SAME_SOCKET:
		return model.clean_socket;
	default:
		return model.clean_remote;
	}
}

/** distance_dirty() - Return: latency of a modified line from core @from to core @to, cycles. */
Long distance_dirty(Int from, Int to)
{
	switch (distance_between(from, to)) {
	case SAME_DOMAIN:
		return model.dirty_domain;
	case SAME_DIE:
		return model.dirty_die;
	case SAME_QUADRANT:
		return model.dirty_quadrant;
	case SAME_SOCKET:
		return model.dirty_socket;
	default:
		return model.dirty_remote;
	}
}

/**
 * distance_probe() - how long the directory's question to the core that has a line takes.
 * @from: the core that has the line
 * @to: the core that requests it
 *
 * Inside a domain, cores see each other's requests, and the directory does not ask.
 *
 * Return: cycles: half of a modified line's latency, 0 inside a domain.
 */
Long distance_probe(Int from, Int to)
{
	return distance_between(from, to) == SAME_DOMAIN ? 0 : distance_dirty(from, to) / 2;
}

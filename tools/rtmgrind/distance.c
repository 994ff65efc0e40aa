// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * distance.c - how far cores are from each other, and what that costs a line.
 */
#include "distance.h"
#include "model.h"
#include "rtmgrind.h"

/**
 * distance_between() - how far a line has to go between two cores.
 * @a: a core
 * @b: another
 *
 * Return: greater if it is farther.
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

/** distance_clean() - Return: cycles of a line that core @from has unchanged to core @to. */
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

/** distance_dirty() - Return: cycles of a line that core @from has modified to core @to. */
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
 * distance_probe() - how long the directory's question to a core takes.
 * @from: the core that has a line
 * @to: the one that wants it; none is asked in a domain, where all see each other's requests
 *
 * Return: cycles.
 */
Long distance_probe(Int from, Int to)
{
	return distance_between(from, to) == SAME_DOMAIN ? 0 : distance_dirty(from, to) / 2;
}

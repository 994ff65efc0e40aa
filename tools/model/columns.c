// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * columns.c - the values of columns.def as text.
 *
 * Must never be used where a number has to be exact.
 */
#include <stdio.h>

#include "../base/text.h"
#include "columns.h"

void scale_time(const struct report *r, char *to, size_t size, uint64_t cycles)
{
	uint64_t ns;

	if (to_ns(r, cycles, &ns))
		scale(to, size, cycles, " cycles");
	else
		scale_ns(to, size, ns);
}

void number_cell(const struct report *r, enum unit unit, double v, char *to, size_t size)
{
	switch (unit) {
	case PERCENT:
		snprintf(to, size, "%.1f", v);
		break;
	case TIME:
		if (!r->cycles)
			scale(to, size, v, "cy");
		else
			scale_ns(to, size, v * (double)r->ns / (double)r->cycles);
		break;
	default:
		scale(to, size, v, "");
	}
}

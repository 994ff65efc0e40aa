// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * columns.c - the values of columns.def as text.
 *
 * Must never be used where a number has to be exact.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/text.h"
#include "../names/names.h"
#include "attribute.h"
#include "columns.h"

/* Is there a value? */
#define KNOWN_TEXT(v)    (strcmp((v), UNKNOWN_CELL) != 0)
#define KNOWN_COUNT(v)   (!isnan((double)(v)))
#define KNOWN_PERCENT(v) KNOWN_COUNT(v)
#define KNOWN_CYCLES(v)  KNOWN_COUNT(v)
#define KNOWN_TIME(v)    KNOWN_COUNT(v)
#define KNOWN_MEAN(v)    KNOWN_COUNT(v)

void columns_find(const struct report *r, size_t nr, bool shown[NR_COLUMNS])
{
#define ELIDE_COLUMN(id, head, unit, value, view, drop)                                            \
	shown[CELL_##id] = column_shown(view, r->elides) && ((view) != PROFILE || !nr);
#include "columns.def"
#undef ELIDE_COLUMN
	for (size_t i = 0; i < nr; i++) {
		const struct line *l = &r->lines[i];

#define ELIDE_COLUMN(id, head, unit, value, view, drop)                                            \
	if ((view) == PROFILE && column_shown(view, r->elides) && KNOWN_##unit(value))             \
		shown[CELL_##id] = true;
#include "columns.def"
#undef ELIDE_COLUMN
	}
}

enum colour verdict_colour(enum verdict v)
{
	static const enum colour colours[] = {
#define ELIDE_VERDICT(ID, word, colour) [VERDICT_##ID] = COLOUR_##colour,
#include "verdicts.def"
#undef ELIDE_VERDICT
	};

	return colours[v];
}

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
	if (isnan(v)) {
		snprintf(to, size, UNKNOWN_CELL);
		return;
	}
	switch (unit) {
	case PERCENT:
		snprintf(to, size, "%.1f", v);
		break;
	case TIME:
	case MEAN:
		if (!r->cycles)
			scale(to, size, v, "cy");
		else
			scale_ns(to, size, v * (double)r->ns / (double)r->cycles);
		break;
	default:
		scale(to, size, v, "");
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * table.c - the table of rows of a report as text.
 *
 * Numbers are rounded for reading; JSON and CSV have the exact ones. Must never print a control character of
 * the data file.
 */
#include <stdlib.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "../base/colour.h"
#include "../base/text.h"
#include "../model/attribute.h"
#include "../model/columns.h"
#include "../model/compare.h"
#include "../names/names.h"
#include "table.h"

/* column.shown: left out because the table would be too wide. */
#define LEFT_OUT 2
/* The largest drop of columns.def. */
#define DROP_MAX 12
/* Characters to which names are narrowed before columns are left out. */
#define NAME_MIN 20
struct cell {
	char text[CELL_MAX + 1];
};

struct column {
	const char *head;
	enum unit unit;
	int drop;
	int width;
	int shown;
};

static const struct column all_columns[NR_COLUMNS] = {
#define ELIDE_COLUMN(id, head, unit, value, view, drop) {head, unit, drop, 0, 1},
#include "../model/columns.def"
#undef ELIDE_COLUMN
};

#define FILL_TEXT(v, unit)    fit(c->text, (v), CELL_MAX)
#define FILL_COUNT(v, unit)   number_cell(r, unit, (double)(v), c->text, sizeof(c->text))
#define FILL_PERCENT(v, unit) FILL_COUNT(v, unit)
#define FILL_CYCLES(v, unit)  FILL_COUNT(v, unit)
#define FILL_TIME(v, unit)    FILL_COUNT(v, unit)
#define FILL_MEAN(v, unit)    FILL_COUNT(v, unit)

static void fill_cells(const struct report *r, const struct line *l, struct cell *cells)
{
	struct cell *c = cells;

#define ELIDE_COLUMN(id, head, unit, value, view, drop)                                         \
	FILL_##unit(value, unit);                                                                  \
	c++;
#include "../model/columns.def"
#undef ELIDE_COLUMN
}

static int table_width(const struct column *columns)
{
	int width = -1;

	for (int i = 0; i < NR_COLUMNS; i++)
		width += columns[i].shown == 1 ? columns[i].width + 1 : 0;
	return width;
}

/* Uses spare width for columns that were left out; returns columns still left out. */
static int fill_columns(struct column *columns, int width, int left_out)
{
	for (int drop = 1; drop <= DROP_MAX; drop++)
		for (int i = 0; i < NR_COLUMNS; i++) {
			if (columns[i].drop != drop || columns[i].shown != LEFT_OUT ||
			    table_width(columns) + columns[i].width + 1 > width)
				continue;
			columns[i].shown = 1;
			left_out--;
		}
	return left_out;
}

/* Uses spare width for columns that were left out, and then for names. */
static int fill_width(struct column *columns, const int *wanted, int width, int left_out)
{
	bool grown = true;

	left_out = fill_columns(columns, width, left_out);
	while (grown) {
		grown = false;
		for (int i = 0; i < NR_COLUMNS; i++)
			if (columns[i].shown == 1 && columns[i].width < wanted[i] &&
			    table_width(columns) < width) {
				columns[i].width++;
				grown = true;
			}
	}
	return left_out;
}

/* Makes names narrower, then leaves out columns, until the table fits; returns columns left out. */
static int fit_columns(struct column *columns, int width)
{
	int left_out = 0, wanted[NR_COLUMNS];

	for (int i = 0; i < NR_COLUMNS; i++)
		wanted[i] = columns[i].width;
	for (;;) {
		static const enum column_id names[] = {CELL_site, CELL_blocker};
		struct column *wide = &columns[CELL_lock], *drop = NULL;

		if (table_width(columns) <= width)
			return fill_width(columns, wanted, width, left_out);
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (columns[names[i]].shown == 1 && columns[names[i]].width > wide->width)
				wide = &columns[names[i]];
		if (wide->width > NAME_MIN) {
			wide->width--;
			continue;
		}
		for (int i = 0; i < NR_COLUMNS; i++)
			if (columns[i].shown == 1 && columns[i].drop &&
			    (!drop || columns[i].drop > drop->drop))
				drop = &columns[i];
		if (!drop)
			return left_out;
		drop->shown = LEFT_OUT;
		left_out++;
	}
}

/* @colour: of the last cell, or of the whole line of column names */
static void print_row(FILE *out, const struct column *columns, const struct cell *cells,
		      enum colour colour)
{
	const char *gap = "";

	fputs(cells ? "" : colour_on(COLOUR_HEAD), out);
	for (int i = 0; i < NR_COLUMNS; i++) {
		char text[CELL_MAX + 1];

		if (columns[i].shown != 1)
			continue;
		fit(text, cells ? cells[i].text : columns[i].head, columns[i].width);
		if (columns[i].unit == TEXT && i == NR_COLUMNS - 1)
			fprintf(out, "%s%s%s%s", gap, colour_on(colour), text,
				colour_off(colour));
		else
			fprintf(out, "%s%*s", gap,
				columns[i].unit == TEXT ? -columns[i].width : columns[i].width,
				text);
		gap = " ";
	}
	fputs(cells ? "" : colour_off(COLOUR_HEAD), out);
	fputc('\n', out);
}

/* Fits the names of locks, calls and blockers to their columns, still different ones. */
static void fit_names(const struct report *r, size_t nr, struct column *columns,
		      struct cell (*cells)[NR_COLUMNS])
{
	static const enum column_id names[] = {CELL_lock, CELL_site, CELL_blocker};
	const char **texts = reallocarray(NULL, nr + 1, sizeof(*texts));
	char(*fitted)[CELL_MAX + 1] = reallocarray(NULL, nr + 1, sizeof(*fitted));

	for (size_t i = 0; texts && fitted && i < ARRAY_SIZE(names); i++) {
		int width = columns[names[i]].width, used = strlen(columns[names[i]].head);

		for (size_t row = 0; row < nr; row++) {
			const struct line *l = &r->lines[row];

			texts[row] = names[i] == CELL_lock ? l->short_lock :
				     names[i] == CELL_site ? l->short_site :
							     l->short_blocker;
		}
		fit_apart(fitted, texts, nr, width < CELL_MAX ? width : CELL_MAX);
		for (size_t row = 0; row < nr; row++) {
			int len = strlen(fitted[row]);

			strcpy(cells[row][names[i]].text, fitted[row]);
			used = len > used ? len : used;
		}
		/* A name without its "file:line" is shorter than its room. */
		columns[names[i]].width = used < width ? used : width;
	}
	free(texts);
	free(fitted);
}

void table_print(const struct report *r, FILE *out, int width, size_t nr)
{
	struct cell(*cells)[NR_COLUMNS] = calloc(nr + 1, sizeof(*cells));
	struct column columns[NR_COLUMNS];
	bool shown[NR_COLUMNS];
	int left_out;

	if (!cells) {
		fprintf(out, "(no memory for the table)\n");
		return;
	}
	memcpy(columns, all_columns, sizeof(columns));
	columns_find(r, nr, shown);
	for (int i = 0; i < NR_COLUMNS; i++) {
		columns[i].shown = shown[i];
		columns[i].width = strlen(columns[i].head);
	}
	for (size_t row = 0; row < nr; row++) {
		fill_cells(r, &r->lines[row], cells[row]);
		for (int i = 0; i < NR_COLUMNS; i++) {
			int len = strlen(cells[row][i].text);

			if (len > columns[i].width)
				columns[i].width = len;
		}
	}
	left_out = fit_columns(columns, width);
	fit_names(r, nr, columns, cells);
	left_out = fill_columns(columns, width, left_out);
	print_row(out, columns, NULL, COLOUR_NONE);
	for (size_t row = 0; row < nr; row++)
		print_row(out, columns, cells[row], verdict_colour(r->lines[row].verdict));
	if (nr < r->nr_all)
		fprintf(out, "(%zu more row%s: --top 0)\n", r->nr_all - nr, plural(r->nr_all - nr));
	if (left_out)
		fprintf(out,
			"(%d column%s left out for want of width: widen the terminal, or --csv)\n",
			left_out, left_out == 1 ? "" : "s");
	free(cells);
}

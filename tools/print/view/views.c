// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * views.c - names of rows in the views of samples.
 *
 * Must never print a control character of the data file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../../lib/compiler.h"
#include "../../base/text.h"
#include "../../names/names.h"
#include "../csv.h"
#include "views.h"

int where_fill(const struct report *r, struct where *w, uint32_t class_index, unsigned int kind,
	       uint64_t site)
{
	const struct elide_class *c = &r->file->classes[class_index];
	const struct line *l = report_line(r, class_index, site, kind);
	struct place place;

	memset(w, 0, sizeof(*w));
	w->kind = kind;
	w->lock = class_name(r->symbols, c, &place);
	w->class = class_id(c, &place);
	short_class(w->short_lock, l, c, w->lock, &place);
	symbolize_call(r->symbols, site, &w->site);
	return w->lock && w->class ? 0 : -ENOMEM;
}

void where_free(struct where *w)
{
	free(w->lock);
	free(w->class);
	w->lock = w->class = NULL;
}

/* Names longer than this, such as C++ has, are shortened in the tables of views. */
#define VIEW_NAME_MAX 40

void view_print(FILE *out, const struct place *p)
{
	char shortened[SHORT_NAME], *name = code_name(p);

	if (!name || strlen(name) > VIEW_NAME_MAX) {
		short_place(shortened, sizeof(shortened), p);
		print_clean(out, shortened);
	} else {
		print_clean(out, name);
	}
	free(name);
}

void line_print(FILE *out, const struct line *l)
{
	print_clean(out, strlen(l->lock) > READABLE ? l->short_lock : l->lock);
	fprintf(out, " (%s) at ", kind_name(l->kind));
	print_clean(out, strlen(l->site) > READABLE ? l->short_site : l->site);
}

void where_print(FILE *out, const struct where *w)
{
	if (!w->lock) {
		fputs("outside of any section", out);
		return;
	}
	print_clean(out, w->short_lock);
	fprintf(out, " (%s) at ", kind_name(w->kind));
	view_print(out, &w->site);
}

void where_csv_head(FILE *out)
{
	fputs("lock,class,kind,site_object,site_symbol,site_inlined_into,site_file,site_line", out);
}

void where_csv(FILE *out, const struct where *w)
{
	csv_text(out, w->lock);
	csv_text(out, w->class);
	csv_text(out, w->lock ? kind_id(w->kind) : NULL);
	csv_place(out, &w->site);
}

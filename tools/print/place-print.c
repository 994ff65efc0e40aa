// SPDX-License-Identifier: GPL-2.0-or-later
/* place-print.c - see place-print.h. */
#include <stdlib.h>

#include "../base/text.h"
#include "../names/short.h"
#include "place-print.h"

void place_print(FILE *out, const struct place *p)
{
	char shortened[SHORT_NAME];

	if (!p->symbol) {
		short_place(shortened, sizeof(shortened), p);
		print_clean(out, shortened);
		return;
	}
	print_clean(out, readable(shortened, sizeof(shortened), p->symbol));
	if (p->file) {
		fputc(' ', out);
		print_clean(out, base_name(p->file));
		fprintf(out, ":%d", p->line);
	} else if (p->object) {
		fputs(" in ", out);
		print_clean(out, p->object);
	}
}

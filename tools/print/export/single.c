// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * single.c - the file of a format that holds one report.
 *
 * Must never leave a file that has only a part of the reports.
 */
#include "single.h"

#include <errno.h>

#include "../../../lib/compiler.h"
#include "../../base/messages.h"

FILE *single_begin(struct output *o, const char *what, const char *kind,
		   bool (*ours)(const char *head, size_t len))
{
	struct single *s = o->state;

	if (s->open) {
		say("%s is of one process, or of several that are merged: see --merge", what);
		s->several = true;
		return NULL;
	}
	s->open = !replace_begin(&s->file, o->options->file, kind, o->out, ours);
	return s->open ? s->file.out : NULL;
}

int single_end(struct output *o)
{
	struct single *s = o->state;

	if (!s->open || !s->several)
		return s->open ? replace_end(&s->file, s->rc) : 0;
	replace_drop(&s->file);
	return -EINVAL;
}

int single_argument(struct report_options *o, const char *text)
{
	o->file = text;
	return 0;
}

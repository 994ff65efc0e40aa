/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* count.c - see count.h. */
#include "count.h"

__cold int count_failed(struct elide_row *row, int err)
{
	/* Not in a transaction of the program: see count_begin(). */
	if (READ_ONCE(elide_enabled) && rtm_test())
		return err;
	counter_add(row->failed, 1);
	return err;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output-folded.c - elide report --folded: stacks in the folded format of flame graphs.
 *
 * Must never print anything but stacks.
 */
#include <errno.h>

#include "../../lib/compiler.h"
#include "output.h"
#include "view/view-stack.h"

static OPTION_VALUES(types, "abort", "wait", "block", "others")

static int argument(struct report_options *o, const char *text)
{
	size_t word = 0;

	if (text && option_word("folded", text, types, &word))
		return -EINVAL;
	o->folded = word;
	return 0;
}

static int stacks(struct output *o, const struct report *r)
{
	folded_print(r, o->out, o->options->folded);
	return 0;
}

const struct report_output output_folded = {
	.option = {.name = "folded", .arg = "[TYPE]",
		   .help = "stacks for flame graphs: of abort (default), wait (for locks), block or others (waited for)",
		   .values = types},
	.merges = true,
	.by_row_only = true,
	.argument = argument,
	.views = {[VIEW(BY_STACK)] = stacks},
};

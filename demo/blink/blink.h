/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blink.h - the B-link tree as a tree of struct node; sync/blink.c has its operations.
 */
#ifndef DEMO_BLINK_H
#define DEMO_BLINK_H

#include "../node/tree.h"

/* Positions in struct node_tree @options. */
enum blink_option {
#define OPT_UINT(id, name, min, max, def, help) BLINK_OPTION_##id,
#include "options.def"
	NR_BLINK_OPTIONS
};

extern const struct option_row blink_options[NR_BLINK_OPTIONS + 1];

static const struct tree_ops blink_tree = {
	NODE_TREE_OPS(blink_options),
};

#endif

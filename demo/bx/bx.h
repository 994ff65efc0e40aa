/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bx.h - the Bx tree, a B-link tree with transactions, as a tree of struct node; sync/bx.c
 * has its operations.
 */
#ifndef DEMO_BX_H
#define DEMO_BX_H

#include "../node/tree.h"

/* Values of BX_OPTION_fallback. */
enum bx_fallback {
#define FALLBACK(id, name, help) BX_FALLBACK_##id,
#include "options.def"
};

/* Positions in struct node_tree @options. */
enum bx_option {
#define OPT_UINT(id, name, min, max, def, help) BX_OPTION_##id,
#define OPT_CHOICE(id, name, choices, def, help) BX_OPTION_##id,
#include "options.def"
	NR_BX_OPTIONS
};

extern const struct option_row bx_options[NR_BX_OPTIONS + 1];

static const struct tree_ops bx_tree = {
	NODE_TREE_OPS(bx_options),
};

#endif

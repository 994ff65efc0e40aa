/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blink.h - the B-link tree as a tree of struct node; sync/blink.c has its operations.
 */
#ifndef DEMO_BLINK_H
#define DEMO_BLINK_H

#include "../node/tree.h"

static const struct tree_ops blink_tree = {
	NODE_TREE_OPS(node_options),
};

#endif

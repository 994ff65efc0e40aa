/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * olfit.h - the B-link tree by versions as a tree of struct node; sync/olfit.c has its
 * operations.
 */
#ifndef DEMO_OLFIT_H
#define DEMO_OLFIT_H

#include "../node/tree.h"

static const struct tree_ops olfit_tree = {
	NODE_TREE_OPS(node_options),
};

#endif

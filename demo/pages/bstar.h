/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bstar.h - the B*-tree: a full leaf shares its entries with a neighbour before it is split.
 */
#ifndef DEMO_PAGES_BSTAR_H
#define DEMO_PAGES_BSTAR_H

#include "restructure.h"

int bstar_share(struct page_tree *tree, struct bytes key, unsigned int need);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xmerge.h - XMerge: a group of neighbouring leaves gives up one of its pages.
 */
#ifndef DEMO_PAGES_XMERGE_H
#define DEMO_PAGES_XMERGE_H

#include "tree.h"

bool xmerge(struct page_tree *tree, struct frame *frame, uint32_t id);

#endif

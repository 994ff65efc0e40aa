/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * look.h - reads of a node that another thread may be changing.
 *
 * A reader without a latch notes the version of the latch, calls these functions, and compares the
 * version. Each offset and length is read once and compared with the size of the page before it is
 * used, so they end and read no byte outside the page and the key, whatever the page has. What
 * they return means nothing unless the version is still the same.
 */
#ifndef DEMO_PAGES_LOOK_H
#define DEMO_PAGES_LOOK_H

#include "node.h"

unsigned int look_level(const struct page_node *node);
unsigned int look_nr(const struct page_node *node);
uint32_t look_child_at(const struct page_node *node, unsigned int at);
uint32_t look_child(const struct page_node *node, struct bytes key);
unsigned int look_free(const struct page_node *node);
bool look_value(const struct page_node *node, struct bytes key, void *value, unsigned int room,
		unsigned int *len);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pack.h - the entries of neighbouring leaves, divided anew among more or fewer leaves.
 *
 * First the division is planned, and the bytes that each new leaf takes under its new fences are
 * counted exactly: entries have different lengths, and a shorter common prefix of the fences
 * lengthens all keys. Nothing is written to a leaf or its parent before all of it fits.
 */
#ifndef DEMO_PAGES_PACK_H
#define DEMO_PAGES_PACK_H

#include "restructure.h"

/* Most leaves before and after. */
#define PACK_MAX XMERGE_MAX

/**
 * struct pack - leaves before and after
 * @old: the leaves before, neighbours from left to right under one parent
 * @nr_old: their number
 * @first: number of the first entry of each, from 0, and at last the number of all entries
 * @cursor: the leaf before that was searched last
 * @nr_new: number of leaves after
 * @begin: number of the first entry of each leaf after, and at last the number of all entries
 * @free: free bytes that each leaf after will have
 * @separators: keys between the leaves after
 * @keys: memory of @separators
 */
struct pack {
	const struct page_node *old[PACK_MAX];
	unsigned int nr_old;
	unsigned int first[PACK_MAX + 1];
	unsigned int cursor;
	unsigned int nr_new;
	unsigned int begin[PACK_MAX + 1];
	unsigned int free[PACK_MAX];
	struct bytes separators[PACK_MAX];
	unsigned char keys[PACK_MAX][PAGE_KEY_MAX];
};

void pack_init(struct pack *p);
void pack_add(struct pack *p, const struct page_node *node);
bool pack_right(struct pack *p, unsigned int nr);
bool pack_even(struct pack *p, unsigned int nr);
unsigned int pack_leaf(const struct pack *p, struct bytes key);
void pack_build(struct pack *p, unsigned int n, struct page_node *node);
bool pack_extend(struct pack *p, struct page_node *node);

#endif

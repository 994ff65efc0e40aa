/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bplus.h - the B+Tree with latch coupling as a tree of struct node; sync/bplus.c and
 * sync/bplus-olc.c have its operations.
 *
 * btree is the B+Tree of another paper, for one latch around each operation.
 */
#ifndef DEMO_BPLUS_H
#define DEMO_BPLUS_H

#include "../node/tree.h"

/* Values of BPLUS_OPTION_split. */
enum bplus_split {
#define SPLIT(id, name, help) BPLUS_SPLIT_##id,
#include "options.def"
};

/* Positions in struct node_tree @options. */
enum bplus_option {
#define OPT_UINT(id, name, min, max, def, help) BPLUS_OPTION_##id,
#define OPT_CHOICE(id, name, choices, def, help) BPLUS_OPTION_##id,
#include "options.def"
	NR_BPLUS_OPTIONS
};

/* Least size of a node that is split before an insert into it: halves of 3 keys are too small. */
#define BPLUS_PROACTIVE_BYTES_MIN 128

extern const struct option_row bplus_options[NR_BPLUS_OPTIONS + 1];

/**
 * bplus_split() - which latches an insert keeps
 * @config: what the tree is created for
 */
static inline enum bplus_split bplus_split(const struct index_config *config)
{
	return config && config->options ? config->options[BPLUS_OPTION_split] : BPLUS_SPLIT_safe;
}

static const struct tree_ops bplus_tree = {
	NODE_TREE_OPS(bplus_options),
};

#endif

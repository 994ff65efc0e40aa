/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * census.h - checks that each node of the pools of a tree is in exactly one place.
 *
 * The check of a tree adds the nodes that it meets, then the free and the retired ones of
 * each thread, and compares them with what the pools took from the heap.
 */
#ifndef DEMO_INDEX_CENSUS_H
#define DEMO_INDEX_CENSUS_H

#include "check.h"
#include "../mem/epoch.h"
#include "../mem/pool.h"

/**
 * struct census - the nodes of a tree and of its pools
 * @nr: number of nodes that were found
 * @max: number of nodes that the pools took from the heap
 * @all: their addresses; NULL if there is no memory for them
 */
struct census {
	uint64_t nr, max;
	const void **all;
};

void census_begin(struct census *census, uint64_t max);
void census_end(struct census *census);
void census_add(struct census *census, const void *node);
void census_add_pool(struct census *census, const struct node_pool *pool);
void census_add_retired(struct census *census, const struct epoch_thread *thread);
int census_check(struct census *census, const struct fault *where);

#endif

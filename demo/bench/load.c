// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load.c - loads the even keys into an index, before the measured part.
 */
#include "load.h"

#include "output.h"
#include "verify.h"

/* Interval of progress_show() in loaded keys. */
#define PROGRESS_KEYS (1u << 16)

/* Insert the even keys in random order, which fills nodes as random inserts do. */
static int insert_all(struct index *index, struct index_thread *share, uint64_t preload)
{
	const struct index_ops *ops = index->ops;
	int err = 0;

	for (uint64_t i = 0; i < preload && !err; i++) {
		uint64_t key = 2 * scatter(i, preload);

		if (i % PROGRESS_KEYS == 0)
			progress_show("loading", i, preload);
		err = ops->reserve(index, share);
		if (!err)
			ops->load(index, share, key, value_of(key, WRITER_LOAD, 0));
	}
	progress_clear();
	return err;
}

/* The even keys in ascending order. */
static void even_entry(void *ctx, uint64_t i, uint64_t *key, uint64_t *value)
{
	if (i % PROGRESS_KEYS == 0)
		progress_show("loading", i, *(uint64_t *)ctx);
	*key = 2 * i;
	*value = value_of(2 * i, WRITER_LOAD, 0);
}

/**
 * load() - load the even keys from 0 on into an empty index
 * @index: the index; no other thread may use it
 * @share: the share that provides the memory
 * @preload: number of keys
 * @fill: mean fill of the nodes in per cent, built from sorted keys; 0: insert the keys in
 *	  random order
 *
 * Return: 0, -ENOMEM, or -ENOSPC.
 */
int load(struct index *index, struct index_thread *share, uint64_t preload, unsigned int fill)
{
	struct bulk_source source = {
		.nr = preload,
		.fill = fill,
		.entry = even_entry,
		.ctx = &preload,
	};
	int err;

	if (!fill)
		return insert_all(index, share, preload);
	err = index->ops->tree->bulk(index->tree, share, &source);
	progress_clear();
	return err;
}

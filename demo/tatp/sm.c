// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sm.c - makes, opens and ends a storage manager.
 */
#include "sm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory of threads, heaps and trees. */
static int init_parts(struct sm *sm)
{
	const struct sm_options *o = &sm->opts;
	int err = buffer_init(&sm->buffer, &sm->volume, o->frames);

	latch_init(&sm->gate, LATCH_ROLE_checkpoint_gate);
	if (!err)
		err = lock_manager_init(&sm->locks, o->log.threads, o->inherit);
	for (unsigned int i = 0; i < o->heaps && !err; i++)
		err = heap_init(&sm->heaps[i], sm, i, o->strides[i]);
	for (unsigned int i = 0; i < o->trees && !err; i++)
		btree_init(&sm->trees[i], sm, i);
	if (err)
		return err;
	sm->xcts = aligned_alloc(CACHE_LINE, o->log.threads * sizeof(*sm->xcts));
	if (!sm->xcts)
		return -ENOMEM;
	for (sm->nr_xcts = 0; sm->nr_xcts < o->log.threads; sm->nr_xcts++) {
		struct xct *x = &sm->xcts[sm->nr_xcts];

		*x = (struct xct){ .sm = sm, .nr = sm->nr_xcts };
		x->locks = lock_client_new(&sm->locks);
		x->record = malloc(LOG_RECORD_MAX);
		if (!x->locks || !x->record) {
			free(x->record);
			return -ENOMEM;
		}
	}
	sm->buffer.durable = (int (*)(void *, uint64_t))log_durable;
	sm->buffer.log = &sm->log;
	return 0;
}

/* Name of the file of pages, or NULL. */
static char *pages_path(const struct sm_options *opts)
{
	char *path = NULL;

	if (opts->log.path && asprintf(&path, "%s.pages", opts->log.path) < 0)
		return NULL;
	return path;
}

/**
 * sm_create() - make an empty storage manager, whose heaps and trees are then populated
 * @sm: the storage manager
 * @opts: what it is to be
 *
 * Return: 0 or -errno; then sm_destroy() in any case.
 */
int sm_create(struct sm *sm, const struct sm_options *opts)
{
	char *path = pages_path(opts);
	struct page_ref root;
	int err;

	memset(sm, 0, sizeof(*sm));
	sm->opts = *opts;
	sm->volume.fd = sm->log.store.fd = -1;
	if (opts->log.path && !path)
		return -ENOMEM;
	err = log_create(&sm->log, &opts->log, &opts->identity);
	if (!err)
		err = volume_create(&sm->volume, path, &opts->identity, opts->pages);
	free(path);
	if (!err)
		err = init_parts(sm);
	for (unsigned int i = 0; i < opts->trees && !err; i++) {
		err = buffer_new(&sm->buffer, PAGE_NODE, TREE_STORE(i), &root);
		if (err)
			break;
		buffer_dirty(&root, 1);
		buffer_unfix(&sm->buffer, &root);
	}
	return err;
}

/**
 * sm_loaded() - end the population: write all pages, and log changes from now on
 * @sm: the storage manager
 *
 * Return: 0 or -errno.
 */
int sm_loaded(struct sm *sm)
{
	int err = 0;

	/* The log has nothing yet that the pages would need. */
	sm->buffer.durable = NULL;
	err = checkpoint_clean(sm);
	sm->buffer.durable = (int (*)(void *, uint64_t))log_durable;
	sm->logging = true;
	return err ? err : checkpoint(sm);
}

/* Recover, and begin the log with a checkpoint that needs nothing older. */
static int recover_all(struct sm *sm, struct recovered *r, char *why, size_t len)
{
	int err = recover(sm, r, why, len);

	if (err)
		return err;
	err = checkpoint_clean(sm);
	if (!err)
		err = checkpoint(sm);
	if (err)
		snprintf(why, len, "%s", strerror(-err));
	return err;
}

/**
 * sm_open() - open the files of a storage manager, and recover
 * @sm: the storage manager
 * @opts: what it is; the identity is that of the log's file
 * @r: receives what recovery did
 * @why: receives the reason of an error, to follow the name of the log
 * @len: size of @why in bytes
 *
 * Return: 0 or -errno; then sm_destroy() in any case.
 */
int sm_open(struct sm *sm, const struct sm_options *opts, struct recovered *r, char *why,
	    size_t len)
{
	char *path = pages_path(opts), pages[200];
	int err;

	memset(sm, 0, sizeof(*sm));
	sm->opts = *opts;
	sm->volume.fd = sm->log.store.fd = -1;
	*why = '\0';
	err = log_open(&sm->log, &opts->log, why, len);
	if (err && !*why)
		snprintf(why, len, "%s", strerror(-err));
	if (!err) {
		err = path ? volume_open(&sm->volume, path, opts->pages, pages, sizeof(pages)) :
			     -ENOMEM;
		if (err)
			snprintf(why, len, ".pages %s", path ? pages : strerror(ENOMEM));
	}
	free(path);
	if (!err && memcmp(&sm->volume.identity, &sm->log.identity, sizeof(sm->log.identity))) {
		snprintf(why, len, "belongs to another database than its .pages");
		err = -EINVAL;
	}
	if (err)
		return err;
	sm->opts.identity = sm->log.identity;
	err = init_parts(sm);
	if (err) {
		snprintf(why, len, "%s", strerror(-err));
		return err;
	}
	return recover_all(sm, r, why, len);
}

/**
 * sm_recover_memory() - recover from what a storage manager in memory has made durable
 * @sm: the storage manager to make
 * @crashed: the other one, which no thread uses, and which stays as it is
 * @end: end of the log, at most its durable end
 * @r: receives what recovery did
 * @why: receives the reason of an error
 * @len: size of @why in bytes
 *
 * Return: 0 or -errno; then sm_destroy() in any case.
 */
int sm_recover_memory(struct sm *sm, const struct sm *crashed, uint64_t end, struct recovered *r,
		      char *why, size_t len)
{
	struct sm_options opts = crashed->opts;
	int err;

	memset(sm, 0, sizeof(*sm));
	sm->opts = opts;
	sm->volume.fd = sm->log.store.fd = -1;
	*why = '\0';
	err = log_create(&sm->log, &opts.log, &opts.identity);
	if (!err)
		err = volume_create(&sm->volume, NULL, &opts.identity, opts.pages);
	if (!err)
		err = init_parts(sm);
	if (err)
		return err;
	sm->volume.nr = crashed->volume.nr;
	memcpy(sm->volume.memory.base, crashed->volume.memory.base,
	       (size_t)crashed->volume.nr * PAGE_BYTES);
	for (uint64_t at = crashed->log.store.forgotten; at < end; at++)
		if (store_read(&crashed->log.store, at,
			       sm->log.store.memory.base + at % sm->log.store.size, 1))
			return -EINVAL;
	sm->log.store.end = end;
	sm->log.store.forgotten = crashed->log.store.forgotten;
	sm->log.last = crashed->log.last;
	return recover_all(sm, r, why, len);
}

/** sm_destroy() - end a storage manager, also one that could not be made; no thread uses it */
void sm_destroy(struct sm *sm)
{
	for (unsigned int i = 0; i < sm->nr_xcts; i++) {
		free(sm->xcts[i].record);
		free(sm->xcts[i].undo);
	}
	free(sm->xcts);
	for (unsigned int i = 0; i < sm->opts.heaps; i++)
		heap_destroy(&sm->heaps[i]);
	if (sm->locks.buckets)
		lock_manager_destroy(&sm->locks);
	if (sm->buffer.frames)
		buffer_destroy(&sm->buffer);
	log_close(&sm->log);
	volume_close(&sm->volume);
}

/**
 * sm_at_rest() - true if nothing is held by nobody
 * @sm: the storage manager; no thread uses it
 * @what: receives what is held otherwise
 */
bool sm_at_rest(const struct sm *sm, const char **what)
{
	bool trees = !latch_held(&sm->gate);

	for (unsigned int i = 0; i < sm->opts.trees; i++)
		trees = trees && !latch_held(&sm->trees[i].latch);
	for (unsigned int i = 0; i < sm->opts.heaps; i++)
		trees = trees && !latch_held(&sm->heaps[i].latch);
	*what = !trees			   ? "a latch of a tree, a heap or the gate is held" :
		!buffer_at_rest(&sm->buffer) ? "a page is pinned or latched" :
		!lock_at_rest(&sm->locks)    ? "a lock is held" :
		!log_at_rest(&sm->log)	     ? "the log is in use" :
					       NULL;
	return !*what;
}

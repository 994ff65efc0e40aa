// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * epoch.c - advances the epoch and gives retired nodes back to pools (see epoch.h).
 *
 * epoch_refill() allocates, so it must never be called inside a critical section.
 */
#include "epoch.h"

#include <errno.h>
#include <stdlib.h>

/**
 * epoch_init() - initialise the epoch of a tree
 * @epoch: the epoch
 */
void epoch_init(struct epoch *epoch)
{
	*epoch = (struct epoch){ .now = EPOCH_FIRST };
}

/**
 * epoch_attach() - add a thread, which is idle at first
 * @epoch: the epoch of the tree
 * @thread: the thread; several threads may be attached at the same time
 */
void epoch_attach(struct epoch *epoch, struct epoch_thread *thread)
{
	*thread = (struct epoch_thread){ .seen = EPOCH_IDLE, .epoch = epoch };
	thread->next = __atomic_load_n(&epoch->threads, __ATOMIC_RELAXED);
	/* Release: pairs with the load in epoch_advance(), which reads the struct. */
	while (!__atomic_compare_exchange_n(&epoch->threads, &thread->next, thread, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

/**
 * epoch_detach() - free what a thread has, when its tree has been destroyed
 * @thread: the thread; the epoch is not accessed any more
 */
void epoch_detach(struct epoch_thread *thread)
{
	for (unsigned int i = 0; i < EPOCH_LISTS; i++)
		free(thread->lists[i].nodes);
}

/* Give the nodes of the lists back that no thread can read any more in epoch @now. */
static void reclaim(struct epoch_thread *thread, uint64_t now)
{
	for (unsigned int i = 0; i < EPOCH_LISTS; i++) {
		struct retired_list *list = &thread->lists[i];

		if (list->epoch + 2 > now)
			continue;
		while (list->nr) {
			struct retired *retired = &list->nodes[--list->nr];

			pool_put(retired->pool, retired->node);
		}
	}
}

/* Begin the next epoch if each thread has begun an operation in this one, or is idle. */
static void epoch_advance(struct epoch *epoch)
{
	uint64_t now = __atomic_load_n(&epoch->now, __ATOMIC_ACQUIRE), seen;

	/* Acquire: pairs with the release in epoch_attach(). */
	for (const struct epoch_thread *t = __atomic_load_n(&epoch->threads, __ATOMIC_ACQUIRE); t;
	     t = t->next) {
		/* Acquire: pairs with the stores of @seen in epoch_enter() and epoch_idle(). */
		seen = __atomic_load_n(&t->seen, __ATOMIC_ACQUIRE);
		if (seen != EPOCH_IDLE && seen != now)
			return;
	}
	__atomic_compare_exchange_n(&epoch->now, &now, now + 1, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
}

/**
 * epoch_enter() - announce the current epoch; the slow path of epoch_begin()
 * @thread: the calling thread, between operations
 */
void epoch_enter(struct epoch_thread *thread)
{
	uint64_t now = __atomic_load_n(&thread->epoch->now, __ATOMIC_ACQUIRE);

	if (thread->seen != EPOCH_IDLE) {
		/* Release: pairs with the load in epoch_advance(). The earlier reads are done. */
		__atomic_store_n(&thread->seen, now, __ATOMIC_RELEASE);
		return;
	}
	/*
	 * Nobody waits for an idle thread. So the announcement must be visible before the
	 * first read of a node, and the epoch must not have changed meanwhile.
	 */
	do {
		__atomic_exchange_n(&thread->seen, now, __ATOMIC_SEQ_CST);
		now = __atomic_load_n(&thread->epoch->now, __ATOMIC_SEQ_CST);
	} while (now != thread->seen);
}

static int list_reserve(struct retired_list *list, size_t nr)
{
	struct retired *nodes;
	size_t max = list->max;

	if (max - list->nr >= nr)
		return 0;
	while (max - list->nr < nr)
		max = max ? 2 * max : EPOCH_BATCH;
	nodes = reallocarray(list->nodes, max, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	/* Each entry is written, so that its page is present before epoch_retire() needs it. */
	for (size_t i = list->max; i < max; i++)
		nodes[i] = (struct retired){ NULL, NULL };
	list->nodes = nodes;
	list->max = max;
	return 0;
}

/**
 * epoch_refill() - make room for retired nodes; the slow path of epoch_reserve()
 * @thread: the calling thread, between operations
 * @nr: maximum number of nodes that the next operation retires
 *
 * Return: 0 or -ENOMEM.
 */
int epoch_refill(struct epoch_thread *thread, size_t nr)
{
	epoch_begin(thread);
	if (thread->fresh >= EPOCH_BATCH) {
		thread->fresh = 0;
		epoch_advance(thread->epoch);
		epoch_begin(thread);
	}
	reclaim(thread, thread->seen);
	for (unsigned int i = 0; i < EPOCH_LISTS; i++)
		if (list_reserve(&thread->lists[i], nr))
			return -ENOMEM;
	return 0;
}

/**
 * epoch_retire() - hand over a node that no pointer of the tree leads to any more
 * @thread: the calling thread, after epoch_reserve()
 * @pool: the pool of the same thread that receives the node
 * @node: the node; other threads may still read it, so it is not written
 */
void epoch_retire(struct epoch_thread *thread, struct node_pool *pool, void *node)
{
	struct retired_list *list;
	uint64_t now;

	/* The pointer to the node must be overwritten for all threads before the epoch is read. */
	__atomic_fetch_add(&thread->fresh, 1, __ATOMIC_SEQ_CST);
	now = __atomic_load_n(&thread->epoch->now, __ATOMIC_SEQ_CST);
	list = &thread->lists[now % EPOCH_LISTS];
	if (list->epoch != now) {
		/* What the list still has is of epoch @now - 3 or before. */
		reclaim(thread, now);
		list->epoch = now;
	}
	list->nodes[list->nr++] = (struct retired){ node, pool };
}

/**
 * epoch_retired() - number of nodes that a thread retired and that are not free yet
 * @thread: the thread
 */
size_t epoch_retired(const struct epoch_thread *thread)
{
	size_t nr = 0;

	for (unsigned int i = 0; i < EPOCH_LISTS; i++)
		nr += thread->lists[i].nr;
	return nr;
}

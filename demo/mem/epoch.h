/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * epoch.h - reclamation of nodes that other threads may still read.
 *
 * A thread that takes a node out of a tree retires it. The node goes into the thread's
 * pool when each other thread has begun an operation after that, or is idle. There is no
 * thread for reclamation, no system call and no lock. An operation begins with a load of
 * the epoch, a line that all threads share and that changes rarely, and a comparison.
 * Everything else happens in epoch_reserve(), between operations.
 *
 *	epoch_begin()    before the first pointer of an operation is read
 *	epoch_retire()   after the last pointer to the node was overwritten
 *	epoch_reserve()  between operations: room for retired nodes; advances the epoch
 *	epoch_idle()     the thread begins no operation until further notice
 *
 * It is quiescent-state-based reclamation with three lists a thread (Hart, McKenney,
 * Brown, Walpole, "Performance of memory reclamation for lockless synchronization", JPDC
 * 67, 2007, section 2.1; the three lists are those of Fraser, "Practical lock-freedom",
 * 2004, section 5.2.3).
 *
 * Why a node of epoch e is free in epoch e + 2: its last pointer was overwritten before
 * the retiring thread read e. A thread that begins an operation in e + 1 or later cannot
 * find it. The epoch becomes e + 2 only after each thread that is not idle has begun an
 * operation in e + 1.
 */
#ifndef DEMO_EPOCH_H
#define DEMO_EPOCH_H

#include "pool.h"

#include <stdbool.h>

/* What an idle thread announces; epochs begin with EPOCH_FIRST. */
#define EPOCH_IDLE 0
#define EPOCH_FIRST 1

/* Lists of a thread: nodes of the epochs e, e - 1 and e - 2. */
#define EPOCH_LISTS 3

/*
 * Nodes that a thread retires before it tries to advance the epoch, which reads a line of
 * each thread: 64 of 1 KiB are as much as an L2 cache of 2015 has to spare.
 */
#define EPOCH_BATCH 64

struct epoch_thread;

/**
 * struct epoch - the epoch of a tree
 * @now: the current epoch
 * @threads: list of the threads, to which epoch_attach() adds at the front
 */
struct epoch {
	uint64_t now __cacheline_aligned;
	struct epoch_thread *threads __cacheline_aligned;
};

/* struct retired - a retired node and the pool that receives it, one of the same thread */
struct retired {
	void *node;
	struct node_pool *pool;
};

/**
 * struct retired_list - the nodes that a thread retired in an epoch
 * @epoch: the epoch
 * @nr: number of nodes
 * @max: number of nodes that @nodes has room for
 * @nodes: the nodes
 */
struct retired_list {
	uint64_t epoch;
	size_t nr, max;
	struct retired *nodes;
};

/**
 * struct epoch_thread - a thread's part of the reclamation
 * @seen: epoch in which its last operation began, or EPOCH_IDLE; other threads read it
 * @epoch: the epoch of the tree
 * @next: thread that was attached before
 * @fresh: number of nodes that were retired since the thread tried to advance the epoch
 * @lists: the nodes that it retired, those of epoch e in list e modulo 3
 *
 * Only its thread writes the struct.
 */
struct epoch_thread {
	uint64_t seen __cacheline_aligned;
	struct epoch *epoch;
	struct epoch_thread *next;
	uint64_t fresh __cacheline_aligned;
	struct retired_list lists[EPOCH_LISTS];
};

void epoch_init(struct epoch *epoch);
void epoch_attach(struct epoch *epoch, struct epoch_thread *thread);
void epoch_detach(struct epoch_thread *thread);
void epoch_enter(struct epoch_thread *thread);
int epoch_refill(struct epoch_thread *thread, size_t nr);
void epoch_retire(struct epoch_thread *thread, struct node_pool *pool, void *node);
size_t epoch_retired(const struct epoch_thread *thread);

/**
 * epoch_begin() - begin an operation; the pointers that earlier ones read are invalid
 * @thread: the calling thread
 */
static inline void epoch_begin(struct epoch_thread *thread)
{
	/* Acquire: pairs with the exchange in epoch_advance(). Later reads see what the epoch saw. */
	if (unlikely(__atomic_load_n(&thread->epoch->now, __ATOMIC_ACQUIRE) != thread->seen))
		epoch_enter(thread);
}

/**
 * epoch_idle() - announce that the thread begins no operation until further notice
 * @thread: the calling thread, between operations
 */
static inline void epoch_idle(struct epoch_thread *thread)
{
	/* Release: pairs with the load in epoch_advance(). All reads of nodes are done. */
	__atomic_store_n(&thread->seen, EPOCH_IDLE, __ATOMIC_RELEASE);
}

/**
 * epoch_reserve() - reserve what an operation needs that retires nodes; between operations
 * @thread: the calling thread
 * @nr: maximum number of nodes that the next operation retires
 *
 * The call may move nodes into pools of the thread.
 *
 * Return: 0, or -ENOMEM with nothing changed but free nodes.
 */
static inline int epoch_reserve(struct epoch_thread *thread, size_t nr)
{
	bool room = true;

	for (unsigned int i = 0; i < EPOCH_LISTS; i++)
		room &= thread->lists[i].max - thread->lists[i].nr >= nr;
	return likely(room && thread->fresh < EPOCH_BATCH) ? 0 : epoch_refill(thread, nr);
}

#endif

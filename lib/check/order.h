/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * order.h - locks acquired in orders that can deadlock, ELIDE_ORDER=1.
 *
 * Each thread keeps a list of the locks that it holds. When it acquires a lock, edges are added
 * from the class of each lock in the list to the class of that one, with both call sites of the
 * first time. A cycle that an edge closes is written to the data file.
 *
 *   lock call that waits    edges from all locks in the list; it is added to the list
 *   trylock, timed call     no edge, as it does not wait for ever; it is added to the list
 *   cond_wait               edges to the mutex, which is acquired again, from all others in the list
 *   elided                  as a lock call, after the commit
 *   relock                  nothing
 *   second reader           no edge; it is added to the list again
 *   two locks of one class  no edge between classes, or hand-over-hand locking of a tree would be a
 *                           cycle; an edge between the two locks, in a graph of its own
 *   classes that one call   are one class from then on, if no call initialises their locks: chance
 *   locks                   decides which of two calls is the first, and so which class a lock gets
 *   reader after reader     edges, but see order_graph_cycle()
 *   custom locks            nothing: it is not known whether their callers wait
 *
 * A cycle counts also if one thread made all its edges, or if another lock is always held around
 * them. Must never change what a call returns, nor write anything inside a transaction.
 */
#ifndef ELIDE_ORDER_H
#define ELIDE_ORDER_H

#include "../state/thread.h"

#pragma GCC visibility push(hidden)

/**
 * elide_order_start() - make the tables.
 *
 * A forked child finds them empty.
 *
 * Return: 0 or -ENOMEM.
 */
int elide_order_start(void);

/** elide_order_restart() - a further data file begins: empty the tables. In a global-lock path. */
void elide_order_restart(void);

/**
 * elide_order_waits() - the thread is about to wait for a lock, perhaps for ever.
 * @t: the calling thread, outside transactions, here and below
 * @row: counters of the call, which name class, site and kind
 * @lock: address, here and below
 */
void elide_order_waits(struct elide_thread *t, const struct elide_row *row, const void *lock);

/**
 * elide_order_acquired() - a lock was acquired.
 * @row: counters of the call
 * @wait: the call would have waited for ever
 */
void elide_order_acquired(struct elide_thread *t, const struct elide_row *row, const void *lock,
			  bool wait);

/** elide_order_released() - a lock is released, or gone, whether it is in the list or not. */
void elide_order_released(struct elide_thread *t, const void *lock);

/**
 * elide_order_reacquired() - a call is about to release a mutex, wait and acquire it again.
 * @site: return address of that call
 */
void elide_order_reacquired(struct elide_thread *t, const void *lock, const void *site);

/**
 * elide_order_site() - locks of a class were locked by a call for the first time, as far as the thread knows.
 * @class_index: the class
 * @site: return address of the call, as it is recorded
 *
 * In a global-lock path.
 */
void elide_order_site(uint32_t class_index, uint64_t site);

/** elide_order_renew() - a lock was initialised or destroyed: what is there next is another one. */
void elide_order_renew(const void *lock);

#pragma GCC visibility pop

#endif

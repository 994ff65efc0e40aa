/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * order.h - locks taken in orders that can deadlock, ELIDE_ORDER=1.
 *
 * Each thread keeps a list of the locks it holds. When it takes one, there is
 * an edge from the class of every lock held to the class of that one, the
 * first time with both call sites; an edge that closes a circle is written to
 * the data file. What counts:
 *
 *   lock call that waits    edges from all that are held, and it is held
 *   trylock, timed call     no edge to it, for it does not wait for ever; it is held
 *   cond_wait               the mutex is taken again: edges from all others held
 *   elided                  as if locked, written down after the commit
 *   relock, second reader   nothing: it is held already
 *   two locks of one class  no edge of the class, or every tree that is walked
 *                           hand over hand would be one; but an edge between the
 *                           two locks themselves, in a graph of its own
 *   reader after reader     edges, but see order_graph_circle()
 *   custom locks            nothing: whether their callers wait is not known
 *
 * That all of it was one thread, or that one more lock is always held around
 * it, is not looked at. Must never change what a call answers, and never
 * write anything inside a transaction.
 */
#ifndef ELIDE_ORDER_H
#define ELIDE_ORDER_H

#include "../state/thread.h"

#pragma GCC visibility push(hidden)

/**
 * elide_order_start() - make the tables.
 *
 * In memory that a fork wipes: the child finds them empty.
 *
 * Return: 0 or -ENOMEM.
 */
int elide_order_start(void);

/**
 * elide_order_waits() - the thread is about to wait for a lock, perhaps for ever.
 * @t: the calling thread, outside transactions, here and below
 * @row: counters of the call, which name class, site and kind
 * @lock: address, here and below
 */
void elide_order_waits(struct elide_thread *t, const struct elide_row *row, const void *lock);

/**
 * elide_order_acquired() - a lock was taken.
 * @row: counters of the call
 * @wait: the call would have waited for ever
 */
void elide_order_acquired(struct elide_thread *t, const struct elide_row *row, const void *lock,
			  bool wait);

/** elide_order_released() - a lock is released, or gone; any lock will do. */
void elide_order_released(struct elide_thread *t, const void *lock);

/**
 * elide_order_reacquired() - a mutex is about to be released and taken again by a call that waits.
 * @site: return address of that call
 */
void elide_order_reacquired(struct elide_thread *t, const void *lock, const void *site);

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * classes.h - classes of locks that no call has initialised, joined where a lock call connects them.
 *
 * The engine gives such a lock the class of the call that first locks it (ELIDE_CLASS_FIRST). If two calls
 * lock it, chance decides which of two classes it gets. Take the classes of one kind of lock and the lock
 * calls as the nodes of a graph, with an edge where a class was locked by a call: each connected component is
 * the same whoever came first. It becomes one class, and its address is the least of its calls' in the order
 * of objects and offsets.
 */
#ifndef ELIDE_CLASSES_H
#define ELIDE_CLASSES_H

#include "../load.h"

/**
 * classes_join() - join the classes of a file, and number the rest anew.
 * @f: the file, whose @sites are known; sites of other classes are left out, and the rest is sorted
 * @numbers: set to the new number of each class, to be freed; of a joined one that of the class it became
 *
 * The records of the file keep the old numbers: records_renumber().
 *
 * Return: 0 or -ENOMEM.
 */
int classes_join(struct data_file *f, uint32_t **numbers);

/**
 * classes_join_order() - give the classes of a cycle new numbers.
 *
 * An edge from one class to another is left out if both are one class now: the order in which two locks of
 * one class are acquired says nothing about the class.
 */
void classes_join_order(struct elide_order *o, const uint32_t *numbers);

/** classes_settle_orders() - leave out cycles without edges, and all but one of the same classes. */
void classes_settle_orders(struct data_file *f);

#endif

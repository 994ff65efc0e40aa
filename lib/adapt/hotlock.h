/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * hotlock.h - give one contended lock of a class a state of its own.
 */
#ifndef ELIDE_HOTLOCK_H
#define ELIDE_HOTLOCK_H

#include "trial.h"

#pragma GCC visibility push(hidden)

/**
 * adapt_hotlock_blame() - an acquisition fell back: count it for its lock and its class.
 * @p: state of the class
 * @lock: address
 *
 * Splits the lock from its class if it has most of the acquisitions of the class that fall back.
 */
void adapt_hotlock_blame(struct adapt_class *p, const void *lock);

/**
 * adapt_hotlock_split() - give a lock a state of its own, which begins as that of its class.
 * @p: state of the class
 * @lock: address
 *
 * Return: false if the lock has a state of its own, if it is the only lock of its class, or if
 * HOT_LOCKS locks have one.
 */
bool adapt_hotlock_split(struct adapt_class *p, const void *lock);

#pragma GCC visibility pop

#endif

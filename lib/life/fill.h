/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fill.h - the global-lock path of a look-up.
 */
#ifndef ELIDE_FILL_H
#define ELIDE_FILL_H

#include "../state/call.h"

#pragma GCC visibility push(hidden)

/**
 * elide_call_get() - elide_call_look(), and the global-lock path of it.
 *
 * Makes what is missing of the thread's block, the lock's registration, the row and the call. Never
 * inside a transaction.
 *
 * Return: the call; NULL if this call has to pass through uncounted: before the start, inside the
 * engine, or for lack of room.
 */
struct elide_call *elide_call_get(const void *lock, const void *site, enum elide_kind kind);

#pragma GCC visibility pop

#endif

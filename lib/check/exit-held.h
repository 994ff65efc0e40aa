/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * exit-held.h - locks that a thread held when it ended.
 */
#ifndef ELIDE_EXIT_HELD_H
#define ELIDE_EXIT_HELD_H

#include "../state/thread.h"

#pragma GCC visibility push(hidden)

/**
 * elide_exit_held() - count the locks that a thread has left held when it ended.
 * @t: its block; the thread has ended, and the caller alone uses it
 * @tid: Linux thread id that the thread had
 *
 * Each is counted as a misuse, at a site where the thread has locked it. Only the lock that each call of
 * the thread has locked last is examined.
 */
void elide_exit_held(struct elide_thread *t, uint32_t tid);

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fork.h - what becomes of the engine in a forked child.
 *
 * The memory of state/wiped.h is zero in the child. So the child knows that it is one (state/gate.c), and its
 * thread finds no call and no ready block, and enters a global-lock path. In the first one the child forgets
 * what was the parent's, and opens a data file of its own. The thread may release what it locked in the
 * parent: state/tid.h.
 */
#ifndef ELIDE_FORK_H
#define ELIDE_FORK_H

#pragma GCC visibility push(hidden)

/**
 * elide_forked() - called in a forked child by a handler of pthread_atfork().
 *
 * Handlers are called in the order in which they were registered. If another one has acquired a lock before,
 * the child has started afresh with a data file of its own, and nothing is left to do. Only a child that
 * returns from a signal handler into a lock call depends on this: _Fork() and clone() call no handlers.
 */
void elide_forked(void);

/**
 * elide_child_start() - in the first global-lock path of a forked child: give up the parent's file.
 *
 * Return: 0; -errno: the child counts nothing.
 */
int elide_child_start(void);

#pragma GCC visibility pop

#endif

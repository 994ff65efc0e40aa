/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fork.h - what becomes of the engine in a forked child.
 *
 * The memory of state/wiped.h is zero in the child: so the child knows that it is one (state/gate.c), its
 * thread finds no call and no block that is ready, and comes to a global-lock path. In the first one the
 * child forgets what was the parent's, and opens a data file of its own. The thread may release what it has
 * locked as the parent's: state/tid.h.
 */
#ifndef ELIDE_FORK_H
#define ELIDE_FORK_H

#pragma GCC visibility push(hidden)

/**
 * elide_forked() - called in a forked child by a handler of pthread_atfork().
 *
 * Handlers are called in the order in which they were registered. One of another library, or one in the
 * child of a handler that forks, may have acquired a lock before: then the child has started afresh with a
 * data file of its own, and nothing is left to do. Nothing depends on this call but a child that returns
 * from a signal handler into a lock call: _Fork() and clone() call no handlers.
 */
void elide_forked(void);

/**
 * elide_child_start() - first global-lock path of a forked child: nothing of the parent's file may be used.
 *
 * Return: 0; an error number below 0: the child counts nothing.
 */
int elide_child_start(void);

#pragma GCC visibility pop

#endif

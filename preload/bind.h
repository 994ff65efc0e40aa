/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bind.h - which functions the program's calls reach: the wrappers, or those behind them.
 */
#ifndef ELIDE_BIND_H
#define ELIDE_BIND_H

#pragma GCC visibility push(hidden)

/**
 * bind_functions_for_good() - from now on the program's calls go to glibc and not through the wrappers.
 *
 * For a constructor, after real_resolve(), in a process in which the engine will not run. Binds all that
 * loaded objects have bound, or will bind, to a wrapper to the real function. If a page cannot be changed,
 * its wrappers stay, and pass each call on.
 */
void bind_functions_for_good(void);

/**
 * bind_wrappers() - from now on the program's calls go through the wrappers, although the library was loaded
 * after the program's objects.
 *
 * After real_resolve(). Changes the words of all loaded objects but libc and this library, and those of
 * objects that are loaded later once the program looks up a symbol. Pointers to a function that the program
 * has copied stay. Each word changes at once; releases are bound before acquisitions, so that a lock which
 * a thread acquires through its wrapper is mostly released through it.
 *
 * Acquires the loader's lock. Not in a signal handler.
 */
void bind_wrappers(void);

/** bind_functions() - undo bind_wrappers(): acquisitions first, releases a moment later. */
void bind_functions(void);

#pragma GCC visibility pop

#endif

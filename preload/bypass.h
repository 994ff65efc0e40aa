/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bypass.h - the library out of the way where it does nothing.
 */
#ifndef ELIDE_BYPASS_H
#define ELIDE_BYPASS_H

#pragma GCC visibility push(hidden)

/**
 * bypass_wrappers() - from now on the program's calls go to glibc and not through the wrappers.
 *
 * For a constructor, after real_resolve(), in a process where the engine does not run and
 * will not. What the loaded objects have bound to a wrapper is bound to the function behind
 * it, and so is what will be bound later. Where a page cannot be changed the wrappers stay,
 * and pass each call on.
 */
void bypass_wrappers(void);

#pragma GCC visibility pop

#endif

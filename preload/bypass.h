/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bypass.h - a library that does nothing gets out of the way.
 */
#ifndef ELIDE_BYPASS_H
#define ELIDE_BYPASS_H

#pragma GCC visibility push(hidden)

/**
 * bypass_wrappers() - from now on the program's calls go to glibc and not through the wrappers.
 *
 * For a constructor, after real_resolve(), in a process in which the engine will not run. Binds all that
 * loaded objects have bound, or will bind, to a wrapper to the real function. If a page cannot be changed,
 * its wrappers stay, and pass each call on.
 */
void bypass_wrappers(void);

#pragma GCC visibility pop

#endif

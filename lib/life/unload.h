/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unload.h - an object of the process is unloaded.
 */
#ifndef ELIDE_UNLOAD_H
#define ELIDE_UNLOAD_H

#pragma GCC visibility push(hidden)

/**
 * elide_unloaded() - dlclose() has returned: forget the objects that are no longer loaded.
 *
 * Outside of elided sections. A global-lock path only if there are such objects.
 */
void elide_unloaded(void);

#pragma GCC visibility pop

#endif

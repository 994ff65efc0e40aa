/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * init.h - start of the wrappers.
 */
#ifndef ELIDE_INIT_H
#define ELIDE_INIT_H

#pragma GCC visibility push(hidden)

/** init_wrappers() - tell the engine what is known of libc; after the engine's start. */
void init_wrappers(void);

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * inspect.h - what another process may read of the engine's memory.
 */
#ifndef ELIDE_INSPECT_H
#define ELIDE_INSPECT_H

#include "../datafile.h"

#pragma GCC visibility push(hidden)

/** elide_inspect_fill() - say where the tables of this process are; in a global-lock path. */
void elide_inspect_fill(struct elide_inspect *to);

#pragma GCC visibility pop

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shared.h - which memory other processes may see; see shared.c.
 *
 * Must never be needed for memory that the program has not mapped itself.
 */
#ifndef RTMGRIND_SHARED_H
#define RTMGRIND_SHARED_H

#include "rtmgrind.h"

void shared_init(void);
void shared_map(Addr start, SizeT size, Bool shared);
Bool shared_contains(Addr addr);

#endif

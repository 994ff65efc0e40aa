/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debuginfo.h - reads debug information for a program that is about to end; see debuginfo.c.
 *
 * Must never be called if the program is to go on.
 */
#ifndef RTMGRIND_DEBUGINFO_H
#define RTMGRIND_DEBUGINFO_H

#include "rtmgrind.h"

void debuginfo_read(void);
void debuginfo_print(Addr *stack, UInt nr);

#endif

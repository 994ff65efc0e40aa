/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stores.h - checks the stores of a library inside its own transactions; see stores.c.
 *
 * Must never change virtual time, nor anything that the program sees.
 */
#ifndef RTMGRIND_STORES_H
#define RTMGRIND_STORES_H

#include "rtmgrind.h"

Bool stores_option(const HChar *text);
void stores_announced(Addr pc);
void stores_check(Addr pc, Addr addr, SizeT size);

#endif

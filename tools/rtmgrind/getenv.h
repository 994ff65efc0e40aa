/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * getenv.h - look-ups in the environment take no time; see getenv.c.
 *
 * Must never change what a look-up finds.
 */
#ifndef RTMGRIND_GETENV_H
#define RTMGRIND_GETENV_H

#include "rtmgrind.h"

struct block;

void getenv_mapped(Addr addr);
void getenv_emit_insn(struct block *b, Addr addr);
void getenv_emit_end(struct block *b);
void getenv_check(const VexGuestAMD64State *guest);

#endif

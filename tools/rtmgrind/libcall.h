/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libcall.h - calls of the C library that take no time; see libcall.c.
 *
 * Must never change what the functions do.
 */
#ifndef RTMGRIND_LIBCALL_H
#define RTMGRIND_LIBCALL_H

#include "rtmgrind.h"

struct block;

void libcall_mapped(Addr addr);
void libcall_emit_insn(struct block *b, Addr addr);
void libcall_emit_end(struct block *b);
void libcall_check(const VexGuestAMD64State *guest);

#endif

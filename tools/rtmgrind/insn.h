/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * insn.h - the instructions that matter to transactions; see insn.c.
 *
 * Must never be called while the guest runs: these functions make code, at translation.
 */
#ifndef RTMGRIND_INSN_H
#define RTMGRIND_INSN_H

#include "block.h"

Bool insn_needs_exact_registers(const VexGuestExtents *extents);
Bool insn_hint_at(Addr addr, UInt *at);
Bool insn_begins_block(Addr addr);
Bool insn_ends_block(Addr addr);
void insn_write(struct block *b, IRExpr *addr, Int size);
Bool insn_finish(struct block *b);
Bool insn_rewrite(struct block *b, Addr addr, UInt size);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tlb.h - the translations of addresses that each core keeps; see tlb.c.
 *
 * Must never know what a walk of the page tables does to a transaction.
 */
#ifndef RTMGRIND_TLB_H
#define RTMGRIND_TLB_H

#include "pub_tool_basics.h"

void tlb_init(void);
Bool tlb_walks(Int core, Addr addr);

#endif

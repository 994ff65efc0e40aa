/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unfriendly.h - the instructions that abort a transaction; see unfriendly.c.
 *
 * Must never be called for an instruction that was not decoded from guest memory.
 */
#ifndef RTMGRIND_UNFRIENDLY_H
#define RTMGRIND_UNFRIENDLY_H

#include "decode.h"

Bool unfriendly_insn(const struct decoded *insn);

#endif

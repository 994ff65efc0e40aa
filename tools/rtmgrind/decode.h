/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * decode.h - prefixes, map and opcode of a guest instruction; see decode.c.
 *
 * Must never read more bytes than the processor itself would.
 */
#ifndef RTMGRIND_DECODE_H
#define RTMGRIND_DECODE_H

#include "rtmgrind.h"

/* Length of the longest instruction, bytes (Intel SDM vol. 2, 2.3.11). */
#define INSN_SIZE_MAX 15

enum opcode_map { OPCODE, OPCODE_0F, OPCODE_0F38, OPCODE_0F3A, VEX_0F, OPCODE_UNKNOWN };

/* Mandatory prefixes, as bits: none, 66, F3, F2. */
#define NP 1
#define P66 2
#define PF3 4
#define PF2 8
#define ANY_PREFIX (NP | P66 | PF3 | PF2)

/**
 * struct decoded - an instruction up to its opcode.
 * @map: the opcode map
 * @opcode: the opcode
 * @prefix: the mandatory prefix, one of the bits above
 * @lock: the instruction has a LOCK prefix
 * @operand_16: the instruction has an operand-size prefix
 * @rex_w: REX.W is set: the operand has 64 bits
 * @vex_256: VEX.L is set: the operand has 256 bits
 * @repeat: the last one of the prefixes F2 and F3, 0 none
 * @repeat_at: index of @repeat in the instruction, bytes
 * @behind: the byte after the opcode, usually ModRM
 */
struct decoded {
	enum opcode_map map;
	UChar opcode;
	UChar prefix;
	Bool lock;
	Bool operand_16;
	Bool rex_w;
	Bool vex_256;
	UChar repeat;
	UInt repeat_at;
	const UChar *behind;
};

Bool decode(const UChar *code, UInt limit, struct decoded *insn);

static inline Bool modrm_is_memory(UChar modrm)
{
	return modrm < 0xc0;
}

static inline UInt modrm_reg(UChar modrm)
{
	return modrm >> 3 & 7;
}

#endif

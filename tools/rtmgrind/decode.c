// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * decode.c - prefixes, map and opcode of a guest instruction (Intel SDM vol. 2, chapter 2).
 *
 * Must never read more bytes than the processor would, nor more than the caller allows.
 */
#include "decode.h"

/* Takes a legacy prefix. Return: False if the byte is not one. */
static Bool take_prefix(const UChar *code, UInt at, struct decoded *insn)
{
	switch (code[at]) {
	case 0x66:
		insn->operand_16 = True;
		return True;
	case 0xf0:
		insn->lock = True;
		return True;
	case 0xf2:
	case 0xf3:
		insn->repeat = code[at];
		insn->repeat_at = at;
		return True;
	case 0x26: /* segments */
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x67: /* address size */
		return True;
	default:
		return False;
	}
}

static UChar legacy_prefix(const struct decoded *insn)
{
	if (insn->repeat)
		return insn->repeat == 0xf2 ? PF2 : PF3;
	return insn->operand_16 ? P66 : NP;
}

/* Takes a VEX prefix. Return: index of the opcode, 0 if its map is not the one of 0F. */
static UInt take_vex(const UChar *code, UInt at, UInt limit, struct decoded *insn)
{
	/* VEX.pp: none, 66, F3, F2. */
	UInt size = code[at] == 0xc5 ? 2 : 3;
	UChar last;

	if (at + size >= limit || (size == 3 && (code[at + 1] & 0x1f) != 1))
		return 0;
	last = code[at + size - 1];
	insn->vex_256 = last >> 2 & 1;
	insn->prefix = 1 << (last & 3);
	insn->map = VEX_0F;
	return at + size;
}

static UInt take_map(const UChar *code, UInt at, UInt limit, struct decoded *insn)
{
	insn->prefix = legacy_prefix(insn);
	insn->map = OPCODE;
	if (code[at] != 0x0f || at + 1 >= limit)
		return at;
	insn->map = OPCODE_0F;
	if (code[at + 1] != 0x38 && code[at + 1] != 0x3a)
		return at + 1;
	insn->map = code[at + 1] == 0x38 ? OPCODE_0F38 : OPCODE_0F3A;
	return at + 2;
}

/**
 * decode() - decode the prefixes and the opcode of an instruction.
 * @code: its bytes
 * @limit: number of bytes that may be read
 * @insn: receives the result
 *
 * Return: False if the opcode is beyond @limit, or in a map that enum opcode_map does not have.
 */
Bool decode(const UChar *code, UInt limit, struct decoded *insn)
{
	UInt at = 0;

	*insn = (struct decoded){.map = OPCODE_UNKNOWN};
	if (limit > INSN_SIZE_MAX)
		limit = INSN_SIZE_MAX;
	while (at < limit && take_prefix(code, at, insn))
		at++;
	if (at < limit && (code[at] & 0xf0) == 0x40) {
		insn->rex_w = code[at] >> 3 & 1;
		at++;
	}
	if (at >= limit)
		return False;
	if (code[at] == 0xc4 || code[at] == 0xc5) {
		at = take_vex(code, at, limit, insn);
		if (!at)
			return False;
	} else {
		at = take_map(code, at, limit, insn);
	}
	if (at >= limit)
		return False;
	insn->opcode = code[at];
	insn->behind = &code[at + 1];
	return True;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unfriendly.c - whether an instruction aborts transactions, according to unfriendly.def.
 *
 * Must never be called for an instruction that was not decoded from guest memory.
 */
#include "unfriendly.h"
#include "decode.h"
#include "model.h"

/* What must follow the opcode: one of these kinds, and from bit 8 on the value of field or byte. */
enum operand {
	ANY = 0,
	MEMORY = 1,
	REGISTER = 2,
	VEX_128 = 4,
	WITH_REG = 8,
	WITH_BYTE = 16,
};
#define SLASH(reg, kind) ((kind) | WITH_REG | (reg) << 8)
#define EXACTLY(byte) (WITH_BYTE | (byte) << 8)

/* The switches of unfriendly.def: two that are constant, and numbers of the machine. */
static const Long always = 1, never;
#define SWITCH_ALWAYS (&always)
#define SWITCH_NEVER (&never)
#define SWITCH_vzeroupper (&model.vzeroupper)
#define SWITCH_x87 (&model.x87)
#define SWITCH_xsave (&model.xsave)
#define SWITCH_unfriendly (&model.unfriendly)

/**
 * struct row - a line of unfriendly.def.
 * @map: opcode map
 * @prefixes: mandatory prefixes for which the line holds, as bits
 * @first: first opcode
 * @last: last opcode
 * @active: points to a number that is not 0 if the instruction aborts
 * @operand: see enum operand
 */
static const struct row {
	enum opcode_map map;
	UChar prefixes;
	UChar first;
	UChar last;
	const Long *active;
	UInt operand;
} rows[] = {
#define UNFRIENDLY(name, map, prefixes, first, last, operand, when, source) \
	{map, prefixes, first, last, SWITCH_##when, operand},
#include "unfriendly.def"
#undef UNFRIENDLY
};
#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

static Bool operand_fits(UInt operand, const struct decoded *insn)
{
	UInt value = operand >> 8;

	if (operand == ANY)
		return True;
	if (operand & VEX_128)
		return !insn->vex_256;
	if (operand & WITH_BYTE)
		return *insn->behind == value;
	if (operand & WITH_REG && modrm_reg(*insn->behind) != value)
		return False;
	return modrm_is_memory(*insn->behind) == (operand & MEMORY);
}

/**
 * unfriendly_insn() - does an instruction abort every transaction on the simulated machine?
 * @insn: the instruction
 *
 * Return: True if it does.
 */
Bool unfriendly_insn(const struct decoded *insn)
{
	UInt i;

	for (i = 0; i < NR_ROWS; i++) {
		const struct row *row = &rows[i];

		if (row->map == insn->map && row->prefixes & insn->prefix &&
		    insn->opcode >= row->first && insn->opcode <= row->last &&
		    operand_fits(row->operand, insn))
			return *row->active != 0;
	}
	return False;
}

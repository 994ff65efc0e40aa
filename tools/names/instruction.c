// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * instruction.c - which of unfriendly.def an instruction is.
 *
 * Encodings: Intel, Software Developer's Manual 2, 2.1 to 2.3. Must never read beyond the
 * bytes given: a truncated instruction is none of them.
 */
#include "../../lib/compiler.h"
#include "instruction.h"

enum opcode_map { OPCODE, OPCODE_0F, OPCODE_0F38, OPCODE_0F3A, VEX_0F, OTHER_MAP };

/* Mandatory prefixes in unfriendly.def. */
enum { NP = 1, P66 = 2, PF3 = 4, PF2 = 8, ANY_PREFIX = 15 };

/* What must follow the opcode: a kind and, from bit 8 on, the value of the field REG or of the byte. */
enum { ANY = 0, MEMORY = 1, REGISTER = 2, VEX_128 = 4, WITH_REG = 8, WITH_BYTE = 16 };
#define SLASH(reg, kind) ((kind) | WITH_REG | (reg) << 8)
#define EXACTLY(byte)    (WITH_BYTE | (byte) << 8)

static const struct row {
	const char *name;
	enum opcode_map map;
	unsigned int prefixes;
	unsigned int first;
	unsigned int last;
	unsigned int operand;
	const char *when;
} rows[] = {
#define UNFRIENDLY(name, map, prefixes, first, last, operand, when, source)                        \
	{#name, map, prefixes, first, last, operand, #when},
#include "../rtmgrind/unfriendly.def"
#undef UNFRIENDLY
};

/* An instruction up to its opcode; @behind bytes follow it. */
struct opcode {
	enum opcode_map map;
	unsigned int prefix;
	unsigned int byte;
	int vex_256;
	const uint8_t *behind;
	size_t nr_behind;
};

static int decode_vex(const uint8_t *code, size_t size, struct opcode *o)
{
	static const unsigned int prefixes[] = {NP, P66, PF3, PF2};
	size_t length = *code == 0xc5 ? 2 : 3;
	uint8_t last;

	if (size <= length)
		return -1;
	last = code[length - 1];
	o->map = length == 2 || (code[1] & 0x1f) == 1 ? VEX_0F : OTHER_MAP;
	o->prefix = prefixes[last & 3];
	o->vex_256 = last >> 2 & 1;
	o->byte = code[length];
	o->behind = code + length + 1;
	o->nr_behind = size - length - 1;
	return 0;
}

static int decode(const uint8_t *code, size_t size, struct opcode *o)
{
	const uint8_t *end = code + size;

	*o = (struct opcode){.map = OPCODE, .prefix = NP};
	for (; code < end; code++) {
		/* The last of F2 and F3 decides, 66 only without them. */
		if (*code == 0xf3)
			o->prefix = PF3;
		else if (*code == 0xf2)
			o->prefix = PF2;
		else if (*code == 0x66)
			o->prefix = o->prefix == NP ? P66 : o->prefix;
		else if (*code != 0xf0 && *code != 0x2e && *code != 0x36 && *code != 0x3e &&
			 *code != 0x26 && *code != 0x64 && *code != 0x65 && *code != 0x67)
			break;
	}
	if (code < end && (*code == 0xc5 || *code == 0xc4))
		return decode_vex(code, end - code, o);
	if (code < end && (*code & 0xf0) == 0x40)
		code++;
	if (code < end && *code == 0x0f) {
		o->map = OPCODE_0F;
		code++;
		if (code < end && (*code == 0x38 || *code == 0x3a))
			o->map = *code++ == 0x38 ? OPCODE_0F38 : OPCODE_0F3A;
	}
	if (code >= end)
		return -1;
	o->byte = *code++;
	o->behind = code;
	o->nr_behind = end - code;
	return 0;
}

static int operand_fits(unsigned int operand, const struct opcode *o)
{
	unsigned int value = operand >> 8;

	if (operand == ANY)
		return 1;
	if (operand & VEX_128)
		return !o->vex_256;
	if (!o->nr_behind)
		return 0;
	if (operand & WITH_BYTE)
		return *o->behind == value;
	if (operand & WITH_REG && (*o->behind >> 3 & 7) != value)
		return 0;
	return (*o->behind >> 6 != 3) == (operand & MEMORY);
}

const char *instruction_name(const uint8_t *code, size_t size)
{
	struct opcode o;

	if (decode(code, size, &o))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];

		/* NEVER is an exception to a row below it. */
		if (row->map == o.map && row->prefixes & o.prefix && o.byte >= row->first &&
		    o.byte <= row->last && operand_fits(row->operand, &o))
			return row->when[0] == 'N' ? NULL : row->name;
	}
	return NULL;
}

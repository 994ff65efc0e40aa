// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cfi.c - reads the call frame information of the guest's objects in the guest's memory.
 *
 * Valgrind's own reader reads all debug information of an object when the object is mapped. This
 * one looks up single addresses in .eh_frame, through the table in .eh_frame_hdr (LSB Core, "DWARF
 * Extensions"; DWARF 5, 6.4). It knows the subset that compilers and the C library use on amd64.
 *
 * Must never trust what it reads: the program may have written it.
 */
#include "cfi.h"
#include "pub_tool_aspacemgr.h"

/* DWARF's numbers of the registers of enum cfi_reg (System V ABI, amd64 supplement). */
static const UChar dwarf_regs[NR_CFI_REGS] = {3, 6, 7, 16};

#define PT_GNU_EH_FRAME 0x6474e550
/* Offsets in the ELF header of the program headers' offset in the file and of their number. */
#define E_PHOFF 32
#define E_PHNUM 56
#define PHDR_SIZE 56
/* Mappings of a file that are searched: linkers make at most 5, of which RELRO splits one. */
#define MAX_MAPPINGS 16
/*
 * Encodings of pointers: signed 32 bits relative to the pointer's own address, signed 32 bits
 * relative to .eh_frame_hdr, and unsigned 32 bits.
 */
#define PCREL_SDATA4 0x1b
#define DATAREL_SDATA4 0x3b
#define UDATA4 0x03
/* Depth of DW_CFA_remember_state inside another one; compilers use a depth of 1. */
#define MAX_REMEMBERED 4

/**
 * struct reader - bytes in guest memory that are read one after the other.
 * @at: the next byte
 * @end: the address after the last byte
 * @bad: a read went beyond @end
 */
struct reader {
	const UChar *at;
	const UChar *end;
	Bool bad;
};

/**
 * struct cie - a common information entry: what the entries of several functions share.
 * @code_align: unit of advances of the address, bytes
 * @data_align: unit of offsets on the stack, bytes
 * @augmented: the functions' entries have augmentation data
 * @signal: the functions are signal trampolines
 * @program: initial instructions of each function
 */
struct cie {
	ULong code_align;
	Long data_align;
	Bool augmented;
	Bool signal;
	struct reader program;
};

static ULong read_bytes(struct reader *r, UInt size)
{
	ULong value = 0;

	if ((ULong)(r->end - r->at) < size) {
		r->bad = True;
		r->at = r->end;
		return 0;
	}
	VG_(memcpy)(&value, r->at, size);
	r->at += size;
	return value;
}

static ULong read_leb(struct reader *r, Bool is_signed)
{
	ULong value = 0;
	UInt shift = 0;
	UChar byte;

	do {
		byte = read_bytes(r, 1);
		if (shift < 64)
			value |= (ULong)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= ~0ULL << shift;
	return value;
}

static void skip(struct reader *r, ULong size)
{
	if (size > (ULong)(r->end - r->at)) {
		r->bad = True;
		size = r->end - r->at;
	}
	r->at += size;
}

/* Reads from @addr to the end of the mapping that it is in. */
static struct reader read_at(Addr addr)
{
	const NSegment *segment = VG_(am_find_nsegment)(addr);

	if (!segment || !segment->hasR ||
	    (segment->kind != SkFileC && segment->kind != SkAnonC))
		return (struct reader){.bad = True};
	return (struct reader){.at = (UChar *)addr, .end = (UChar *)segment->end + 1};
}

/* Address of the first mapping of the object whose code is at @pc; 0 if there is none. */
static Addr object_of(Addr pc)
{
	const NSegment *segment = VG_(am_find_nsegment)(pc);
	ULong dev, ino;
	Int i;

	if (!segment || segment->kind != SkFileC)
		return 0;
	dev = segment->dev;
	ino = segment->ino;
	for (i = 0; i < MAX_MAPPINGS && segment; i++) {
		if (segment->kind == SkFileC && segment->dev == dev && segment->ino == ino &&
		    !segment->offset)
			return segment->hasR ? segment->start : 0;
		segment = VG_(am_find_nsegment)(segment->start - 1);
	}
	return 0;
}

/* Address of the .eh_frame_hdr of a 64-bit ELF object that is mapped at @object; 0 if none. */
static Addr find_header(Addr object)
{
	struct reader elf = read_at(object), h;
	Addr first = 0, header = 0;
	UInt i, nr;

	if (elf.bad || elf.end - elf.at < 64 || VG_(memcmp)(elf.at, "\177ELF\2", 5) != 0)
		return 0;
	nr = *(const UShort *)(elf.at + E_PHNUM);
	h = elf;
	skip(&h, *(const ULong *)(elf.at + E_PHOFF));
	for (i = 0; i < nr && !h.bad; i++) {
		const UInt *words = (const UInt *)h.at;
		const ULong *longs = (const ULong *)h.at;

		skip(&h, PHDR_SIZE);
		if (h.bad)
			break;
		/* PT_LOAD at file offset 0: the others are relative to its address. */
		if (words[0] == 1 && !longs[1])
			first = longs[2];
		if (words[0] == PT_GNU_EH_FRAME)
			header = longs[2];
	}
	return header ? object + header - first : 0;
}

/* Looks the entry of the function at @pc up in the sorted table of .eh_frame_hdr; 0 if none. */
static Addr find_function(Addr header, Addr pc)
{
	struct reader r = read_at(header);
	UInt encodings = read_bytes(&r, 4);
	UInt nr, low = 0;
	const Int *table;

	/* Version 1; linkers use no other encodings. */
	if (encodings >> 16 != (DATAREL_SDATA4 << 8 | UDATA4) || (encodings & 0xff) != 1)
		return 0;
	read_bytes(&r, 4);
	nr = read_bytes(&r, 4);
	table = (const Int *)r.at;
	skip(&r, nr * 8UL);
	if (r.bad)
		return 0;
	while (nr) {
		UInt half = nr / 2;

		if (header + table[2 * (low + half)] <= pc) {
			low += half + 1;
			nr -= half + 1;
		} else {
			nr = half;
		}
	}
	return low ? header + table[2 * low - 1] : 0;
}

/* Reads the length of an entry of .eh_frame. Return: the bytes after the length. */
static struct reader read_entry(Addr addr)
{
	struct reader r = read_at(addr);
	UInt size = read_bytes(&r, 4);

	/* A length of 0xffffffff begins a 64-bit entry, which compilers do not make. */
	if (!size || size >= 0xfffffff0 || size > (ULong)(r.end - r.at))
		return (struct reader){.bad = True};
	r.end = r.at + size;
	return r;
}

static Bool read_cie(Addr addr, struct cie *cie)
{
	struct reader r = read_entry(addr), augmentation;
	UChar letter;

	VG_(memset)(cie, 0, sizeof(*cie));
	if (r.bad || read_bytes(&r, 4) || read_bytes(&r, 1) != 1)
		return False;
	augmentation = r;
	while (read_bytes(&r, 1))
		;
	cie->code_align = read_leb(&r, False);
	cie->data_align = read_leb(&r, True);
	if (read_leb(&r, False) != dwarf_regs[CFI_RIP])
		return False;
	letter = read_bytes(&augmentation, 1);
	if (letter == 'z') {
		struct reader data;
		ULong size = read_leb(&r, False);

		cie->augmented = True;
		data = r;
		skip(&r, size);
		while ((letter = read_bytes(&augmentation, 1))) {
			UInt encoding = letter == 'S' ? 0 : read_bytes(&data, 1);

			if (letter == 'S')
				cie->signal = True;
			else if (letter == 'P')
				skip(&data, (encoding & 7) == 0 || (encoding & 7) == 4 ? 8 : 4);
			else if ((letter == 'R' && encoding != PCREL_SDATA4) ||
				 (letter != 'R' && letter != 'L'))
				return False;
		}
	} else if (letter) {
		return False;
	}
	cie->program = r;
	return !r.bad;
}

static struct cfi_place *place_of(struct cfi_row *row, ULong dwarf_reg, struct cfi_place *unused)
{
	UInt i;

	for (i = 0; i < NR_CFI_REGS; i++)
		if (dwarf_regs[i] == dwarf_reg)
			return &row->regs[i];
	return unused;
}

static Int followed(ULong dwarf_reg)
{
	Int i;

	for (i = 0; i < NR_CFI_REGS; i++)
		if (dwarf_regs[i] == dwarf_reg)
			return i;
	return -1;
}

/*
 * Reads an expression. Known are register + offset (DW_OP_breg) and the word in memory there
 * (DW_OP_deref after it); compilers and the C library use no others.
 */
static struct cfi_place read_expression(struct reader *r, Bool location)
{
	ULong size = read_leb(r, False);
	struct reader e = *r;
	struct cfi_place place = {.rule = CFI_UNKNOWN};
	UInt op;
	Int reg;

	skip(r, size);
	e.end = r->at;
	op = read_bytes(&e, 1);
	reg = op >= 0x70 && op < 0x90 ? followed(op - 0x70) : -1;
	place.offset = read_leb(&e, True);
	if (e.bad || reg < 0)
		return place;
	place.reg = reg;
	if (e.at == e.end)
		place.rule = location ? CFI_AT : CFI_SUM;
	else if (!location && read_bytes(&e, 1) == 0x06 && e.at == e.end)
		place.rule = CFI_AT;
	return place;
}

/* Skips the operands of an instruction that changes no rule. Return: False if it is not known. */
static Bool skip_other(struct reader *r, UInt op)
{
	switch (op) {
	case 0x00: /* DW_CFA_nop */
		return True;
	case 0x2e: /* DW_CFA_GNU_args_size */
		read_leb(r, False);
		return True;
	default:
		return False;
	}
}

/* Reads by how much an instruction advances the address. Return: False if it is of another kind. */
static Bool read_advance(struct reader *r, UInt op, ULong *distance)
{
	if (op >> 6 == 1)
		*distance = op & 0x3f;
	else if (op >= 0x02 && op <= 0x04)
		*distance = read_bytes(r, 1 << (op - 0x02));
	else
		return False;
	return True;
}

static Bool run_frame(struct reader *r, UInt op, const struct cie *cie, struct cfi_place *frame)
{
	switch (op) {
	case 0x0c: /* DW_CFA_def_cfa */
	case 0x12: /* DW_CFA_def_cfa_sf */
	case 0x0d: /* DW_CFA_def_cfa_register */ {
		Int reg = followed(read_leb(r, False));

		frame->rule = reg < 0 ? CFI_UNKNOWN : CFI_SUM;
		frame->reg = reg < 0 ? 0 : reg;
		if (op == 0x0c)
			frame->offset = read_leb(r, False);
		else if (op == 0x12)
			frame->offset = (Long)read_leb(r, True) * cie->data_align;
		return True;
	}
	case 0x0e: /* DW_CFA_def_cfa_offset */
		frame->offset = read_leb(r, False);
		return True;
	case 0x13: /* DW_CFA_def_cfa_offset_sf */
		frame->offset = (Long)read_leb(r, True) * cie->data_align;
		return True;
	case 0x0f: /* DW_CFA_def_cfa_expression */
		*frame = read_expression(r, False);
		return True;
	default:
		return False;
	}
}

static Bool run_register(struct reader *r, UInt op, const struct cie *cie, struct cfi_row *row,
			 const struct cfi_row *initial)
{
	struct cfi_place unused = {.rule = CFI_UNKNOWN}, *place, saved = {.rule = CFI_FRAME};
	ULong reg = op >> 6 ? op & 0x3f : read_leb(r, False);

	place = place_of(row, reg, &unused);
	if (op >> 6 == 2 || op == 0x05) { /* DW_CFA_offset, DW_CFA_offset_extended */
		saved.offset = (Long)read_leb(r, False) * cie->data_align;
	} else if (op == 0x11) { /* DW_CFA_offset_extended_sf */
		saved.offset = (Long)read_leb(r, True) * cie->data_align;
	} else if (op == 0x10) { /* DW_CFA_expression */
		saved = read_expression(r, True);
	} else if (op >> 6 == 3 || op == 0x06) { /* DW_CFA_restore, DW_CFA_restore_extended */
		saved = *place_of((struct cfi_row *)initial, reg, &unused);
	} else if (op == 0x07) { /* DW_CFA_undefined */
		saved.rule = CFI_UNKNOWN;
	} else if (op == 0x08) { /* DW_CFA_same_value */
		saved.rule = CFI_SAME;
	} else if (op == 0x09) { /* DW_CFA_register */
		read_leb(r, False);
		saved.rule = CFI_UNKNOWN;
	} else if (op == 0x16) { /* DW_CFA_val_expression */
		read_expression(r, False);
		saved.rule = CFI_UNKNOWN;
	} else {
		return False;
	}
	*place = saved;
	return True;
}

/*
 * Executes call frame instructions until the address, which begins at @at, is beyond @pc. Return:
 * False if one of them is unknown.
 */
static Bool run(struct reader r, const struct cie *cie, Addr at, Addr pc, struct cfi_row *row,
		const struct cfi_row *initial)
{
	struct cfi_row remembered[MAX_REMEMBERED];
	UInt nr_remembered = 0;
	ULong distance;

	while (r.at < r.end && !r.bad) {
		UInt op = read_bytes(&r, 1);

		if (read_advance(&r, op, &distance)) {
			at += distance * cie->code_align;
			if (at > pc)
				return True;
		} else if (op == 0x0a) { /* DW_CFA_remember_state */
			if (nr_remembered == MAX_REMEMBERED)
				return False;
			remembered[nr_remembered++] = *row;
		} else if (op == 0x0b) { /* DW_CFA_restore_state */
			if (!nr_remembered)
				return False;
			*row = remembered[--nr_remembered];
		} else if (!skip_other(&r, op) && !run_frame(&r, op, cie, &row->frame) &&
			   !run_register(&r, op, cie, row, initial)) {
			return False;
		}
	}
	return !r.bad;
}

/**
 * cfi_find() - look up the rules that lead from an instruction's frame to the caller's.
 * @pc: address of the instruction
 * @row: receives the rules
 *
 * Return: False if there is no call frame information for @pc, or none that is known here.
 */
Bool cfi_find(Addr pc, struct cfi_row *row)
{
	Addr object = object_of(pc), header = object ? find_header(object) : 0;
	Addr function = header ? find_function(header, pc) : 0, first;
	struct cfi_row initial;
	struct reader r;
	struct cie cie;
	UInt to_cie;

	if (!function)
		return False;
	r = read_entry(function);
	to_cie = read_bytes(&r, 4);
	if (r.bad || !to_cie || !read_cie(function + 4 - to_cie, &cie))
		return False;
	first = (Addr)r.at + (Int)read_bytes(&r, 4);
	if (pc < first || pc - first >= read_bytes(&r, 4))
		return False;
	if (cie.augmented)
		skip(&r, read_leb(&r, False));
	VG_(memset)(row, 0, sizeof(*row));
	row->regs[CFI_RBX].rule = row->regs[CFI_RBP].rule = CFI_SAME;
	row->signal = cie.signal;
	/* All initial instructions are executed, whatever address they hold for. */
	if (r.bad || !run(cie.program, &cie, 0, ~(Addr)0, row, row))
		return False;
	initial = *row;
	return run(r, &cie, first, pc, row, &initial) && row->frame.rule != CFI_UNKNOWN;
}

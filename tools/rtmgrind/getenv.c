// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * getenv.c - look-ups in the environment take no time.
 *
 * getenv(3) compares the name with the beginning of each string of the environment, and many
 * programs call it without their authors' knowledge: getopt(3), setlocale(3) and localtime(3) do.
 * So virtual time stands still in the C library's getenv(): a program takes the same time in each
 * user's environment. A program that goes through the environment by itself takes its time.
 *
 * The function is found when the loader maps the C library, before it is translated for the first
 * time. A statically linked program has no table of symbols in its memory.
 */
#include "getenv.h"
#include "pub_tool_aspacemgr.h"
#include "account.h"
#include "block.h"
#include "elf.h"
#include "guest.h"
#include "txn.h"
#include "vthread.h"

/* The C library's getenv(), and the address behind it; 0 not found. */
static Addr begin, end;

static const HChar library[] = "/libc.so.6", name[] = "getenv";

/* An object that is mapped as one piece, as its file is, from the file's beginning. */
struct object {
	Addr start;
	Addr end;
};

/* Return: @size bytes at an offset of the object; NULL if it has no such bytes. */
static const void *bytes_at(const struct object *object, ULong offset, ULong size)
{
	ULong room = object->end - object->start;

	return offset <= room && size <= room - offset ? (void *)(object->start + offset) : NULL;
}

/* The dynamic section in the file; NULL if there is none. */
static const struct dynamic *find_dynamic(const struct object *object, UInt *nr)
{
	const UChar *head = bytes_at(object, 0, E_PHNUM + sizeof(UShort));
	const struct program_header *h;
	UInt i, nr_headers;

	if (!head || VG_(memcmp)(head, "\177ELF\2", 5) != 0)
		return NULL;
	nr_headers = *(const UShort *)(head + E_PHNUM);
	h = bytes_at(object, *(const ULong *)(head + E_PHOFF), nr_headers * sizeof(*h));
	for (i = 0; h && i < nr_headers; i++) {
		*nr = h[i].filesz / sizeof(struct dynamic);
		if (h[i].type == PT_DYNAMIC)
			return bytes_at(object, h[i].offset, h[i].filesz);
	}
	return NULL;
}

static UInt gnu_hash(const HChar *text)
{
	UInt hash = 5381;

	for (; *text; text++)
		hash = hash * 33 + (UChar)*text;
	return hash;
}

/* Whether symbol @i is the one that is looked for; if so, notes its address. */
static Bool is_symbol(const struct object *object, ULong symbols, ULong strings, UInt i)
{
	const struct elf_symbol *symbol =
		bytes_at(object, symbols + i * sizeof(*symbol), sizeof(*symbol));
	const HChar *text = symbol ? bytes_at(object, strings + symbol->name, sizeof(name)) : NULL;

	if (!text || VG_(memcmp)(text, name, sizeof(name)) != 0 || !symbol->section)
		return False;
	begin = object->start + symbol->value;
	end = begin + symbol->size;
	return True;
}

/* Looks the symbol up in the hash table at offset @table. */
static void look_up(const struct object *object, ULong table, ULong symbols, ULong strings)
{
	const struct gnu_hash *head = bytes_at(object, table, sizeof(*head));
	ULong buckets, chains;
	const UInt *first, *hash;
	UInt wanted = gnu_hash(name), i;

	if (!head || !head->nr_buckets)
		return;
	buckets = table + sizeof(*head) + head->bloom_words * sizeof(ULong);
	chains = buckets + head->nr_buckets * sizeof(UInt);
	first = bytes_at(object, buckets + wanted % head->nr_buckets * sizeof(UInt), sizeof(UInt));
	for (i = first ? *first : 0; i >= head->first_symbol && i; i++) {
		hash = bytes_at(object, chains + (i - head->first_symbol) * sizeof(UInt),
				sizeof(UInt));
		/* The last bit of a hash marks the end of the chain. */
		if (!hash || ((*hash | 1) == (wanted | 1) && is_symbol(object, symbols, strings, i)) ||
		    *hash & 1)
			return;
	}
}

/**
 * getenv_mapped() - a file was mapped: if it is the C library, find the function in it.
 * @addr: first address of the mapping
 */
void getenv_mapped(Addr addr)
{
	const NSegment *segment = VG_(am_find_nsegment)(addr);
	const HChar *file = segment ? VG_(am_get_filename)(segment) : NULL;
	ULong table = 0, symbols = 0, strings = 0;
	const struct dynamic *d;
	struct object object;
	UInt nr;

	if (begin || !file || segment->offset || !segment->hasR ||
	    VG_(strlen)(file) < sizeof(library) ||
	    VG_(strcmp)(file + VG_(strlen)(file) - (sizeof(library) - 1), library) != 0)
		return;
	object = (struct object){segment->start, segment->end + 1};
	for (d = find_dynamic(&object, &nr); d && nr && d->tag != DT_NULL; d++, nr--) {
		if (d->tag == DT_GNU_HASH)
			table = d->value;
		if (d->tag == DT_SYMTAB)
			symbols = d->value;
		if (d->tag == DT_STRTAB)
			strings = d->value;
	}
	if (table && symbols && strings)
		look_up(&object, table, symbols, strings);
}

static void help_begin(ULong sp)
{
	struct vthread *t = current_vthread();

	/* The abort of a transaction would not let time go on. */
	if (t->lookup_sp || txn_open(current_tid))
		return;
	t->lookup_sp = sp;
	account_stand_still(True);
}

static void look_up_over(struct vthread *t)
{
	if (!t->lookup_sp)
		return;
	t->lookup_sp = 0;
	account_stand_still(False);
}

static void help_end(void)
{
	look_up_over(current_vthread());
}

/**
 * getenv_check() - the running thread makes a system call, which a look-up does not.
 * @guest: its registers
 *
 * Lets time go on if a signal handler has left the look-up with siglongjmp(3).
 */
void getenv_check(const VexGuestAMD64State *guest)
{
	struct vthread *t = current_vthread();

	if (t->lookup_sp && guest->guest_RSP > t->lookup_sp)
		look_up_over(t);
}

/**
 * getenv_emit_insn() - emit what an instruction needs with which a look-up begins.
 * @b: the block; a block goes on into a function that it calls
 * @addr: address of the instruction
 */
void getenv_emit_insn(struct block *b, Addr addr)
{
	if (begin && addr == begin)
		block_call(b, "help_begin", help_begin,
			   mkIRExprVec_1(block_assign(b, Ity_I64,
						      IRExpr_Get(OFFSET(RSP), Ity_I64))), NULL);
}

/**
 * getenv_emit_end() - emit what a block needs with which a look-up ends.
 * @b: the block, complete but for its end
 */
void getenv_emit_end(struct block *b)
{
	if (b->pc >= begin && b->pc < end && b->out->jumpkind == Ijk_Ret)
		block_call(b, "help_end", help_end, mkIRExprVec_0(), NULL);
}

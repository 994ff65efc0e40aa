// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libcall.c - calls of the C library that take no time.
 *
 *   getenv(3)      compares the name with the beginning of each string of the environment, and many
 *                  programs call it without their authors' knowledge: getopt(3), setlocale(3) and
 *                  localtime(3) do
 *   snprintf(3)    only where the C library, from glibc 2.40, prints the name of a new thread's
 *                  stack, which has the id of the thread: it takes longer the more digits that has
 *
 * Their time depends on the user and on the host. So virtual time stands still in them: a
 * program takes the same time in each user's environment, and with any ids of its threads. If it
 * searches the environment itself, that takes time.
 *
 * The functions are found when the loader maps the C library, before they are translated for the
 * first time. A statically linked program has no table of symbols in its memory.
 */
#include "libcall.h"
#include "pub_tool_aspacemgr.h"
#include "account.h"
#include "block.h"
#include "elf.h"
#include "guest.h"
#include "txn.h"
#include "vthread.h"

/*
 * struct function - one of the C library
 * @name: as the program calls it
 * @begin: its address, 0 not found
 * @end: address after it
 */
struct function {
	const HChar *name;
	Addr begin;
	Addr end;
};

static struct function look_up_variable = {"getenv"}, print_text = {"snprintf"};

static const HChar library[] = "/libc.so.6";
/* The beginning of the format, which is a constant at these addresses of the C library. */
static const HChar stack_name[] = " glibc: pthread ";
static Addr library_begin, library_end;

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

/* Whether symbol @i is the function; if so, notes its address. */
static Bool is_symbol(const struct object *object, ULong symbols, ULong strings, UInt i,
		      struct function *f)
{
	const struct elf_symbol *symbol =
		bytes_at(object, symbols + i * sizeof(*symbol), sizeof(*symbol));
	UInt size = VG_(strlen)(f->name) + 1;
	const HChar *text = symbol ? bytes_at(object, strings + symbol->name, size) : NULL;

	if (!text || VG_(memcmp)(text, f->name, size) != 0 || !symbol->section)
		return False;
	f->begin = object->start + symbol->value;
	f->end = f->begin + symbol->size;
	return True;
}

/* Looks a function up in the hash table at offset @table. */
static void look_up(const struct object *object, ULong table, ULong symbols, ULong strings,
		    struct function *f)
{
	const struct gnu_hash *head = bytes_at(object, table, sizeof(*head));
	ULong buckets, chains;
	const UInt *first, *hash;
	UInt wanted = gnu_hash(f->name), i;

	if (!head || !head->nr_buckets)
		return;
	buckets = table + sizeof(*head) + head->bloom_words * sizeof(ULong);
	chains = buckets + head->nr_buckets * sizeof(UInt);
	first = bytes_at(object, buckets + wanted % head->nr_buckets * sizeof(UInt), sizeof(UInt));
	for (i = first ? *first : 0; i >= head->first_symbol && i; i++) {
		hash = bytes_at(object, chains + (i - head->first_symbol) * sizeof(UInt),
				sizeof(UInt));
		/* The last bit of a hash marks the end of the chain. */
		if (!hash ||
		    ((*hash | 1) == (wanted | 1) && is_symbol(object, symbols, strings, i, f)) ||
		    *hash & 1)
			return;
	}
}

/**
 * libcall_mapped() - a file was mapped: if it is the C library, find the functions in it.
 * @addr: first address of the mapping
 */
void libcall_mapped(Addr addr)
{
	const NSegment *segment = VG_(am_find_nsegment)(addr);
	const HChar *file = segment ? VG_(am_get_filename)(segment) : NULL;
	ULong table = 0, symbols = 0, strings = 0;
	const struct dynamic *d;
	struct object object;
	UInt nr;

	if (library_end || !file || segment->offset || !segment->hasR ||
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
	if (!table || !symbols || !strings)
		return;
	library_begin = object.start;
	library_end = object.end;
	look_up(&object, table, symbols, strings, &look_up_variable);
	look_up(&object, table, symbols, strings, &print_text);
}

static void stand_still(ULong sp)
{
	struct vthread *t = current_vthread();

	/* The abort of a transaction would not let time go on. */
	if (t->libcall_sp || txn_open(current_tid))
		return;
	t->libcall_sp = sp;
	account_stand_still(True);
}

static void go_on(struct vthread *t)
{
	if (!t->libcall_sp)
		return;
	t->libcall_sp = 0;
	account_stand_still(False);
}

static void help_look_up(ULong sp)
{
	stand_still(sp);
}

static void help_print(ULong sp, ULong format)
{
	if (format >= library_begin && format + sizeof(stack_name) <= library_end &&
	    VG_(am_is_valid_for_client)(format, sizeof(stack_name), VKI_PROT_READ) &&
	    VG_(strncmp)((const HChar *)format, stack_name, sizeof(stack_name) - 1) == 0)
		stand_still(sp);
}

static void help_end(void)
{
	go_on(current_vthread());
}

/**
 * libcall_check() - the running thread makes a system call, which none of the functions does.
 * @guest: its registers
 *
 * Lets time go on if a signal handler has left the function with siglongjmp(3).
 */
void libcall_check(const VexGuestAMD64State *guest)
{
	struct vthread *t = current_vthread();

	if (t->libcall_sp && guest->guest_RSP > t->libcall_sp)
		go_on(t);
}

/**
 * libcall_emit_insn() - at the first instruction of one of the functions, emit the stop of time.
 * @b: the block; it may continue into a function that it calls
 * @addr: address of the instruction
 */
void libcall_emit_insn(struct block *b, Addr addr)
{
	IRExpr *sp, *format;

	if (!addr || (addr != look_up_variable.begin && addr != print_text.begin))
		return;
	sp = block_assign(b, Ity_I64, IRExpr_Get(OFFSET(RSP), Ity_I64));
	if (addr == look_up_variable.begin) {
		block_call(b, "help_look_up", help_look_up, mkIRExprVec_1(sp), NULL);
		return;
	}
	format = block_assign(b, Ity_I64, IRExpr_Get(OFFSET(RDX), Ity_I64));
	block_call(b, "help_print", help_print, mkIRExprVec_2(sp, format), NULL);
}

static Bool is_in(const struct function *f, Addr addr)
{
	return addr >= f->begin && addr < f->end;
}

/**
 * libcall_emit_end() - at the end of one of the functions, emit that time resumes.
 * @b: the block, complete except for its end
 */
void libcall_emit_end(struct block *b)
{
	if ((is_in(&look_up_variable, b->pc) || is_in(&print_text, b->pc)) &&
	    b->out->jumpkind == Ijk_Ret)
		block_call(b, "help_end", help_end, mkIRExprVec_0(), NULL);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * debuginfo.c - names of functions and lines, which only a program that is about to end needs.
 *
 * Valgrind would read the debug information of each object when it is mapped. That takes long, and
 * most runs never need it. Must never be called by a program that is to go on.
 */
#include "debuginfo.h"
#include "pub_tool_aspacemgr.h"

/* Valgrind's own, not in its installed headers. */
extern Bool VG_(am_notify_mprotect)(Addr start, SizeT len, UInt prot);

ULong __real_vgPlain_di_notify_mmap(Addr addr, Bool allow_shared_rw, Int fd);
ULong __wrap_vgPlain_di_notify_mmap(Addr addr, Bool allow_shared_rw, Int fd);

/* A file was mapped: nobody here needs its debug information, which takes long to read, and the
 * core complains about forms newer than itself.
 */
ULong __wrap_vgPlain_di_notify_mmap(Addr addr, Bool allow_shared_rw, Int fd)
{
	return 0;
}

/* The mappings of files; to be freed. */
static Addr *file_mappings(Int *nr)
{
	Addr first, *starts;

	/* Where there is no room for all of them it says how many there are, below 0. */
	*nr = VG_(am_get_segment_starts)(SkFileC, &first, 1);
	*nr = *nr < 0 ? -*nr : *nr;
	starts = VG_(malloc)("rtmgrind.segments", (*nr + 1) * sizeof(*starts));
	*nr = VG_(am_get_segment_starts)(SkFileC, starts, *nr + 1);
	return starts;
}

/* A program header of an ELF object (System V ABI). */
struct program_header {
	UInt type;
	UInt flags;
	ULong offset;
	ULong vaddr;
	ULong paddr;
	ULong filesz;
	ULong memsz;
	ULong align;
};
#define PT_LOAD 1
#define PT_GNU_RELRO 0x6474e552
/* In the ELF header: the program headers' place in the file, and their number. */
#define E_PHOFF 32
#define E_PHNUM 56

/*
 * The core wants to see an object's mappings as the loader made them. By now the loader has taken
 * the right to write from the head of the data (RELRO): in the core's book it gets that back.
 * @start is a mapping of a file.
 */
static void undo_relro(Addr start)
{
	const NSegment *segment = VG_(am_find_nsegment)(start);
	const struct program_header *h;
	Addr bias = start;
	UInt i, nr;

	if (segment->offset || !segment->hasR || VG_(memcmp)((void *)start, "\177ELF", 4) != 0)
		return;
	h = (const struct program_header *)(start + *(ULong *)(start + E_PHOFF));
	nr = *(UShort *)(start + E_PHNUM);
	if ((Addr)h < start || (Addr)(h + nr) > segment->end)
		return;
	for (i = 0; i < nr; i++) {
		Addr from = VG_PGROUNDDN(bias + h[i].vaddr);
		Addr to = VG_PGROUNDDN(bias + h[i].vaddr + h[i].memsz);

		if (h[i].type == PT_LOAD && !h[i].offset)
			bias = start - h[i].vaddr;
		if (h[i].type == PT_GNU_RELRO && to > from)
			VG_(am_notify_mprotect)(from, to - from, VKI_PROT_READ | VKI_PROT_WRITE);
	}
}

/**
 * debuginfo_read() - read, late, the debug information of what is mapped now.
 *
 * For a program that is to end: the core's book of mappings is not right afterwards.
 */
void debuginfo_read(void)
{
	Addr *starts;
	Int i, nr;

	starts = file_mappings(&nr);
	for (i = 0; i < nr; i++)
		undo_relro(starts[i]);
	VG_(free)(starts);
	starts = file_mappings(&nr);
	for (i = 0; i < nr; i++)
		__real_vgPlain_di_notify_mmap(starts[i], False, -1);
	VG_(free)(starts);
}

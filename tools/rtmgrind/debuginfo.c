// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * debuginfo.c - reads debug information for the report about a program that is about to end.
 *
 * Valgrind would read the debug information of each object when the object is mapped. That takes
 * long, and most runs never need it. Must never be called if the program is to go on.
 */
#include "debuginfo.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_stacktrace.h"
#include "elf.h"
#include "libcall.h"

/* Valgrind's own, not in its installed headers. */
extern Bool VG_(am_notify_mprotect)(Addr start, SizeT len, UInt prot);

ULong __real_vgPlain_di_notify_mmap(Addr addr, Bool allow_shared_rw, Int fd);
ULong __wrap_vgPlain_di_notify_mmap(Addr addr, Bool allow_shared_rw, Int fd);

/*
 * A file was mapped. Does not read its debug information, as that takes long, and the core warns about
 * forms that are newer than itself.
 */
ULong __wrap_vgPlain_di_notify_mmap(Addr addr, Bool allow_shared_rw, Int fd)
{
	libcall_mapped(addr);
	return 0;
}

/* The first addresses of all mappings of files, @nr of them. To be freed. */
static Addr *file_mappings(Int *nr)
{
	Addr first, *starts;

	/* If the array is too small the function returns minus the number of mappings. */
	*nr = VG_(am_get_segment_starts)(SkFileC, &first, 1);
	*nr = *nr < 0 ? -*nr : *nr;
	starts = VG_(malloc)("rtmgrind.segments", (*nr + 1) * sizeof(*starts));
	*nr = VG_(am_get_segment_starts)(SkFileC, starts, *nr + 1);
	return starts;
}

/*
 * The core reads an object's debug information only if the object is mapped as the loader mapped
 * it at first. Since then the loader has made the beginning of the data read-only (RELRO): the
 * core's record of the mapping is made writable again. @start is a mapping of a file.
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
 * debuginfo_read() - read the debug information of all objects that are mapped now.
 *
 * The program must end afterwards, as the core's record of mappings is wrong then.
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

static void print_frame(UInt n, DiEpoch epoch, Addr ip, void *unused)
{
	InlIPCursor *cursor = VG_(new_IIPC)(epoch, ip);

	do {
		VG_(message)(Vg_UserMsg, "   %s %s\n", n ? "by" : "at",
			     VG_(describe_IP)(epoch, ip, cursor));
		n = 1;
	} while (VG_(next_IIPC)(cursor));
	VG_(delete_IIPC)(cursor);
}

/**
 * debuginfo_print() - print a stack, once the debug information is read.
 * @stack: address of the instruction, then addresses in the calls that have led there
 * @nr: number of addresses
 */
void debuginfo_print(Addr *stack, UInt nr)
{
	VG_(apply_StackTrace)(print_frame, NULL, VG_(current_DiEpoch)(), stack, nr);
}

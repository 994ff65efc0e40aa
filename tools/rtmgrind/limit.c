// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * limit.c - RLIMIT_AS, the limit of a program's address space.
 *
 * The host process has the program's memory, but also Valgrind's code, its translations and the
 * tables of the emulator, for which the program's limit must not apply. So the limit that the
 * program sets, or was started with, is kept here, and compared with the size of the program's own
 * mappings. Must never set it on the host, except just before exec replaces the program.
 */
#include "limit.h"
#include "pub_tool_aspacemgr.h"
#include "access.h"
#include "guest.h"
#include "host.h"
#include "txn.h"
#include "vthread.h"

/* include/uapi/asm-generic/resource.h */
#define RLIMIT_AS 9
/* Largest number of mappings: if a program has more, none is counted. Chosen. */
#define MAX_SEGMENTS 4096

/* struct rlimit64 (include/uapi/linux/resource.h), bytes */
struct limit {
	ULong soft;
	ULong hard;
};
#define UNLIMITED (~0ULL)

static struct limit limit = {UNLIMITED, UNLIMITED};
/* The end of the program's data segment, 0 not known yet. */
static Addr data_end;

/**
 * limit_mapped() - the size of the program's mappings.
 * @from: lowest address that counts
 * @to: address after the highest one that counts
 *
 * Return: bytes, whether they have been touched or not.
 */
SizeT limit_mapped(Addr from, Addr to)
{
	Addr starts[MAX_SEGMENTS];
	SizeT size = 0;
	Int i, nr;

	nr = VG_(am_get_segment_starts)(SkAnonC | SkFileC | SkShmC, starts, MAX_SEGMENTS);
	for (i = 0; i < nr; i++) {
		const NSegment *segment = VG_(am_find_nsegment)(starts[i]);
		Addr start = segment->start > from ? segment->start : from;
		Addr end = segment->end + 1 < to ? segment->end + 1 : to;

		size += end > start ? end - start : 0;
	}
	return size;
}

static void host_limit(const struct limit *new, struct limit *old)
{
	host_syscall(__NR_prlimit64, 0, RLIMIT_AS, (Long)new, (Long)old, 0, 0);
}

/** limit_init() - take over the limit that this program was started with. */
void limit_init(void)
{
	struct limit wide;

	host_limit(NULL, &limit);
	wide = (struct limit){limit.hard, limit.hard};
	if (limit.soft != limit.hard)
		host_limit(&wide, NULL);
}

/**
 * limit_exec() - set the host's limit to the program's, so that the next program inherits it.
 * @begins: True before exec; False after it has failed, to lift the host's limit again
 */
void limit_exec(Bool begins)
{
	struct limit wide = {limit.hard, limit.hard};

	host_limit(begins ? &limit : &wide, NULL);
}

/* Changes and reads the limit. @new and @old: struct limit in guest memory, 0 none. */
static enum syscall_verdict change(VexGuestAMD64State *guest, Addr new, Addr old)
{
	struct limit before = limit, wanted;

	if ((new && !guest_may(new, sizeof(limit), VKI_PROT_READ)) ||
	    (old && !guest_may(old, sizeof(limit), VKI_PROT_WRITE)))
		return guest_answer(guest, -(Long)VKI_EFAULT);
	if (new) {
		wanted = *(const struct limit *)new;
		if (wanted.soft > wanted.hard)
			return guest_answer(guest, -(Long)VKI_EINVAL);
		if (wanted.hard > limit.hard && VG_(geteuid)())
			return guest_answer(guest, -(Long)VKI_EPERM);
		limit = wanted;
	}
	if (old) {
		if (txn_nr_open)
			access_direct(current_tid, old, sizeof(limit), True);
		*(struct limit *)old = before;
	}
	return guest_answer(guest, 0);
}

/* Whether the program may map @more bytes. */
static Bool fits(SizeT more)
{
	SizeT mapped;

	if (limit.soft == UNLIMITED || !more)
		return True;
	mapped = limit_mapped(0, ~0UL);
	return mapped <= limit.soft && VG_PGROUNDUP(more) <= limit.soft - mapped;
}

static Bool map_fits(const VexGuestAMD64State *guest)
{
	Addr start = guest->guest_RDI;
	SizeT size = VG_PGROUNDUP(guest->guest_RSI);
	SizeT replaced = guest->guest_R10 & VKI_MAP_FIXED && limit.soft != UNLIMITED ?
				 limit_mapped(start, start + size) : 0;

	return fits(size > replaced ? size - replaced : 0);
}

/* Whether the program may move the end of its data segment, as brk() asks. */
static Bool data_fits(const VexGuestAMD64State *guest)
{
	Addr end = guest->guest_RDI;

	return !data_end || end <= data_end || fits(end - data_end);
}

/**
 * limit_data_end() - note the end of the program's data segment, the result of a brk().
 * @end: the end
 */
void limit_data_end(Addr end)
{
	data_end = end;
}

/**
 * limit_call() - system calls about the limit, or that map memory.
 * @guest: registers of the running thread
 * @ours: set to False if the call is another one, or one that the limit allows
 *
 * Return: what to do with the call.
 */
enum syscall_verdict limit_call(VexGuestAMD64State *guest, Bool *ours)
{
	Int pid = guest->guest_RDI;

	*ours = True;
	switch (guest->guest_RAX) {
	case __NR_prlimit64:
		if ((pid && pid != VG_(getpid)()) || guest->guest_RSI != RLIMIT_AS)
			break;
		return change(guest, guest->guest_RDX, guest->guest_R10);
	case __NR_setrlimit:
		if (guest->guest_RDI != RLIMIT_AS)
			break;
		if (!guest->guest_RSI)
			return guest_answer(guest, -(Long)VKI_EFAULT);
		return change(guest, guest->guest_RSI, 0);
	case __NR_getrlimit:
		if (guest->guest_RDI != RLIMIT_AS)
			break;
		if (!guest->guest_RSI)
			return guest_answer(guest, -(Long)VKI_EFAULT);
		return change(guest, 0, guest->guest_RSI);
	case __NR_mmap:
		if (map_fits(guest))
			break;
		return guest_answer(guest, -(Long)VKI_ENOMEM);
	case __NR_mremap:
		if (guest->guest_RDX <= guest->guest_RSI ||
		    fits(VG_PGROUNDUP(guest->guest_RDX) - VG_PGROUNDUP(guest->guest_RSI)))
			break;
		return guest_answer(guest, -(Long)VKI_ENOMEM);
	case __NR_brk:
		if (data_fits(guest))
			break;
		return guest_answer(guest, data_end);
	}
	*ours = False;
	return SYSCALL_REAL;
}

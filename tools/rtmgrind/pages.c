// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pages.c - page faults: which pages the kernel has not allocated yet.
 *
 * A page of anonymous private memory is allocated on the simulated machine when it is on the host,
 * at its first touch. Pages of files always count as present, because the host's page cache would
 * decide otherwise. Transparent huge pages are switched off, as their use depends on the host, too.
 *
 * Must never touch a page itself.
 */
#include "pages.h"
#include "pub_tool_aspacemgr.h"
#include "account.h"
#include "host.h"
#include "model.h"
#include "region.h"
#include "shared.h"

/* Pages that are known to be present, direct-mapped: 4096 pages are 16 MiB. Chosen. */
#define NR_KNOWN 4096
/* linux/prctl.h */
#define SET_THP_DISABLE 41
/* Bits of a page's word in /proc/self/pagemap (Documentation/admin-guide/mm/pagemap.rst). */
#define PAGEMAP_PRESENT (1ULL << 63)
#define PAGEMAP_SWAPPED (1ULL << 62)

/*
 * Valgrind's own, not in its installed headers: moves a descriptor to a number that the program
 * cannot use, and has it closed on exec.
 */
extern Int VG_(safe_fd)(Int fd);

static struct {
	Addr page;
	ULong era;
} known[NR_KNOWN];

/* Number of times that pages may have been freed. A known page counts only in its own era. */
static ULong era = 1;
static Long pagemap_fd = -1;

static void open_pagemap(void)
{
	Long fd = host_syscall(__NR_open, (Long)"/proc/self/pagemap", VKI_O_RDONLY, 0, 0, 0, 0);

	pagemap_fd = fd < 0 ? -1 : VG_(safe_fd)(fd);
	if (pagemap_fd < 0)
		VG_(umsg)("/proc/self/pagemap cannot be read: no page faults are simulated\n");
}

/* The descriptor shows the parent's pages, and all pages are shared with it until written to. */
static void forked(ThreadId tid)
{
	if (pagemap_fd >= 0)
		host_syscall(__NR_close, pagemap_fd, 0, 0, 0, 0, 0);
	open_pagemap();
	pages_forget();
}

/** pages_init() - prepare, once the machine is known. */
void pages_init(void)
{
	if (!model.faults)
		return;
	host_syscall(__NR_prctl, SET_THP_DISABLE, 1, 0, 0, 0, 0);
	open_pagemap();
	VG_(atfork)(NULL, NULL, forked);
}

/** pages_forget() - pages may have been freed: none is known to be present. */
void pages_forget(void)
{
	era++;
}

static Bool host_has(Addr page)
{
	const NSegment *segment = VG_(am_find_nsegment)(page);
	ULong word = 0;

	if (!segment || segment->kind != SkAnonC || shared_contains(page))
		return True;
	if (host_syscall(__NR_pread64, pagemap_fd, (Long)&word, sizeof(word),
			 page / VKI_PAGE_SIZE * sizeof(word), 0, 0) != sizeof(word))
		return True;
	return (word & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)) != 0;
}

/**
 * pages_present() - is a page present?
 * @addr: a byte of it
 *
 * Return: False if its first touch would fault. True if no page faults are simulated, and for a
 * page that may not be accessed at all.
 */
Bool pages_present(Addr addr)
{
	Addr page = addr & ~(Addr)(VKI_PAGE_SIZE - 1);
	UInt slot = page / VKI_PAGE_SIZE % NR_KNOWN;

	if (pagemap_fd < 0 || (known[slot].page == page && known[slot].era == era))
		return True;
	if (!host_has(page))
		return False;
	known[slot].page = page;
	known[slot].era = era;
	return True;
}

/**
 * pages_touch() - charge a page fault if the running thread touches a page that is not present.
 * @addr: a byte of it; the thread's transactions have aborted if there is a fault
 */
void pages_touch(Addr addr)
{
	if (!pages_present(addr) && in_region)
		charge(model.fault);
}

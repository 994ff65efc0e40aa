// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tlb.c - the data TLBs of the cores: which accesses need a walk of the page tables.
 *
 * Each core has two levels, which its hardware threads share, as Gras, Razavi, Bos and Giuffrida measured on
 * Haswell and Skylake ("Translation Leak-aside Buffer", USENIX Security 2018). All pages have 4 KiB.
 * Accesses that pass the filter do not come here and do not count as uses; the first access of a
 * transaction to a line always does. Unmapping a page removes nothing: the next access to the page faults,
 * and what a core takes in then, it has already.
 *
 * Nothing is simulated on a machine whose numbers walk and walk_loss are 0. Must never read the page tables
 * of the host.
 */
#include "tlb.h"
#include "cache.h"
#include "model.h"

/**
 * struct core_tlbs - the TLBs of a core, as caches of which a page is a line.
 * @first: first level
 * @second: second level; a page can be in both
 */
struct core_tlbs {
	struct cache first;
	struct cache second;
};

/* NULL on a machine on which walks have no effect. */
static struct core_tlbs *tlbs;

/** tlb_init() - make empty TLBs, if the machine has any use for them. */
void tlb_init(void)
{
	Int i;

	if (!model.caches || (!model.walk && !model.walk_loss))
		return;
	tlbs = VG_(calloc)("rtmgrind.tlbs", model.cores, sizeof(*tlbs));
	for (i = 0; i < model.cores; i++) {
		cache_init(&tlbs[i].first, model.tlb_pages, model.tlb_ways, 0);
		cache_init(&tlbs[i].second, model.tlb2_pages, model.tlb2_ways, 0);
	}
}

/* Enters a page that the TLB does not have. Return: True; False if the TLB has it, which notes the use. */
static Bool enter(struct cache *tlb, Addr page)
{
	Addr *tag = cache_find(tlb, page);

	if (tag)
		cache_use(tlb, tag);
	else
		cache_insert(tlb, page);
	return !tag;
}

/**
 * tlb_walks() - translate an address.
 * @core: the core of the thread that accesses it
 * @addr: the address
 *
 * Return: True if neither TLB of the core had the translation, so that the core walks the page tables. It
 * has the translation then.
 */
Bool tlb_walks(Int core, Addr addr)
{
	/* The number of the page in place of the number of a line. */
	Addr page = addr / VKI_PAGE_SIZE * LINE_SIZE;

	return tlbs && enter(&tlbs[core].first, page) && enter(&tlbs[core].second, page);
}

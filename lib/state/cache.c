/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cache.c - see cache.h.
 *
 * What an entry says does not depend on where it is: a look-up that is made while the cache
 * grows finds a whole entry or none.
 */
#include <string.h>

#include "../base/syscalls.h"
#include "cache.h"
#include "gate.h"
#include "modules.h"
#include "settings.h"

/* elide_thread.cache_mask for @nr entries. */
#define CACHE_MASK(nr) (((nr) - 1) * sizeof(struct elide_cache))

/* Entries that the caches of all threads have more than at first. */
static uint32_t nr_grown;

static const struct elide_call unknown_call;

/* Entries this thread has written: a signal handler that interrupts that may write some, too. */
static __thread uint32_t nr_writes;

/*
 * A look-up in a transaction must not be the first to touch a page: a page fault aborts, and the
 * next attempt would meet it again. Reading takes no memory, it maps the page of zeroes.
 */
static void map_pages(const void *start, const void *end)
{
	if (elide_process.rtm == ELIDE_RTM_NONE)
		return;
	for (const char *at = start; at < (const char *)end; at += ELIDE_PAGE)
		(void)READ_ONCE(*at);
}

/* Entries of a cache at first. There are as many windows of policy hpca as a cache may have entries. */
static uint32_t first_size(void)
{
	return elide_process.config.keeps_window ? ELIDE_NR_CACHE : ELIDE_FIRST_CACHE;
}

void elide_cache_start(struct elide_thread *t)
{
	uint32_t nr = first_size();

	/* Of what is between, a transaction reads calls alone, and each has been written. */
	map_pages(t, t->calls);
	map_pages(&t->cache[ELIDE_FIRST_CACHE], &t->cache[nr]);
	/* Written, as an entry is made next: reading first would be a page fault more. */
	WRITE_ONCE(t->cache[0].lock, NULL);
	t->cache_mask = CACHE_MASK(nr);
}

static void count_dropped(enum elide_dropped what, uint64_t nr)
{
	if (elide_data)
		__atomic_add_fetch(&elide_data->dropped[what], nr, __ATOMIC_RELAXED);
}

void elide_skip_more(struct elide_thread *t, const void *site, enum elide_dropped what,
		     uint32_t nr)
{
	struct elide_skip *skip = elide_skip_of(t, site);

	if (skip->site != site) {
		/* Another site had the place, and some of its calls have not been skipped yet. */
		count_dropped(skip->what, -(uint64_t)skip->left);
		*skip = (struct elide_skip){.site = site};
	}
	if (skip->pause < ELIDE_SKIP_MOST)
		skip->pause = 2 * skip->pause + 1;
	skip->left = skip->pause;
	skip->what = what;
	count_dropped(what, nr + skip->left);
}

void elide_skips_end(void)
{
	for (struct elide_thread *t = elide_threads_all(); t; t = t->next)
		for (int i = 0; i < ELIDE_NR_SKIPS; i++)
			count_dropped(t->skips[i].what, -(uint64_t)READ_ONCE(t->skips[i].left));
}

void elide_caches_forget(void)
{
	nr_grown = 0;
}

/* May a cache of @nr entries have as many more? */
static bool may_grow(uint32_t nr)
{
	if (nr < ELIDE_NR_CACHE)
		return true;
	if (READ_ONCE(nr_grown) + nr > ELIDE_MAX_GROWN)
		return false;
	if (__atomic_add_fetch(&nr_grown, nr, __ATOMIC_RELAXED) <= ELIDE_MAX_GROWN)
		return true;
	__atomic_sub_fetch(&nr_grown, nr, __ATOMIC_RELAXED);
	return false;
}

void elide_cache_empty(struct elide_thread *t)
{
	uint32_t nr = elide_nr_cache(t);
	struct elide_cache *entry;

	if (nr > ELIDE_NR_CACHE) {
		nr -= ELIDE_NR_CACHE;
		t->cache_mask = CACHE_MASK(ELIDE_NR_CACHE);
		/* Under a filter that cannot be asked. */
		if (sys_madvise(&t->cache[ELIDE_NR_CACHE], nr * sizeof(*entry), MADV_DONTNEED))
			memset(&t->cache[ELIDE_NR_CACHE], 0, nr * sizeof(*entry));
		__atomic_sub_fetch(&nr_grown, nr, __ATOMIC_RELAXED);
	}
	/* Pages never written stay so. */
	for (uint32_t i = 0; (entry = elide_cache_used(t, i)); i++)
		if (entry->lock)
			entry->lock = NULL;
	t->cache_mask = CACHE_MASK(first_size());
	t->nr_filled = t->nr_evicted = 0;
}

/*
 * A signal handler that looks a call up meanwhile finds no entry or a whole one. One that
 * writes an entry may have written this one: then there is none. One that leaves by
 * longjmp() leaves none behind.
 */
static __always_inline_fn void entry_write(struct elide_thread *t, struct elide_cache *entry,
					   const struct elide_cache *what)
{
	uint32_t number = ++nr_writes;

	if (!entry->lock) {
		if (t->nr_filled < ELIDE_NR_FILLED)
			t->filled[t->nr_filled] = entry - t->cache;
		t->nr_filled++;
	}
	WRITE_ONCE(entry->lock, NULL);
	barrier();
	entry->generation = what->generation;
	entry->call = what->call;
	entry->counter = what->counter;
	barrier();
	if (likely(READ_ONCE(nr_writes) == number))
		WRITE_ONCE(entry->lock, what->lock);
	barrier();
	if (unlikely(READ_ONCE(nr_writes) != number))
		WRITE_ONCE(entry->lock, NULL);
}

/*
 * So many live entries were lost to others that a search for each costs more than to have twice
 * as many, as long as there is room. Their places change; what they say does not depend on it.
 */
static __cold void cache_grow(struct elide_thread *t)
{
	uint32_t nr = elide_nr_cache(t);

	t->nr_evicted = 0;
	if (nr == ELIDE_MAX_CACHE || elide_process.config.keeps_window || !may_grow(nr))
		return;
	map_pages(&t->cache[nr], &t->cache[2 * nr]);
	WRITE_ONCE(t->cache_mask, CACHE_MASK(2 * nr));
	t->nr_filled = 0;
	for (uint32_t i = 0; i < nr; i++) {
		struct elide_cache entry = t->cache[i];
		uint64_t key = elide_call_of(t, &entry)->key;

		if (!entry.lock)
			continue;
		WRITE_ONCE(t->cache[i].lock, NULL);
		entry_write(t, elide_cache_slot(t, entry.lock, key), &entry);
	}
	/* A handler has forked, and of this child's block none was to be written. */
	if (unlikely(!READ_ONCE(t->ready)))
		sys_madvise(t, sizeof(*t), MADV_DONTNEED);
}

static __always_inline_fn struct elide_cache *entry_make(struct elide_thread *t,
							 const struct elide_call *call,
							 const struct elide_row *row,
							 const void *lock, uint32_t index,
							 uint32_t generation)
{
	struct elide_cache *entry = elide_cache_slot(t, lock, call->key);
	struct adapt_thread *adapt = READ_ONCE(call->adapt);
	const void *old = entry->lock;

	if (likely(adapt)) /* not where a handler has forked, and this is the child */
		counter_add(adapt->met, 1);
	/* The block stands for its thread, and for those after it that get it. */
	elide_registry_use(index, row->class_index, (uintptr_t)t / ELIDE_PAGE);
	if (old && old != lock && entry->generation == READ_ONCE(*elide_generation(old)) &&
	    unlikely(++t->nr_evicted > elide_nr_cache(t) / 8)) {
		cache_grow(t);
		entry = elide_cache_slot(t, lock, call->key);
	}
	if (elide_process.config.keeps_window)
		*elide_window(t, entry) = (struct policy_window){0};
	entry_write(t, entry,
		    &(struct elide_cache){
			    .lock = lock,
			    .generation = generation,
			    .call = (const char *)call - (const char *)t,
			    .counter = elide_counter(lock),
		    });
	return entry;
}

__noinline struct elide_cache *elide_cache_make(struct elide_thread *t,
						const struct elide_call *call, const void *lock,
						uint32_t index, uint32_t generation)
{
	return entry_make(t, call, call->row, lock, index, generation);
}

uint16_t *elide_row_slot(struct elide_thread *t, uint32_t class_index, const void *site,
			 enum elide_kind kind, uint32_t hot)
{
	uint64_t h = (class_index * 2654435761ull + hot) ^
		     ((uintptr_t)site * 0x9e3779b97f4a7c15ull >> 40);
	const struct elide_call *call;
	const struct elide_row *row;
	uint16_t *slot;

	for (uint32_t i = h;; i++) {
		slot = &t->rows[i % ELIDE_NR_ROWS];
		if (!*slot)
			return slot;
		call = &t->calls[*slot - 1];
		row = READ_ONCE(call->row);
		if (unlikely(!row))
			return slot; /* wiped */
		if (row->class_index == class_index && row->site == (uintptr_t)site &&
		    row->kind == kind && call->hot == hot)
			return slot;
	}
}

/* The call with that class, site and kind, or one without a row. Mostly the one of the last look-up. */
static __always_inline_fn const struct elide_call *call_known(struct elide_thread *t,
							      uint32_t class_index,
							      const void *site,
							      enum elide_kind kind, uint32_t hot)
{
	const struct elide_call *call = &t->calls[t->last_call];
	const struct elide_row *row = READ_ONCE(call->row);
	uint16_t slot;

	if (likely(row && row->class_index == class_index && row->site == (uintptr_t)site &&
		   row->kind == kind && call->hot == hot))
		return call;
	slot = *elide_row_slot(t, class_index, site, kind, hot);
	if (!slot)
		return &unknown_call;
	t->last_call = slot - 1;
	return &t->calls[slot - 1];
}

struct elide_cache *elide_cache_refill(struct elide_thread *t, const void *lock, const void *site,
				       enum elide_kind kind)
{
	const struct elide_call *call;
	const struct elide_row *row;
	struct elide_cache *entry;
	uint32_t index, generation;
	uint64_t recorded;

	if (!t->ready || elide_busy || !elide_recorded_call(site, &recorded))
		return NULL;
	elide_registry_expect(lock);
	/* Before the lock is looked up: if it is another one by now, the entry never fits. */
	generation = __atomic_load_n(elide_generation(lock), __ATOMIC_ACQUIRE);
	index = elide_registry_find(lock);
	if (index == ELIDE_NONE) {
		index = elide_registry_add_known(lock, kind, site, false, false);
		generation = __atomic_load_n(elide_generation(lock), __ATOMIC_ACQUIRE);
	}
	if (index == ELIDE_NONE)
		return NULL;
	call = call_known(t, elide_registry_class(index), (const void *)recorded, kind,
			  elide_hot_of(index));
	row = READ_ONCE(call->row);
	if (!row)
		return NULL;
	entry = entry_make(t, call, row, lock, index, generation);
	barrier();
	/* A handler may have forked, and the calls of this child are wiped or made anew. */
	if (unlikely(READ_ONCE(call->row) != row))
		entry->lock = NULL;
	elide_skip_less(t, site);
	return likely(entry->lock == lock) ? entry : NULL;
}

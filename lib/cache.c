/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cache.c - see cache.h.
 *
 * What an entry says does not depend on where it is: a look-up that is made while the cache
 * grows finds a whole entry or none.
 */
#include <sys/mman.h>

#include "cache.h"
#include "process.h"

/* elide_thread.cache_mask for so many entries. */
#define CACHE_MASK(nr) (((nr) - 1) * sizeof(struct elide_cache))

/* Entries that the caches of all threads have more than at first. */
static uint32_t nr_grown;

static const struct elide_mark unknown_mark;

/*
 * A look-up in a transaction must not be the first to touch a page of the
 * block: a page fault aborts, and the next attempt would meet it again. Reading
 * takes no memory, it maps the page of zeroes.
 */
static void map_pages(const void *start, const void *end)
{
	for (const char *at = start; at < (const char *)end; at += ELIDE_PAGE)
		(void)READ_ONCE(*at);
}

void elide_cache_start(struct elide_thread *t)
{
	map_pages(t, &t->cache[ELIDE_NR_CACHE]);
	t->cache_mask = CACHE_MASK(ELIDE_NR_CACHE);
}

void elide_caches_forget(void)
{
	nr_grown = 0;
}

/* Is there room for as many entries more? */
static bool may_grow(uint32_t nr)
{
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
		madvise(&t->cache[ELIDE_NR_CACHE], nr * sizeof(*entry), MADV_DONTNEED);
		__atomic_sub_fetch(&nr_grown, nr, __ATOMIC_RELAXED);
	}
	/* Pages never written stay so. */
	for (uint32_t i = 0; (entry = elide_cache_used(t, i)); i++)
		if (entry->lock)
			entry->lock = NULL;
	t->nr_filled = t->nr_evicted = 0;
}

/* A signal handler that looks a call up meanwhile finds no entry or a whole one. */
static __always_inline_fn void entry_write(struct elide_thread *t, struct elide_cache *entry,
					   const struct elide_cache *what)
{
	if (!entry->lock) {
		if (t->nr_filled < ELIDE_NR_FILLED)
			t->filled[t->nr_filled] = entry - t->cache;
		t->nr_filled++;
	}
	WRITE_ONCE(entry->lock, NULL);
	barrier();
	entry->generation = what->generation;
	entry->mark = what->mark;
	entry->slot = what->slot;
	barrier();
	WRITE_ONCE(entry->lock, what->lock);
}

/*
 * So many live entries were lost to others that a search for each costs more than to have twice
 * as many, as long as there is room. Their places change; what they say does not depend on it.
 */
static __cold void cache_grow(struct elide_thread *t)
{
	uint32_t nr = elide_nr_cache(t);

	t->nr_evicted = 0;
	if (nr == ELIDE_MAX_CACHE || elide_process.config.name == POLICY_HPCA || !may_grow(nr))
		return;
	map_pages(&t->cache[nr], &t->cache[2 * nr]);
	WRITE_ONCE(t->cache_mask, CACHE_MASK(2 * nr));
	t->nr_filled = 0;
	for (uint32_t i = 0; i < nr; i++) {
		struct elide_cache entry = t->cache[i];
		const void *site = (const void *)elide_row(&entry)->site;

		if (!entry.lock)
			continue;
		WRITE_ONCE(t->cache[i].lock, NULL);
		entry_write(t, elide_cache_slot(t, entry.lock, site), &entry);
	}
	/* A handler has forked, and of this child's block none was to be written. */
	if (unlikely(!READ_ONCE(t->ready)))
		madvise(t, sizeof(*t), MADV_DONTNEED);
}

static __always_inline_fn struct elide_cache *entry_make(struct elide_thread *t,
							 const struct elide_mark *mark,
							 const struct elide_row *row,
							 const void *lock, uint32_t index,
							 uint32_t generation)
{
	struct elide_cache *entry = elide_cache_slot(t, lock, (const void *)row->site);
	const void *old = entry->lock;

	if (old && old != lock && entry->generation == READ_ONCE(*elide_generation(old)) &&
	    unlikely(++t->nr_evicted > elide_nr_cache(t) / 8)) {
		cache_grow(t);
		entry = elide_cache_slot(t, lock, (const void *)row->site);
	}
	if (elide_process.config.name == POLICY_HPCA)
		*elide_window(t, entry) = (struct policy_window){0};
	entry_write(t, entry,
		    &(struct elide_cache){
			    .lock = lock,
			    .generation = generation,
			    .mark = (const char *)mark - (const char *)t,
			    .slot = index - elide_registry_home(lock),
		    });
	return entry;
}

__noinline struct elide_cache *elide_cache_make(struct elide_thread *t,
						const struct elide_mark *mark, const void *lock,
						uint32_t index, uint32_t generation)
{
	return entry_make(t, mark, mark->row, lock, index, generation);
}

/* The mark that a row has, or one without a row. Mostly the last that was asked for. */
static __always_inline_fn const struct elide_mark *mark_known(struct elide_thread *t,
							      uint32_t class_index,
							      const void *site,
							      enum elide_kind kind, uint32_t hot)
{
	const struct elide_mark *mark = &t->marks[t->last_mark];
	const struct elide_row *row = READ_ONCE(mark->row);
	uint16_t slot;

	if (likely(row && row->class_index == class_index && row->site == (uintptr_t)site &&
		   row->kind == kind && mark->hot == hot))
		return mark;
	slot = *elide_row_slot(t, class_index, site, kind, hot);
	if (!slot)
		return &unknown_mark;
	t->last_mark = slot - 1;
	return &t->marks[slot - 1];
}

struct elide_cache *elide_cache_refill(struct elide_thread *t, const void *lock, const void *site,
				       enum elide_kind kind)
{
	struct elide_cache *entry = NULL;
	uint32_t index, generation;

	if (!t->ready || elide_busy)
		return NULL;
	/* Lock calls of signal handlers pass through, as in any slow path. */
	elide_busy = true;
	barrier();
	/* Before the lock is looked up: if it is another one by now, the entry never fits. */
	generation = __atomic_load_n(elide_generation(lock), __ATOMIC_ACQUIRE);
	index = elide_registry_find(lock);
	if (index != ELIDE_NONE) {
		const struct elide_mark *mark =
			mark_known(t, elide_registry_class(index), site, kind, elide_hot_of(index));
		const struct elide_row *row = READ_ONCE(mark->row);

		if (row)
			entry = entry_make(t, mark, row, lock, index, generation);
	}
	barrier();
	elide_busy = false;
	if (likely(READ_ONCE(t->ready)) || !entry)
		return entry;
	entry->lock = NULL; /* a handler has forked, and the marks of this child are wiped */
	return NULL;
}

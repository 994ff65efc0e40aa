// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load-hash.c - a hash table with chains under one mutex: look-ups, insertions, removals.
 *
 * Each key has an item of its own, so nothing is allocated in a section. What the sections add is
 * the number of items in the table. Every walk has an end, without locks, too.
 */
#include "load.h"

struct item {
	struct item *next;
	uint32_t key;
	uint32_t value;
} __attribute__((aligned(CACHE_LINE)));

static union lock common;
static struct item *items;
static struct item **buckets;
static uint32_t shift, nr_first;

static struct item **bucket_of(uint32_t key)
{
	return &buckets[mix(key) >> shift];
}

/* The pointer to the item with that key, or the last of its chain. */
static inline struct item **find(uint32_t key)
{
	struct item **at = bucket_of(key);

	for (uint32_t steps = numbers.span; *at && (*at)->key != key && steps; steps--)
		at = &(*at)->next;
	return at;
}

/* Half as many buckets as keys, and half of the keys. */
static void init(void)
{
	shift = 31;
	while (shift > 1 && 2u << (32 - shift) < numbers.span)
		shift--;
	buckets = lines_of((1ul << (32 - shift)) * sizeof(struct item *));
	items = lines_of(numbers.span * sizeof(*items));
	lock_init(&common, 0);
	for (uint32_t key = 0; key < numbers.span; key++) {
		struct item **at = bucket_of(key);

		items[key].key = key;
		items[key].value = mix(key);
		if (key % 2)
			continue;
		items[key].next = *at;
		*at = &items[key];
		nr_first++;
	}
}

static bool sum(uint64_t *sum)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < 1u << (32 - shift); i++)
		for (const struct item *item = buckets[i]; item; item = item->next)
			if (bucket_of(item->key) != &buckets[i] || nr++ > numbers.span)
				return false;
	*sum = (uint64_t)nr - nr_first;
	return true;
}

const struct family family_hash = { .init = init, .sum = sum };

static inline uint64_t insert_or_remove(uint32_t key)
{
	struct item **at = find(key), *item = *at;

	if (item) {
		*at = item->next;
		return -1;
	}
	item = &items[key];
	item->next = NULL;
	*at = item;
	return 1;
}

site void load_hash(struct worker *w)
{
	uint32_t key = draw(w, numbers.span);
	bool change = draw(w, 100) < numbers.writes;
	const struct item *item;
	uint64_t added = 0;
	bool bad = false;

	lock_acquire(&common, &w->guard);
	if (change) {
		added = insert_or_remove(key);
	} else {
		item = *find(key);
		bad = item && item->value != mix(key);
	}
	spend(numbers.work);
	lock_release(&common, &w->guard);
	w->added += added;
	w->bad += bad;
}

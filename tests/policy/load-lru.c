// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load-lru.c - a list under one mutex whose order every look-up changes, as that of the least
 * recently used items of a cache does.
 */
#include "load.h"

struct item {
	struct item *previous;
	struct item *next;
	uint64_t looked_up;
} __attribute__((aligned(CACHE_LINE)));

static union lock common;
static struct item *items, head;

static inline void push_front(struct item *item)
{
	item->previous = &head;
	item->next = head.next;
	head.next->previous = item;
	head.next = item;
}

static void init(void)
{
	lock_init(&common, 0);
	head.previous = head.next = &head;
	items = lines_of(numbers.span * sizeof(*items));
	for (uint32_t i = 0; i < numbers.span; i++)
		push_front(&items[i]);
}

static bool sum(uint64_t *sum)
{
	uint32_t nr = 0;

	for (const struct item *item = head.next; item != &head; item = item->next) {
		if (item->next->previous != item || nr++ == numbers.span)
			return false;
		*sum += item->looked_up;
	}
	return nr == numbers.span;
}

const struct family family_lru = { .init = init, .sum = sum };

site void load_lru(struct worker *w)
{
	struct item *item = &items[draw(w, numbers.span)];

	lock_acquire(&common, &w->guard);
	item->previous->next = item->next;
	item->next->previous = item->previous;
	spend(numbers.work);
	push_front(item);
	item->looked_up++;
	lock_release(&common, &w->guard);
	w->added++;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load-hand.c - locks hand over hand along a list: each node is locked before the one in front of
 * it is released.
 */
#include "load.h"

struct node {
	union lock lock;
	struct node *next;
	volatile uint64_t value;
} __attribute__((aligned(CACHE_LINE)));

static struct node *nodes;

static void init(void)
{
	nodes = lines_of(numbers.span * sizeof(*nodes));
	for (uint32_t i = 0; i < numbers.span; i++) {
		lock_init(&nodes[i].lock, i % LOCKS_MAX);
		nodes[i].next = i + 1 < numbers.span ? &nodes[i + 1] : NULL;
	}
}

static bool sum(uint64_t *sum)
{
	for (const struct node *node = nodes; node; node = node->next)
		*sum += node->value;
	return true;
}

const struct family family_hand = { .init = init, .sum = sum };

/* Two guards in turn: of the node that is held, and of the next one. */
site void load_hand(struct worker *w)
{
	uint32_t steps = draw(w, numbers.span);
	bool write = draw(w, 100) < numbers.writes;
	struct guard *guard = &w->guard, *other = &w->second;
	struct node *node = nodes, *next;
	uint64_t value;

	lock_acquire(&node->lock, guard);
	while (steps--) {
		struct guard *released = guard;

		next = node->next;
		lock_acquire(&next->lock, other);
		lock_release(&node->lock, guard);
		guard = other;
		other = released;
		node = next;
	}
	value = node->value;
	spend(numbers.work);
	if (write)
		node->value = value + 1;
	lock_release(&node->lock, guard);
	w->added += write;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load-nested.c - two nested mutexes out of many, as a transfer between two accounts takes them.
 */
#include "load.h"

struct account {
	union lock lock;
	volatile uint64_t value;
} __attribute__((aligned(CACHE_LINE)));

static struct account *accounts;
static uint32_t nr;

static void init(void)
{
	nr = numbers.locks > 2 ? numbers.locks : 2;
	accounts = lines_of(nr * sizeof(*accounts));
	for (uint32_t i = 0; i < nr; i++)
		lock_init(&accounts[i].lock, i);
}

static bool sum(uint64_t *sum)
{
	for (uint32_t i = 0; i < nr; i++)
		*sum += accounts[i].value;
	return true;
}

const struct family family_nested = { .init = init, .sum = sum };

site void load_nested(struct worker *w)
{
	uint32_t first = draw(w, nr), second = draw(w, nr - 1), amount = draw(w, 100);
	uint64_t values[2];

	second += second >= first;
	if (first > second) {
		uint32_t other = first;

		first = second;
		second = other;
	}
	lock_acquire(&accounts[first].lock, &w->guard);
	lock_acquire(&accounts[second].lock, &w->second);
	values[0] = accounts[first].value;
	values[1] = accounts[second].value;
	spend(numbers.work);
	accounts[first].value = values[0] + amount;
	accounts[second].value = values[1] + 1;
	lock_release(&accounts[second].lock, &w->second);
	lock_release(&accounts[first].lock, &w->guard);
	w->added += amount + 1;
}

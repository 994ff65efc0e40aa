/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history.h - can what threads saw of one key be put into an order?
 *
 * A history is linearizable if its operations can be put into one order in
 * which each gives the answer it gave, and none comes before one that had
 * ended when it began (Herlihy, Wing, TOPLAS 12(3), 1990). In general that takes
 * exponential time. Here every insert has a value of its own, so that which
 * value is live follows from which operations are done, whatever their order:
 * it is enough to visit each such set once. Must never answer for a history
 * that does not fit.
 */
#ifndef TESTS_DEMO_HISTORY_H
#define TESTS_DEMO_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HISTORY_THREADS 4

/* Most operations of a thread on one key. */
#define HISTORY_OPS 24

enum event_kind { EVENT_insert, EVENT_remove, EVENT_search };

/**
 * struct event - an operation and its answer
 * @kind: which
 * @took_place: whether it inserted, deleted or found
 * @value: what it inserted, deleted or found, not 0; of no meaning if it did not
 * @begin: time before it
 * @end: time after it, later than @begin; no two times are equal
 */
struct event {
	enum event_kind kind;
	bool took_place;
	uint64_t value;
	uint64_t begin, end;
};

/**
 * struct history - all operations on one key, which was absent at first
 * @events: of each thread, in its order
 * @nr: how many each has
 */
struct history {
	struct event events[HISTORY_THREADS][HISTORY_OPS];
	unsigned int nr[HISTORY_THREADS];
};

/* A bit for each set of operations that are done, by the number of those of each thread. */
struct visited {
	uint8_t bits[(HISTORY_OPS + 1) * (HISTORY_OPS + 1) * (HISTORY_OPS + 1) *
		     (HISTORY_OPS + 1) / 8 + 1];
};

/* Could it have answered so while @live (0: none) was there? Then @next is there. */
static inline bool event_fits(const struct event *event, uint64_t live, uint64_t *next)
{
	*next = live;
	switch (event->kind) {
	case EVENT_insert:
		if (event->took_place)
			*next = event->value;
		return event->took_place == !live;
	case EVENT_remove:
		if (event->took_place)
			*next = 0;
		break;
	case EVENT_search:
		break;
	}
	return event->took_place ? live && live == event->value : !live;
}

static inline bool visit_first(const struct history *h, const unsigned int *done,
			       struct visited *visited)
{
	size_t at = 0;
	bool first;

	for (unsigned int t = 0; t < HISTORY_THREADS; t++)
		at = at * (h->nr[t] + 1) + done[t];
	first = !(visited->bits[at / 8] >> at % 8 & 1);
	visited->bits[at / 8] |= (uint8_t)(1u << at % 8);
	return first;
}

/* Whether the operations behind @done can follow, with @live there. */
static inline bool history_goes_on(const struct history *h, unsigned int *done, uint64_t live,
				   struct visited *visited)
{
	uint64_t first_end = UINT64_MAX, next;
	bool found = false;

	if (!visit_first(h, done, visited))
		return false;
	for (unsigned int t = 0; t < HISTORY_THREADS; t++)
		if (done[t] < h->nr[t] && h->events[t][done[t]].end < first_end)
			first_end = h->events[t][done[t]].end;
	if (first_end == UINT64_MAX)
		return true;
	for (unsigned int t = 0; t < HISTORY_THREADS && !found; t++) {
		const struct event *event = &h->events[t][done[t]];

		if (done[t] == h->nr[t] || event->begin > first_end ||
		    !event_fits(event, live, &next))
			continue;
		done[t]++;
		found = history_goes_on(h, done, next, visited);
		done[t]--;
	}
	return found;
}

/**
 * history_linearizable() - is there an order that explains all answers?
 * @h: the history
 * @visited: working memory
 */
static inline bool history_linearizable(const struct history *h, struct visited *visited)
{
	unsigned int done[HISTORY_THREADS] = { 0 };
	size_t sets = 1;

	for (unsigned int t = 0; t < HISTORY_THREADS; t++)
		sets *= h->nr[t] + 1;
	memset(visited->bits, 0, sets / 8 + 1);
	return history_goes_on(h, done, 0, visited);
}

#endif

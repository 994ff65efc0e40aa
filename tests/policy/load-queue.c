// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load-queue.c - a bounded queue under one mutex, with a condition variable for each side.
 *
 * Threads with an even number put, the others get; a single thread does both in turn. A thread
 * that has no partner left does the partner's part itself and does not wait: whoever puts drops
 * the oldest item, and whoever gets makes one.
 */
#include "load.h"

enum side { PUT, GET };

static union lock common;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static uint64_t *ring;
static uint32_t nr, oldest, active[2];

static enum side side_of(const struct worker *w)
{
	return (numbers.threads == 1 ? w->sections : w->number) % 2 ? GET : PUT;
}

static void init(void)
{
	lock_init(&common, 0);
	ring = lines_of(numbers.span * sizeof(*ring));
	active[PUT] = (numbers.threads + 1) / 2;
	active[GET] = numbers.threads == 1 ? 1 : numbers.threads / 2;
}

static inline uint64_t pop(void)
{
	uint64_t value = ring[oldest];

	oldest = oldest + 1 == numbers.span ? 0 : oldest + 1;
	nr--;
	return value;
}

static bool sum(uint64_t *sum)
{
	if (nr > numbers.span)
		return false;
	while (nr)
		*sum += pop();
	return true;
}

static void leave(struct worker *w)
{
	enum side side = w->number % 2 ? GET : PUT;

	pthread_mutex_lock(&common.mutex);
	if (!--active[side])
		pthread_cond_broadcast(side == PUT ? &not_empty : &not_full);
	pthread_mutex_unlock(&common.mutex);
}

const struct family family_queue = { .init = init, .sum = sum, .leave = leave };

static site void put(struct worker *w)
{
	uint64_t value = draw(w, 1000), dropped = 0;
	uint32_t at;

	pthread_mutex_lock(&common.mutex);
	while (nr == numbers.span && active[GET])
		pthread_cond_wait(&not_full, &common.mutex);
	if (nr == numbers.span)
		dropped = pop();
	at = oldest + nr++;
	ring[at < numbers.span ? at : at - numbers.span] = value;
	spend(numbers.work);
	if (!numbers.how)
		pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&common.mutex);
	if (numbers.how)
		pthread_cond_signal(&not_empty);
	w->added += value - dropped;
}

static site void get(struct worker *w)
{
	uint64_t value = 0;

	pthread_mutex_lock(&common.mutex);
	while (!nr && active[PUT])
		pthread_cond_wait(&not_empty, &common.mutex);
	if (nr)
		value = pop();
	spend(numbers.work);
	if (!numbers.how)
		pthread_cond_signal(&not_full);
	pthread_mutex_unlock(&common.mutex);
	if (numbers.how)
		pthread_cond_signal(&not_full);
	w->added -= value;
}

void load_queue(struct worker *w)
{
	if (side_of(w) == PUT)
		put(w);
	else
		get(w);
}

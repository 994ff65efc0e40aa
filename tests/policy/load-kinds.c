// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load-kinds.c - other lock calls than a plain mutex's lock and unlock: trylock in a loop, a timed lock, a
 * recursive mutex that is relocked, a robust one, a semaphore that is used as a lock, and a table's lock that
 * is held until an entry is locked.
 */
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#include "load.h"

/* Rounds between two calls of a trylock. */
#define POLL 10

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, recursive, robust;
static sem_t semaphore;
static union lock *entries;
static struct line *lines;
static uint64_t changes;

static void init(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_DEFAULT);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attr);
	pthread_mutexattr_destroy(&attr);
	sem_init(&semaphore, 0, 1);
	lines = lines_of(numbers.span * sizeof(*lines));
	entries = lines_of(numbers.span * sizeof(*entries));
	for (uint32_t i = 0; i < numbers.span; i++)
		lock_init(&entries[i], i);
}

static bool sum(uint64_t *sum)
{
	for (uint32_t i = 0; i < numbers.span; i++)
		*sum += lines[i].value;
	*sum += changes;
	return true;
}

const struct family family_kinds = { .init = init, .sum = sum };

static void add(struct worker *w, struct line *at)
{
	at->value++;
	spend(numbers.work);
	w->added++;
}

site void load_poll(struct worker *w)
{
	struct line *at = &lines[draw(w, numbers.span)];

	while (pthread_mutex_trylock(&plain) == EBUSY)
		spend(POLL);
	add(w, at);
	pthread_mutex_unlock(&plain);
}

site void load_timed(struct worker *w)
{
	struct line *at = &lines[draw(w, numbers.span)];
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	if (pthread_mutex_timedlock(&plain, &until))
		exit(2);
	add(w, at);
	pthread_mutex_unlock(&plain);
}

site void load_recursive(struct worker *w)
{
	struct line *at = &lines[draw(w, numbers.span)];

	pthread_mutex_lock(&recursive);
	pthread_mutex_lock(&recursive);
	add(w, at);
	pthread_mutex_unlock(&recursive);
	pthread_mutex_unlock(&recursive);
}

site void load_robust(struct worker *w)
{
	struct line *at = &lines[draw(w, numbers.span)];

	pthread_mutex_lock(&robust);
	add(w, at);
	pthread_mutex_unlock(&robust);
}

site void load_semaphore(struct worker *w)
{
	struct line *at = &lines[draw(w, numbers.span)];

	while (sem_wait(&semaphore))
		;
	add(w, at);
	sem_post(&semaphore);
}

/* --writes per cent of the sections change the table. */
site void load_coupled(struct worker *w)
{
	uint32_t entry = draw(w, numbers.span);
	bool change = draw(w, 100) < numbers.writes;

	pthread_mutex_lock(&plain);
	changes += change;
	w->added += change;
	pthread_mutex_lock(&entries[entry].mutex);
	pthread_mutex_unlock(&plain);
	add(w, &lines[entry]);
	pthread_mutex_unlock(&entries[entry].mutex);
}

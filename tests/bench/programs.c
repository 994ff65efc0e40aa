// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * programs.c - whole programs that do little but lock.
 *
 *   programs threads N  THREADS threads, N at once: each begins, does 200 pairs, and ends
 *   programs alive N    N threads, which are all alive before one does its 10 pairs and ends
 *   programs life N     two threads: malloc, init, lock, unlock, destroy, free; N locks alive
 *   programs many N     N locks, made one by one, used by two threads, destroyed
 *
 * Prints nothing: turns.c measures the processor time of the process. Its numbers make
 * that 50 to 500 ms, of which the start of the library is a small part (2 to 3 ms, AMD EPYC).
 * An ordinary program: it must contain no part of the library.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4000
#define THREAD_PAIRS 200
#define ALIVE_PAIRS 10

/* Locks that the threads share: two seldom want the same one. */
#define SHARED 1000

/* Lives of locks in each of two threads; pairs in each of two threads over many locks. */
#define LIVES 2000000
#define MANY_PAIRS 2000000

/* A small object with its lock, of which a program has many. */
struct item {
	pthread_mutex_t mutex;
	long uses;
};

static struct item shared[SHARED];
static struct item **items;
static long nr_items;
static pthread_barrier_t barrier;

static void must(int error)
{
	if (error)
		abort();
}

static void *must_have(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

/* The generator of Numerical Recipes; its upper bits are the good ones. */
static uint32_t draw(uint32_t *random, uint32_t nr)
{
	*random = *random * 1664525u + 1013904223u;
	return (*random >> 8) % nr;
}

static void use(struct item *item)
{
	pthread_mutex_lock(&item->mutex);
	item->uses++;
	pthread_mutex_unlock(&item->mutex);
}

static void use_shared(long pairs, void *seed)
{
	uint32_t random = (uint32_t)(uintptr_t)seed;

	while (pairs--)
		use(&shared[draw(&random, SHARED)]);
}

static void *short_thread(void *seed)
{
	use_shared(THREAD_PAIRS, seed);
	return NULL;
}

static void *alive_thread(void *seed)
{
	pthread_barrier_wait(&barrier);
	use_shared(ALIVE_PAIRS, seed);
	pthread_barrier_wait(&barrier);
	return NULL;
}

/* @total threads that run @run, @nr of them at once. */
static void run_threads(void *(*run)(void *seed), long nr, long total)
{
	pthread_t *threads = must_have(calloc((size_t)nr, sizeof(*threads)));
	pthread_attr_t attr;

	must(pthread_attr_init(&attr));
	must(pthread_attr_setstacksize(&attr, 65536));
	for (long begun = 0; begun < total; begun += nr) {
		for (long i = 0; i < nr; i++)
			must(pthread_create(&threads[i], &attr, run, (void *)(begun + i + 1)));
		for (long i = 0; i < nr; i++)
			must(pthread_join(threads[i], NULL));
	}
	free(threads);
}

static void run_shared(void *(*run)(void *seed), long nr, long total)
{
	for (int i = 0; i < SHARED; i++)
		pthread_mutex_init(&shared[i].mutex, NULL);
	must(pthread_barrier_init(&barrier, NULL, (unsigned int)nr));
	run_threads(run, nr, total);
}

/* As a message of a queue, with its lock. */
struct message {
	pthread_mutex_t mutex;
	char text[200];
};

static void *live(void *unused)
{
	struct message **ring = must_have(calloc((size_t)nr_items, sizeof(*ring)));

	for (long i = 0; i < LIVES; i++) {
		struct message **m = &ring[i % nr_items];

		if (*m) {
			pthread_mutex_destroy(&(*m)->mutex);
			free(*m);
		}
		*m = must_have(malloc(sizeof(**m)));
		pthread_mutex_init(&(*m)->mutex, NULL);
		pthread_mutex_lock(&(*m)->mutex);
		pthread_mutex_unlock(&(*m)->mutex);
	}
	return NULL;
}

static void *use_items(void *seed)
{
	uint32_t random = (uint32_t)(uintptr_t)seed;

	for (long i = 0; i < MANY_PAIRS; i++)
		use(items[draw(&random, (uint32_t)nr_items)]);
	return NULL;
}

static void run_many(void)
{
	items = must_have(calloc((size_t)nr_items, sizeof(*items)));
	for (long i = 0; i < nr_items; i++) {
		items[i] = must_have(calloc(1, sizeof(*items[i])));
		pthread_mutex_init(&items[i]->mutex, NULL);
	}
	run_threads(use_items, 2, 2);
	for (long i = 0; i < nr_items; i++) {
		pthread_mutex_destroy(&items[i]->mutex);
		free(items[i]);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc == 3 ? argv[1] : "";

	nr_items = argc == 3 ? atol(argv[2]) : 0;
	if (nr_items < 1 || nr_items >= 1 << 24)
		what = "";
	if (!strcmp(what, "threads"))
		run_shared(short_thread, nr_items, THREADS);
	else if (!strcmp(what, "alive"))
		run_shared(alive_thread, nr_items, nr_items);
	else if (!strcmp(what, "life"))
		run_threads(live, 2, 2);
	else if (!strcmp(what, "many"))
		run_many();
	else
		fprintf(stderr, "usage: programs threads|alive|life|many N; N below 2^24\n");
	return *what ? 0 : 2;
}

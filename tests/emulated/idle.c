/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * idle.c - uncontended locks beside a contended one: idle [quiet]
 *
 * Each of four threads has a lock of its own, which it acquires in own(). The first thread also
 * acquires a static lock in once() and again(), which no other thread does. Without the argument
 * all acquire common_lock in common(), where they write to lines of their own.
 */
#include <pthread.h>
#include <stdlib.h>

#define NR_THREADS 4
#define ROUNDS     300
/* Increments in a section, which take most of a round, so that threads wait for a shared lock. */
#define WORK       60

struct worker {
	_Alignas(64) pthread_mutex_t lock;
	_Alignas(64) volatile unsigned long count;
	pthread_t thread;
	int is_first, shares;
};

static _Alignas(64) pthread_mutex_t alone_lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(64) pthread_mutex_t common_lock = PTHREAD_MUTEX_INITIALIZER;
static struct worker *workers;

static void section(struct worker *w, pthread_mutex_t *lock)
{
	for (int i = 0; i < WORK; i++)
		w->count++;
	pthread_mutex_unlock(lock);
}

static __attribute__((noinline)) void own(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	section(w, &w->lock);
}

static __attribute__((noinline)) void once(struct worker *w)
{
	pthread_mutex_lock(&alone_lock);
	section(w, &alone_lock);
}

static __attribute__((noinline)) void again(struct worker *w)
{
	pthread_mutex_lock(&alone_lock);
	w->count++;
	section(w, &alone_lock);
}

static __attribute__((noinline)) void common(struct worker *w)
{
	pthread_mutex_lock(&common_lock);
	section(w, &common_lock);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < ROUNDS; i++) {
		own(w);
		if (w->is_first) {
			once(w);
			again(w);
		}
		if (w->shares)
			common(w);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long sum = 0;

	workers = aligned_alloc(64, NR_THREADS * sizeof(*workers));
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_mutex_init(&workers[i].lock, NULL);
		workers[i].count = 0;
		workers[i].is_first = !i;
		workers[i].shares = argc < 2;
	}
	for (int i = 0; i < NR_THREADS; i++)
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		sum += workers[i].count;
	}
	return sum != ((argc < 2 ? 2ul : 1ul) * NR_THREADS + 2) * ROUNDS * WORK + ROUNDS;
}

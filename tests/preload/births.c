/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * births.c - births HOW NR: NR threads begin and end, each of which acquires a lock LOCKS times.
 * HOW:
 *   joined    few are alive at once, and each is joined
 *   detached  the same, and nobody joins them
 *   ends      the same, joined: a third return, a third call pthread_exit(), a third are cancelled
 *   alive     all are alive at once
 *
 * Prints the number of acquisitions; exit 77 if there cannot be as many threads.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOCKS 3
#define FEW   8
#define MOST  100000
#define STACK 65536

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long total;
static pthread_t threads[MOST];
static pthread_barrier_t barrier;
static sem_t places;

static void acquire(void)
{
	for (int i = 0; i < LOCKS; i++) {
		pthread_mutex_lock(&lock);
		total++;
		pthread_mutex_unlock(&lock);
	}
}

static void *joined(void *unused)
{
	acquire();
	return unused;
}

static void *detached(void *unused)
{
	acquire();
	sem_post(&places);
	return unused;
}

static void *ends(void *how)
{
	acquire();
	if ((uintptr_t)how % 3 == 1)
		pthread_exit(NULL);
	while ((uintptr_t)how % 3 == 2)
		pause();
	return NULL;
}

static void *alive(void *unused)
{
	acquire();
	pthread_barrier_wait(&barrier);
	return unused;
}

static void begin(pthread_attr_t *attr, void *(*body)(void *), long i)
{
	int err = pthread_create(&threads[i], attr, body, (void *)i);

	if (!err)
		return;
	fprintf(stderr, "births: thread %ld: %s\n", i, strerror(err));
	_exit(77);
}

/* A thread is not cancelled before it waits: locks are no cancellation points. */
static void end(void *(*body)(void *), long i)
{
	if (body == ends && i % 3 == 2)
		pthread_cancel(threads[i]);
	pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void *(*body)(void *);
	} how[] = {{"joined", joined}, {"detached", detached}, {"ends", ends}, {"alive", alive}};
	long nr = argc > 2 ? atol(argv[2]) : 0, few;
	void *(*body)(void *) = NULL;
	pthread_attr_t attr;

	for (unsigned int i = 0; argc > 2 && i < sizeof(how) / sizeof(*how); i++)
		if (!strcmp(argv[1], how[i].name))
			body = how[i].body;
	if (!body || nr < FEW || nr > MOST)
		return 2;
	few = body == alive ? nr : FEW;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	if (body == detached)
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_barrier_init(&barrier, NULL, nr);
	sem_init(&places, 0, FEW);
	for (long i = 0; i < nr + few; i++) {
		if (body == detached && i < nr + FEW)
			sem_wait(&places);
		else if (body != detached && i >= few)
			end(body, i - few);
		if (i < nr)
			begin(&attr, body, i);
	}
	pthread_mutex_lock(&lock);
	printf("%lu\n", total + 1);
	pthread_mutex_unlock(&lock);
	return 0;
}

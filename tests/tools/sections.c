// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sections.c - threads whose critical sections under one lock share no data:
 * sections THREADS ROUNDS TURNS [EXIT]
 *
 * Each section counts down from TURNS, in as many instructions whatever the
 * compiler. Prints what was counted; ends with EXIT, or with EXIT 3 when it is
 * elided if EXIT is "elided" (there is a library in LD_PRELOAD, and its mode is not off).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_THREADS 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t start;
static long rounds, turns;
static struct {
	long count;
} __attribute__((aligned(64))) counts[MAX_THREADS];

static void *work(void *arg)
{
	long *count = arg;

	pthread_barrier_wait(&start);
	for (long i = 0; i < rounds; i++) {
		long n = turns;

		pthread_mutex_lock(&lock);
		__asm__ volatile("1: dec %0; jnz 1b" : "+r"(n));
		++*count;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static int is_elided(void)
{
	const char *preload = getenv("LD_PRELOAD"), *mode = getenv("ELIDE_MODE");

	return preload && *preload && !(mode && !strcmp(mode, "off"));
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t threads[MAX_THREADS];
	long sum = 0;

	if (argc < 4 || nr < 1 || nr > MAX_THREADS)
		return 2;
	rounds = atol(argv[2]);
	turns = atol(argv[3]);
	pthread_barrier_init(&start, NULL, nr);
	for (int i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, work, &counts[i].count);
	for (int i = 0; i < nr; i++) {
		pthread_join(threads[i], NULL);
		sum += counts[i].count;
	}
	printf("%ld\n", sum);
	if (argc > 4 && !strcmp(argv[4], "elided"))
		return is_elided() ? 3 : 0;
	return argc > 4 ? atoi(argv[4]) : 0;
}

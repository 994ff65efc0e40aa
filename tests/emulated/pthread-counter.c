// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pthread-counter.c - a plain pthread program without RTM of its own, whose mutex the C library
 * elides if it is set to.
 */
#include <pthread.h>
#include <stdio.h>

#define THREADS 4
#define ROUNDS 500

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct {
	long value;
} __attribute__((aligned(64))) counters[64];

static void *add(void *arg)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		counters[(i * 7 + (unsigned long)arg * 13) % 64].value++;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	long i, sum = 0;

	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, add, (void *)i);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < 64; i++)
		sum += counters[i].value;
	printf("sum %ld\n", sum);
	return sum != THREADS * ROUNDS;
}

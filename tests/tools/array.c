// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * array.c - an ordinary program: a thousand locks of an array, in two functions, locks of
 * other kinds of data beside them, and each a known number of times. array [LOCKS].
 */
#include <pthread.h>
#include <stdlib.h>

#define LOCKS  1000
#define ROUNDS 3

static struct {
	pthread_mutex_t lock;
	long value;
} buckets[LOCKS];

/* As large, but two locks are all there is of them. */
static struct {
	char name[48];
	pthread_mutex_t users_lock;
	char more[1000];
	pthread_mutex_t logs_lock;
	char rest[7];
} server = {.users_lock = PTHREAD_MUTEX_INITIALIZER, .logs_lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t single_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spins[100];

static __attribute__((noinline)) void lookup(int i)
{
	pthread_mutex_lock(&buckets[i].lock);
	pthread_mutex_unlock(&buckets[i].lock);
	__asm__ volatile("");
}

static __attribute__((noinline)) void insert(int i)
{
	pthread_mutex_lock(&buckets[i].lock);
	buckets[i].value++;
	pthread_mutex_unlock(&buckets[i].lock);
	__asm__ volatile("");
}

static void *work(void *nr)
{
	long locks = *(long *)nr;

	/* From the middle, so that the first lock is not the first met. */
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < locks; i++) {
			lookup((i + locks / 2) % locks);
			insert((i + locks / 2) % locks);
		}
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&server.users_lock);
		pthread_mutex_lock(&server.logs_lock);
		pthread_mutex_lock(&single_lock);
		pthread_spin_lock(&spins[i]);
		pthread_spin_unlock(&spins[i]);
		pthread_mutex_unlock(&single_lock);
		pthread_mutex_unlock(&server.logs_lock);
		pthread_mutex_unlock(&server.users_lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long locks = argc > 1 ? atol(argv[1]) : LOCKS;
	pthread_t threads[2];

	for (int i = 0; i < 100; i++)
		pthread_spin_init(&spins[i], PTHREAD_PROCESS_PRIVATE);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, &locks))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * looper - two threads that lock and unlock, until standard input ends.
 *
 * Each line read from standard input is answered by one with the number of
 * critical sections so far.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long count;
static int stop;

static void *work(void *unused)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		pthread_mutex_lock(&lock);
		count++;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	char line[16];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	while (fgets(line, sizeof(line), stdin)) {
		printf("%lu\n", __atomic_load_n(&count, __ATOMIC_RELAXED));
		fflush(stdout);
		usleep(1000);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%lu\n", count);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * races.c - timeouts that race with wake-ups: races KIND [ROUNDS].
 *
 * Three threads wait for a condition variable, a semaphore or a mutex, with timeouts that are about
 * as long as a fourth thread takes to wake them. Prints the number of waits that were woken and of
 * those that timed out. The program would hang if a wake-up or a release of the mutex were lost.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#include "emu.h"

#define NR_WAITERS 3
#define NS_PER_US 1000L

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static long nr_rounds = 20, nr_items, nr_left = NR_WAITERS;
static long nr_woken, nr_timed_out;

static struct timespec in_us(long us)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_nsec += us * NS_PER_US;
	ts.tv_sec += ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	return ts;
}

static void count(int result)
{
	if (result && result != ETIMEDOUT)
		abort();
	__atomic_fetch_add(result ? &nr_timed_out : &nr_woken, 1, __ATOMIC_RELAXED);
}

/* Waits until there is an item, at most @us. */
static void wait_cond(long us)
{
	struct timespec until = in_us(us);
	int result = 0;

	pthread_mutex_lock(&mutex);
	while (!nr_items && !result)
		result = pthread_cond_timedwait(&cond, &mutex, &until);
	if (nr_items) {
		nr_items--;
		result = 0;
	}
	pthread_mutex_unlock(&mutex);
	count(result);
}

static void wake_cond(long round)
{
	pthread_mutex_lock(&mutex);
	nr_items++;
	if (round % 3)
		pthread_mutex_unlock(&mutex);
	if (round % 4 == 3)
		pthread_cond_broadcast(&cond);
	else
		pthread_cond_signal(&cond);
	if (!(round % 3))
		pthread_mutex_unlock(&mutex);
}

static void wait_sem(long us)
{
	struct timespec until = in_us(us);

	count(sem_timedwait(&sem, &until) ? errno : 0);
}

static void wake_sem(long round)
{
	(void)round;
	sem_post(&sem);
}

static void wait_mutex(long us)
{
	struct timespec until = in_us(us);
	int result = pthread_mutex_timedlock(&mutex, &until);

	if (!result) {
		nr_items++;
		pthread_mutex_unlock(&mutex);
	}
	count(result);
}

/* Holds the mutex for about as long as the timeouts of the others. */
static void wake_mutex(long round)
{
	pthread_mutex_lock(&mutex);
	usleep(20 + round % 5);
	nr_items++;
	pthread_mutex_unlock(&mutex);
}

static const struct kind {
	const char *name;
	void (*wait)(long us);
	void (*wake)(long round);
} kinds[] = {
	{"cond", wait_cond, wake_cond},
	{"sem", wait_sem, wake_sem},
	{"mutex", wait_mutex, wake_mutex},
};

static const struct kind *kind;

static void *waiter(void *arg)
{
	long number = (long)arg;

	for (long i = 0; i < nr_rounds; i++)
		kind->wait(15 + (i * 7 + number * 5) % 20);
	__atomic_fetch_sub(&nr_left, 1, __ATOMIC_RELEASE);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[NR_WAITERS];
	long i;

	for (size_t k = 0; argc > 1 && k < ARRAY_SIZE(kinds); k++)
		if (!strcmp(argv[1], kinds[k].name))
			kind = &kinds[k];
	if (!kind)
		return 2;
	if (argc > 2)
		nr_rounds = atol(argv[2]);
	sem_init(&sem, 0, 0);
	for (i = 0; i < NR_WAITERS; i++)
		pthread_create(&threads[i], NULL, waiter, (void *)i);
	/* Pairs with the release in waiter(). */
	for (i = 0; __atomic_load_n(&nr_left, __ATOMIC_ACQUIRE); i++) {
		usleep(3 + i * 13 % 17);
		kind->wake(i);
	}
	for (i = 0; i < NR_WAITERS; i++)
		pthread_join(threads[i], NULL);
	printf("woken %ld timed out %ld\n", nr_woken, nr_timed_out);
	return nr_woken + nr_timed_out != NR_WAITERS * nr_rounds;
}

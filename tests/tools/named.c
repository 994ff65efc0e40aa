// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * named.c - threads with names, whose lock calls are counted: named [PROCESSES]
 *
 * In each process "holder" locks a mutex 20 times for 2 ms, "waiter" as often at once, and 50 threads
 * of the name "short" one after the other lock another one 3 times each.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIMES  20
#define SHORTS 50

static pthread_mutex_t slow_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t quick_lock = PTHREAD_MUTEX_INITIALIZER;

static void *hold(void *arg)
{
	const struct timespec two_ms = {.tv_nsec = 2000000};

	pthread_setname_np(pthread_self(), "holder");
	for (int i = 0; i < TIMES; i++) {
		pthread_mutex_lock(&slow_lock);
		nanosleep(&two_ms, NULL);
		pthread_mutex_unlock(&slow_lock);
	}
	return NULL;
}

static void *take(void *arg)
{
	const struct timespec one_ms = {.tv_nsec = 1000000};

	pthread_setname_np(pthread_self(), "waiter");
	for (int i = 0; i < TIMES; i++) {
		pthread_mutex_lock(&slow_lock);
		pthread_mutex_unlock(&slow_lock);
		nanosleep(&one_ms, NULL);
	}
	return NULL;
}

static void *run_short(void *arg)
{
	pthread_setname_np(pthread_self(), "short");
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&quick_lock);
		pthread_mutex_unlock(&quick_lock);
	}
	return NULL;
}

static void run(void)
{
	pthread_t holder, waiter, thread;

	if (pthread_create(&holder, NULL, hold, NULL) || pthread_create(&waiter, NULL, take, NULL))
		abort();
	for (int i = 0; i < SHORTS; i++)
		if (pthread_create(&thread, NULL, run_short, NULL) || pthread_join(thread, NULL))
			abort();
	pthread_join(holder, NULL);
	pthread_join(waiter, NULL);
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 1, status, failed = 0;

	/* The lock of the first process is known before the others are forked. */
	run_short(NULL);
	pthread_setname_np(pthread_self(), "first");
	for (int i = 1; i < nr; i++) {
		pid_t pid = fork();

		if (pid < 0)
			abort();
		if (!pid) {
			run();
			exit(0);
		}
	}
	run();
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}

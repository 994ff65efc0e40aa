// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hang.c - a program that hangs for a moment, for the test of elide run --watchdog: hang KIND.
 *
 *	twice  a thread waits for a mutex for 1 s, two times, one after the other
 *	child  the same in a child of fork()
 *	all    both threads wait for a semaphore for ever, until a signal ends the process after 2 s
 *	idle   a thread waits for work for 1 s, while main() sleeps
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANG_US 1000000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t work;

static void *wait_for_lock(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *wait_for_work(void *arg)
{
	(void)arg;
	while (sem_wait(&work))
		;
	return NULL;
}

/* A thread waits for the lock that this one holds. */
static void hang(void)
{
	pthread_t thread;

	pthread_mutex_lock(&lock);
	pthread_create(&thread, NULL, wait_for_lock, NULL);
	usleep(HANG_US);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	pthread_t thread;

	sem_init(&work, 0, 0);
	if (!strcmp(kind, "twice")) {
		hang();
		/* The watchdog has to see that no thread waits any more. */
		usleep(HANG_US / 2);
		hang();
	} else if (!strcmp(kind, "child")) {
		if (!fork()) {
			hang();
			_exit(0);
		}
		wait(NULL);
	} else if (!strcmp(kind, "all")) {
		alarm(2);
		pthread_create(&thread, NULL, wait_for_work, NULL);
		wait_for_work(NULL);
	} else if (!strcmp(kind, "idle")) {
		pthread_create(&thread, NULL, wait_for_work, NULL);
		usleep(HANG_US);
		sem_post(&work);
		pthread_join(thread, NULL);
	} else {
		return 2;
	}
	return 0;
}

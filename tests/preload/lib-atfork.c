/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lib-atfork.c - handlers of pthread_atfork() that each acquire a lock once.
 *
 * Preloaded behind the library its constructor runs first, and so do its handlers in a child. With
 * ATFORK_FORKS the handler in a child forks once more, and that child ends in the handler.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool nested;

static void take(void)
{
	if (pthread_mutex_lock(&lock) || pthread_mutex_unlock(&lock))
		abort();
}

static void child(void)
{
	int status;
	pid_t pid;

	take();
	if (nested)
		_exit(0);
	if (!getenv("ATFORK_FORKS"))
		return;
	nested = true;
	pid = fork();
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		abort();
	nested = false;
}

__attribute__((constructor)) static void start(void)
{
	if (pthread_atfork(take, take, child))
		abort();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * startup-early.c - a library whose constructor looks at time, or starts what goes on in it:
 * EARLY=clock, counter, sleep, thread or process. To be preloaded.
 *
 * Each takes 1 ms of virtual time.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NS 1000000LL

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void wait_for_clock(void)
{
	long long begun = now();

	while (now() - begun < WAIT_NS)
		;
}

/* In a machine of 1 GHz. */
static void wait_for_counter(void)
{
	unsigned long long begun = __builtin_ia32_rdtsc();

	while (__builtin_ia32_rdtsc() - begun < WAIT_NS)
		;
}

static volatile int done;

static void *thread_main(void *unused)
{
	for (volatile long long i = 0; i < WAIT_NS; i++)
		;
	done = 1;
	return NULL;
}

static void wait_for_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, thread_main, NULL);
	while (!done)
		;
	pthread_join(thread, NULL);
}

static void wait_for_process(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	wait_for_clock();
}

static void __attribute__((constructor)) early(void)
{
	const struct timespec ts = {.tv_nsec = WAIT_NS};
	const char *how = getenv("EARLY");

	if (!how)
		return;
	if (!strcmp(how, "clock"))
		wait_for_clock();
	else if (!strcmp(how, "counter"))
		wait_for_counter();
	else if (!strcmp(how, "sleep"))
		nanosleep(&ts, NULL);
	else if (!strcmp(how, "thread"))
		wait_for_thread();
	else if (!strcmp(how, "process"))
		wait_for_process();
}

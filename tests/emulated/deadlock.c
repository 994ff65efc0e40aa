// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * deadlock.c - programs that are deadlocked, and some that only seem so: deadlock CASE.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu.h"

#define HANDLER_STATUS 7

static pthread_mutex_t first_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t event = PTHREAD_COND_INITIALIZER;

static __attribute__((noinline)) void lock_backwards(void)
{
	pthread_mutex_lock(&second_mutex);
	usleep(1000);
	pthread_mutex_lock(&first_mutex);
	pthread_mutex_unlock(&first_mutex);
	pthread_mutex_unlock(&second_mutex);
}

static __attribute__((noinline)) void lock_forwards(void)
{
	pthread_mutex_lock(&first_mutex);
	usleep(1000);
	pthread_mutex_lock(&second_mutex);
	pthread_mutex_unlock(&second_mutex);
	pthread_mutex_unlock(&first_mutex);
}

static void *backwards(void *unused)
{
	lock_backwards();
	return unused;
}

/* Tells the test that the program has begun; all threads wait after this. */
static void say_so(void)
{
	fputs("waits\n", stderr);
}

/* Two threads acquire two mutexes in different orders. */
static int abba(void)
{
	pthread_t thread;

	say_so();
	pthread_create(&thread, NULL, backwards, NULL);
	lock_forwards();
	return pthread_join(thread, NULL);
}

static __attribute__((noinline)) int wait_for_event(void)
{
	pthread_mutex_lock(&first_mutex);
	pthread_cond_wait(&event, &first_mutex);
	return pthread_mutex_unlock(&first_mutex);
}

static void *signal_event(void *unused)
{
	pthread_cond_signal(&event);
	return unused;
}

/* The condition is signalled before the thread waits, which does not check for that. */
static int missed(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, signal_event, NULL);
	usleep(1000);
	return wait_for_event();
}

static void *join(void *other)
{
	pthread_join(*(pthread_t *)other, NULL);
	return NULL;
}

/* Two threads wait for the end of each other. */
static int joins(void)
{
	pthread_t self = pthread_self(), thread;

	pthread_create(&thread, NULL, join, &self);
	return pthread_join(thread, NULL);
}

static pthread_mutex_t inheriting_mutex;

static void *lock_inheriting(void *unused)
{
	pthread_mutex_lock(&inheriting_mutex);
	return unused;
}

/* A thread that holds a priority-inheriting mutex waits for a signal that never comes. */
static int inherits(void)
{
	pthread_mutexattr_t attr;
	pthread_t thread;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&inheriting_mutex, &attr);
	pthread_mutex_lock(&inheriting_mutex);
	pthread_create(&thread, NULL, lock_inheriting, NULL);
	return wait_for_event();
}

/* SIGALRM ends the wait, in virtual time. */
static int with_alarm(void)
{
	alarm(3600);
	return abba();
}

static void leave(int signal)
{
	(void)signal;
	_exit(HANDLER_STATUS);
}

/* Another process may send the signal that the program handles. */
static int with_handler(void)
{
	signal(SIGTERM, leave);
	return abba();
}

static void *wait_for_signal(void *unused)
{
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigwait(&set, &signal);
	_exit(HANDLER_STATUS);
	return unused;
}

/* Another process may send the signal that a thread waits for. */
static int with_sigwait(void)
{
	pthread_t thread;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pthread_create(&thread, NULL, wait_for_signal, NULL);
	return abba();
}

/* Another process could unlock a mutex in memory that it shares. */
static int with_shared(void)
{
	pthread_mutex_t *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(shared, &attr);
	pthread_mutex_lock(shared);
	say_so();
	return pthread_mutex_lock(shared);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} cases[] = {
		{"abba", abba},		      {"missed", missed},
		{"joins", joins},	      {"with-alarm", with_alarm},
		{"with-handler", with_handler}, {"with-sigwait", with_sigwait},
		{"with-shared", with_shared},	{"inherits", inherits},
	};

	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(cases); i++)
		if (!strcmp(argv[1], cases[i].name))
			return cases[i].run();
	return 1;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * end.c - threads that still wait when the process ends, or when its data file is read: end SCENARIO.
 *
 * Four threads wait for a mutex that the main thread holds, or for a condition variable. After 0.3 s the
 * program prints for how long they have waited, and ends as the scenario says: by exit(), a signal, or not.
 */
#include <signal.h>

#include "truth.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static struct truth truth = { .name = "m", .after = { &truth }, .waits = true };
static atomic_int waiting, through;
static _Atomic int64_t called; /* sum over the threads that wait */

static void about_to_wait(struct section *s)
{
	section_call(&truth, s);
	called += s->called;
	waiting++;
}

static void *wait_thread(void *arg)
{
	struct section s;

	about_to_wait(&s);
	pthread_mutex_lock(&m);
	section_begun(&truth, &s);
	UNLOCKED(&truth, &s, pthread_mutex_unlock(&m));
	through++;
	return NULL;
}

/* The name of the waiting call's row is @name. The threads' waits up to now, which go on. */
static void print_open(const char *name, int threads)
{
	int64_t sum = threads * now() - called;

	printf("truth wait %s %.9f %.9f %d\n", name, seconds(sum), seconds(sum), threads);
	truth_at();
}

static __attribute__((noinline)) void holder(void)
{
	pthread_t thread;

	pthread_mutex_lock(&m);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, wait_thread, NULL);
	wait_for(&waiting, 4);
	nap(300 * MS);
	printf("truth blocker m holder\n");
	print_open("m", 4);
}

static void ends_by_exit(void)
{
	holder();
	exit(0);
}

static void ends_by_term(void)
{
	holder();
	kill(getpid(), SIGTERM);
	pause();
}

static void ends_by_kill(void)
{
	holder();
	kill(getpid(), SIGKILL);
	pause();
}

/* Until its standard input ends; then the threads get the mutex. */
static void looked_at(void)
{
	char byte;

	holder();
	while (read(0, &byte, 1) > 0)
		;
	moment(&truth.ended, now());
	pthread_mutex_unlock(&m);
	wait_for(&through, 4);
	truth.acquired++; /* the main thread's */
	truth.hold_high = 0;
	truth_print(&truth);
	printf("truth contended m 4\n");
}

static void *deadlock_thread(void *arg)
{
	pthread_mutex_t *own = arg ? &first : &second;
	struct section s;

	pthread_mutex_lock(own);
	about_to_wait(&s);
	wait_for(&waiting, 2);
	pthread_mutex_lock(arg ? &second : &first);
	return NULL;
}

static void deadlock(void)
{
	pthread_t thread;

	for (long i = 0; i < 2; i++)
		pthread_create(&thread, NULL, deadlock_thread, (void *)i);
	wait_for(&waiting, 2);
	nap(300 * MS);
	print_open("first,second", 2);
	kill(getpid(), SIGKILL);
	pause();
}

static void *pool_thread(void *arg)
{
	struct section s;

	pthread_mutex_lock(&m);
	about_to_wait(&s);
	for (;;)
		pthread_cond_wait(&c, &m);
	return NULL;
}

static void pool(void)
{
	pthread_t thread;

	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, pool_thread, NULL);
	wait_for(&waiting, 4);
	nap(300 * MS);
	print_open("c/cond", 4);
	exit(0);
}

/* Nothing waits; the time of the run is known all the same. */
static void idle(void)
{
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	nap(300 * MS);
	truth_at();
	kill(getpid(), SIGKILL);
	pause();
}

static const struct scenario scenarios[] = {
	{ "exit", ends_by_exit },
	{ "term", ends_by_term },
	{ "kill", ends_by_kill },
	{ "live", looked_at },
	{ "deadlock", deadlock },
	{ "pool", pool },
	{ "idle", idle },
	{ NULL, NULL }
};

int main(int argc, char **argv)
{
	return scenario_main(argc, argv, scenarios);
}

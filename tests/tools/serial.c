// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * serial.c - a program whose time with shorter sections is known, for the test of elide what-if: serial KIND
 * N.
 *
 * Each of four threads does ROUNDS rounds: a section of N instructions under one lock, queue; a section of
 * 2,500 under a lock of its own; 10,000 instructions without a lock. The sections under queue are serialised,
 * so that the program takes 4 * ROUNDS of them.
 *
 *	spin   queue is a spinlock
 *	sites  it is locked at two places in turn
 *	sleep  a section sleeps for N ns, which are as many cycles on the machine flat
 *	mutex  it is a mutex, gate, for which threads sleep
 *	kinds  one thread goes through a section of each kind of lock and way to leave it: it ends with 1 if work
 *	       outside of sections is faster than at the start
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS 4
#define ROUNDS  100
#define OWN     2500
#define THINK   10000

static pthread_spinlock_t queue;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own[THREADS] = {
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
};
static const char *kind;
static long length;

static int is(const char *word)
{
	return !strcmp(kind, word);
}

/* Two instructions a turn. */
static void work(long instructions)
{
	instructions /= 2;
	__asm__ volatile("1: decq %0\n\tjnz 1b" : "+r"(instructions) : : "cc");
}

static void section(void)
{
	struct timespec t = {.tv_nsec = length};

	if (is("sleep"))
		nanosleep(&t, NULL);
	else
		work(length);
}

__attribute__((noinline)) static void put(void)
{
	pthread_spin_lock(&queue);
	section();
	pthread_spin_unlock(&queue);
}

/* Not as put(), which a compiler would take for both. */
__attribute__((noinline)) static void get(void)
{
	pthread_spin_lock(&queue);
	section();
	__asm__ volatile("nop");
	pthread_spin_unlock(&queue);
}

__attribute__((noinline)) static void pass(void)
{
	pthread_mutex_lock(&gate);
	section();
	pthread_mutex_unlock(&gate);
}

__attribute__((noinline)) static void count(long i)
{
	pthread_mutex_lock(&own[i]);
	work(OWN);
	pthread_mutex_unlock(&own[i]);
}

static void *run(void *arg)
{
	long i = (long)arg;

	for (int n = 0; n < ROUNDS; n++) {
		if (is("mutex"))
			pass();
		else if (is("sites") && n % 2)
			get();
		else
			put();
		count(i);
		work(THINK);
	}
	return NULL;
}

/* Nanoseconds that work outside of sections takes. */
static long think_ns(void)
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	work(THINK);
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec;
}

/* Is it as slow as at the start? Its clock calls and preemption may make it slower. */
static void check(const char *where)
{
	static long first;
	long ns = think_ns();

	if (!first)
		first = ns;
	if (ns >= first * 9 / 10)
		return;
	fprintf(stderr, "serial: %ld ns instead of %ld %s\n", ns, first, where);
	exit(1);
}

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void go_through_kinds(void)
{
	struct timespec until;

	check("at the start");
	put();
	check("after a spinlock");
	pthread_rwlock_rdlock(&table);
	pthread_rwlock_rdlock(&table);
	section();
	pthread_rwlock_unlock(&table);
	pthread_rwlock_unlock(&table);
	check("after readers");
	pthread_rwlock_wrlock(&table);
	section();
	pthread_rwlock_unlock(&table);
	check("after a writer");
	pthread_mutex_lock(&again);
	pthread_mutex_lock(&again);
	pthread_mutex_unlock(&again);
	section();
	pthread_mutex_unlock(&again);
	check("after a recursive mutex");
	/* Handed over: the outer one is released first. */
	pthread_mutex_lock(&own[0]);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&own[0]);
	section();
	pthread_mutex_unlock(&gate);
	check("after two mutexes");
	pthread_mutex_lock(&gate);
	clock_gettime(CLOCK_REALTIME, &until);
	pthread_cond_timedwait(&never, &gate, &until);
	section();
	pthread_mutex_unlock(&gate);
	check("after a condition variable");
	pthread_mutex_trylock(&gate);
	pthread_mutex_unlock(&gate);
	check("after a trylock");
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc != 3)
		return 2;
	kind = argv[1];
	length = atol(argv[2]);
	pthread_spin_init(&queue, 0);
	if (is("kinds")) {
		go_through_kinds();
		return 0;
	}
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	for (long i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	puts("done");
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * entry.c - nanoseconds of an empty section of each kind of lock, one thread.
 *
 * Many short batches of which the fastest counts, as whatever else runs on the
 * machine only adds to one. A second thread sleeps, because glibc saves atomic
 * instructions in a process that has only one. Prints "kind ns" lines. An ordinary
 * program: must never include anything of the library.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* A batch takes 20 us, which is seldom interrupted. */
#define PAIRS   500
#define BATCHES 5000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;

/* KIND(name, acquire, release) */
#define KINDS                                                                              \
	KIND(mutex, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))              \
	KIND(rdlock, pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock))       \
	KIND(wrlock, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock))       \
	KIND(spin, pthread_spin_lock(&spin), pthread_spin_unlock(&spin))

#define KIND(name, acquire, release)                                                       \
	static void name##_batch(void)                                                     \
	{                                                                                  \
		for (int i = 0; i < PAIRS; i++) {                                          \
			acquire;                                                           \
			release;                                                           \
		}                                                                          \
	}
KINDS
#undef KIND

static const struct {
	const char *name;
	void (*batch)(void);
} kinds[] = {
#define KIND(name, acquire, release) { #name, name##_batch },
	KINDS
#undef KIND
};

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void *idle(void *arg)
{
	for (;;)
		pause();
	return NULL;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, idle, NULL)) {
		fputs("entry: cannot start a thread\n", stderr);
		return 1;
	}
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
		double least = 1e18;

		for (int i = 0; i < BATCHES; i++) {
			double start = now_ns(), ns;

			kinds[kind].batch();
			ns = (now_ns() - start) / PAIRS;
			if (ns < least)
				least = ns;
		}
		printf("%s %.3f\n", kinds[kind].name, least);
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * attached.c - a program for the tests of elide attach: threads that lock, compute, sleep, allocate and load
 * objects, and that notice whatever goes wrong with them.
 *
 * attached [THREADS]: with that number of threads that wait for ever; -1: none, and a seccomp filter. Prints "ready"; at each line of standard input the numbers of acquisitions of the mutex
 * "counted" and of errors; at a line "release" it releases first what its main thread has held from the start.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* Threads that lock, and what they need not share. */
#define LOCKERS 4

static pthread_mutex_t counted = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t waited = PTHREAD_MUTEX_INITIALIZER, recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t relocked = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER, held_shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t held_spin;
static sem_t empty;
static unsigned long acquired, pairs[2];
static atomic_ulong errors;
static const char *volatile first_error = "-";

static void check(int right, const char *what)
{
	if (right)
		return;
	if (!errors++)
		first_error = what;
}

static double since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/* Values in all kinds of registers, which must come out as they went in. */
static void compute(void)
{
	volatile double one = 1;
	long double sum = 0;
	double product = one;

	for (int i = 1; i <= 64; i++) {
		sum += (long double)one / i;
		product *= 1 + one / 1024;
	}
	check(sum > 4.7438909L && sum < 4.7438910L, "x87");
	check(product > 1.06446 && product < 1.06447, "sse");
}

static void *lock(void *unused)
{
	for (;;) {
		errno = 77;
		check(!pthread_mutex_lock(&counted), "lock");
		acquired++;
		pairs[0]++;
		compute();
		check(pairs[0] == ++pairs[1], "exclusion");
		check(!pthread_mutex_unlock(&counted), "unlock");
		check(errno == 77, "errno");
		check(!pthread_rwlock_rdlock(&shared) && !pthread_rwlock_unlock(&shared), "rwlock");
		check(!pthread_mutex_lock(&recursive) && !pthread_mutex_lock(&recursive) &&
			      !pthread_mutex_unlock(&recursive) && !pthread_mutex_unlock(&recursive), "recursive");
		compute();
	}
	return unused;
}

/* Each wait that has a limit lasts as long as it says, and fails in no other way. */
static void *wait_for_nothing(void *unused)
{
	for (;;) {
		struct timespec start, until;

		clock_gettime(CLOCK_MONOTONIC, &start);
		check(!nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL), "nanosleep");
		check(since(&start) >= 0.02, "length of nanosleep");
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 10000000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		check(sem_timedwait(&empty, &until) < 0 && errno == ETIMEDOUT, "sem_timedwait");
		pthread_mutex_lock(&waited);
		check(pthread_cond_timedwait(&never, &waited, &until) == ETIMEDOUT, "cond_timedwait");
		pthread_mutex_unlock(&waited);
	}
	return unused;
}

static void *allocate(void *unused)
{
	for (unsigned int seed = 1;; seed = seed * 1103515245 + 12345) {
		size_t size = seed >> 12 & 0xffff;
		char *p = malloc(size + 1);

		memset(p, 1, size);
		p[size] = 2;
		check(!size || p[size / 2] == 1, "malloc");
		free(p);
	}
	return unused;
}

static void *load(void *unused)
{
	for (;;) {
		void *handle = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
		double (*function)(double) = handle ? (double (*)(double))dlsym(handle, "fabs") : NULL;

		check(function && function(-2) == 2, "dlopen");
		check(handle && !dlclose(handle), "dlclose");
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	return unused;
}

static void *idle(void *unused)
{
	pthread_mutex_lock(&held);
	return unused;
}

static void begin(void *(*function)(void *))
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 << 10);
	if (pthread_create(&thread, &small, function, NULL))
		abort();
}

/* A filter that allows everything. */
static void filter(void)
{
	struct sock_filter all = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
	struct sock_fprog program = {1, &all};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		abort();
}

int main(int argc, char **argv)
{
	int nr_idle = argc > 1 ? atoi(argv[1]) : 1;
	char line[16];

	if (nr_idle < 0)
		filter();

	pthread_spin_init(&held_spin, PTHREAD_PROCESS_PRIVATE);
	sem_init(&empty, 0, 0);
	pthread_mutex_lock(&held);
	pthread_mutex_lock(&relocked);
	pthread_rwlock_rdlock(&held_shared);
	pthread_spin_lock(&held_spin);
	for (int i = 0; i < LOCKERS; i++)
		begin(lock);
	begin(wait_for_nothing);
	begin(allocate);
	begin(load);
	for (int i = 0; i < nr_idle; i++)
		begin(idle);
	puts("ready");
	for (;;) {
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 0;
		if (!strcmp(line, "release\n")) {
			check(!pthread_mutex_unlock(&held), "release of a mutex");
			check(!pthread_rwlock_unlock(&held_shared), "release of a rwlock");
			check(!pthread_spin_unlock(&held_spin), "release of a spinlock");
		}
		/* After an attachment the first call of this thread: it is no acquisition, and no misuse. */
		check(!pthread_mutex_lock(&relocked) && !pthread_mutex_unlock(&relocked), "relock");
		pthread_mutex_lock(&counted);
		printf("%lu %lu %s\n", acquired, (unsigned long)errors, first_error);
		pthread_mutex_unlock(&counted);
	}
}

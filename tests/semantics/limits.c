/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limits.c - limits NAME: what a process has for itself while the library is preloaded:
 * threads that are cancelled or jump out at any time, priorities, keys, descriptors, signals,
 * stacks and memory. Prints what it saw, which is compared with what it prints without the
 * library. Must print nothing that depends on time or addresses.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/compiler.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long value;
static volatile bool running, over;

static void take(pthread_mutex_t *m, unsigned int n)
{
	while (n--) {
		pthread_mutex_lock(m);
		value++;
		pthread_mutex_unlock(m);
	}
}

/* A lock's whole life, in memory that is another each time. */
static void whole_life(unsigned int nr)
{
	static __thread pthread_mutex_t locks[64];
	pthread_mutex_t *m = &locks[nr % ARRAY_SIZE(locks)];

	pthread_mutex_init(m, NULL);
	pthread_mutex_lock(m);
	pthread_mutex_unlock(m);
	pthread_mutex_destroy(m);
}

/* The calls of a new thread, and of one that has just been met by a new lock, are long. */
static void *lives(void *arg)
{
	if (arg)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	running = true;
	for (unsigned int i = 0;; i++) {
		whole_life(i);
		if (!arg && over)
			return NULL;
	}
}

static void *nothing(void *arg)
{
	return arg;
}

static long after_all(void)
{
	unsigned long before = value;
	pthread_t thread;
	void *answer;

	pthread_create(&thread, NULL, nothing, NULL);
	pthread_join(thread, &answer);
	take(&lock, 5);
	return value - before;
}

/*
 * Asynchronous cancellation at any point of a lock call. POSIX does not allow it to a
 * program; with glibc alone the others go on.
 */
static int async_cancel(void)
{
	unsigned int cancelled = 0;

	for (unsigned int i = 0; i < 20; i++) {
		pthread_t thread;
		void *answer;

		running = false;
		pthread_create(&thread, NULL, lives, &cancelled);
		while (!running)
			sched_yield();
		usleep(i * 100);
		pthread_cancel(thread);
		pthread_join(thread, &answer);
		cancelled += answer == PTHREAD_CANCELED;
		whole_life(i);
	}
	printf("%u cancelled, then %ld\n", cancelled, after_all());
	return 0;
}

static sigjmp_buf where;
static volatile sig_atomic_t jumps;

static void jump(int sig)
{
	siglongjmp(where, 1);
}

/* A handler leaves by siglongjmp() whatever it has interrupted. */
static int handler_jumps(void)
{
	struct itimerval soon = {{0, 0}, {0, 300}};

	signal(SIGALRM, jump);
	for (volatile int i = 0; i < 200; i++) {
		if (!sigsetjmp(where, 1)) {
			setitimer(ITIMER_REAL, &soon, NULL);
			for (unsigned int n = 0;; n++)
				whole_life(n);
		}
		jumps++;
	}
	/* A misuse is written down in a global-lock path: this thread still has one. */
	pthread_mutex_unlock(&lock);
	lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	printf("%d jumps, then %ld\n", (int)jumps, after_all());
	return 0;
}

static bool set_fifo(pthread_attr_t *attr)
{
	struct sched_param param = {.sched_priority = 10};

	pthread_attr_init(attr);
	pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(attr, SCHED_FIFO);
	return !pthread_attr_setschedparam(attr, &param);
}

static void pin(pthread_attr_t *attr)
{
	cpu_set_t one;
	int cpu = sched_getcpu();

	CPU_ZERO(&one);
	CPU_SET(cpu < 0 ? 0 : cpu, &one);
	pthread_attr_setaffinity_np(attr, sizeof(one), &one);
}

/*
 * Of a thread's processor time, in milliseconds. A real-time thread that waits for a normal
 * one without sleeping gets no further until the kernel throttles it: after 950 ms.
 */
#define TOO_LONG 500

static void *high(void *arg)
{
	const struct timespec pause = {.tv_nsec = 100000};
	unsigned long rounds = (unsigned long)arg;
	struct timespec used;

	for (unsigned long i = 0; i < rounds; i++) {
		whole_life(i);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	over = true;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (void *)(used.tv_sec * 1000 + used.tv_nsec / 1000000);
}

static void *one_global(void *arg)
{
	take(&lock, 1);
	return NULL;
}

/* Threads that begin and end, and take one lock. */
static void *births(void *arg)
{
	running = true;
	while (!over) {
		pthread_t thread;

		pthread_create(&thread, arg, one_global, NULL);
		pthread_join(thread, NULL);
	}
	return NULL;
}

/*
 * A real-time thread beside a normal one on its processor: its lock calls must not wait for
 * the normal one to get the processor.
 */
static int priorities(void *(*low)(void *), unsigned long rounds)
{
	pthread_attr_t normal, fifo;
	pthread_t a, b;
	void *used;
	int err;

	pthread_attr_init(&normal);
	pin(&normal);
	if (!set_fifo(&fifo))
		return 1;
	pin(&fifo);
	pthread_create(&a, &normal, low, low == births ? &normal : NULL);
	while (!running)
		sched_yield();
	err = pthread_create(&b, &fifo, high, (void *)rounds);
	if (err == EPERM) {
		over = true;
		pthread_join(a, NULL);
		puts("SCHED_FIFO is refused here");
		return 0;
	}
	pthread_join(b, &used);
	pthread_join(a, NULL);
	if ((long)used < TOO_LONG)
		puts("in time");
	else
		printf("%ld ms of processor time\n", (long)used);
	return 0;
}

static int priority_of_locks(void)
{
	return priorities(lives, 300);
}

static int priority_of_births(void)
{
	return priorities(births, 50);
}

static void *end_with_keys(void *arg)
{
	const pthread_key_t *keys = arg;

	take(&lock, 3);
	for (unsigned int i = 0; i < PTHREAD_KEYS_MAX; i++)
		pthread_setspecific(keys[i], (void *)(uintptr_t)(i + 1));
	take(&lock, 3);
	return NULL;
}

/* All keys are the program's; a key that nobody has created is none. */
static int keys(void)
{
	static pthread_key_t keys[PTHREAD_KEYS_MAX + 1];
	unsigned int nr = 0, right = 0;
	pthread_t thread;
	void *answer;

	take(&lock, 3);
	printf("without one: %d %p", pthread_setspecific(0, &keys), pthread_getspecific(0));
	printf(" %d\n", pthread_key_delete(0));
	while (nr <= PTHREAD_KEYS_MAX && !pthread_key_create(&keys[nr], NULL))
		nr++;
	for (unsigned int i = 0; i < nr; i++)
		right += keys[i] == i && !pthread_setspecific(i, (void *)(uintptr_t)(i + 1));
	take(&lock, 3);
	for (unsigned int i = 0; i < nr; i++)
		right += pthread_getspecific(i) == (void *)(uintptr_t)(i + 1);
	pthread_create(&thread, NULL, end_with_keys, keys);
	pthread_join(thread, &answer);
	printf("%u keys, %u, then %ld\n", nr, right, after_all());
	return 0;
}

/* Descriptors below 100: an emulator has its own above. */
static unsigned int nr_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *e;
	unsigned int nr = 0;

	while ((e = readdir(dir)))
		nr += *e->d_name != '.' && atoi(e->d_name) < 100;
	closedir(dir);
	return nr;
}

/* No descriptor is kept, no signal is taken, blocked or left pending. */
static int descriptors_and_signals(void)
{
	struct sigaction action;
	unsigned int handlers = 0;
	sigset_t blocked, pending;

	take(&lock, 100);
	sigprocmask(SIG_SETMASK, NULL, &blocked);
	sigpending(&pending);
	for (int sig = 1; sig < NSIG; sig++) {
		handlers += !sigaction(sig, NULL, &action) && action.sa_handler != SIG_DFL &&
			    action.sa_handler != SIG_IGN;
		if (sigismember(&blocked, sig) == 1 || sigismember(&pending, sig) == 1)
			printf("signal %d is blocked or pending\n", sig);
	}
	printf("%u descriptors, %u handlers\n", nr_descriptors(), handlers);
	return 0;
}

static void *every_kind(void *arg)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
	pthread_spinlock_t spin;

	pthread_spin_init(&spin, 0);
	for (unsigned int i = 0; i < 100; i++) {
		pthread_mutex_lock(&own);
		pthread_mutex_unlock(&own);
		take(&lock, 1);
		pthread_rwlock_rdlock(&rw);
		pthread_rwlock_unlock(&rw);
		pthread_rwlock_wrlock(&rw);
		pthread_rwlock_unlock(&rw);
		pthread_spin_lock(&spin);
		pthread_spin_unlock(&spin);
	}
	pthread_mutex_unlock(&own); /* a misuse, which is written down */
	return NULL;
}

/*
 * Calls of every kind, which pass through where ELIDE_MAX_THREADS leaves no block for the thread. There
 * are enough of them for the thread to ask for a block several times.
 */
static void *all_kinds(void *unused)
{
	static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
	static pthread_spinlock_t spin = 1; /* free */
	const struct timespec later = {.tv_sec = 1ll << 32};
	static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	static sem_t units;
	static mtx_t plain;

	for (unsigned int i = 0; i < 300; i++) {
		take(&lock, 1);
		if (!pthread_mutex_trylock(&lock))
			pthread_mutex_unlock(&lock);
		pthread_mutex_timedlock(&lock, &later);
		value++;
		pthread_cond_signal(&cond);
		pthread_cond_timedwait(&cond, &lock, &(struct timespec){0});
		value++;
		pthread_mutex_unlock(&lock);
		pthread_rwlock_rdlock(&rw);
		pthread_rwlock_unlock(&rw);
		pthread_rwlock_clockwrlock(&rw, CLOCK_MONOTONIC, &later);
		value++;
		pthread_rwlock_unlock(&rw);
		pthread_spin_lock(&spin);
		value++;
		pthread_spin_unlock(&spin);
		if (!pthread_spin_trylock(&spin))
			pthread_spin_unlock(&spin);
		sem_post(&units);
		sem_wait(&units);
		mtx_lock(&plain);
		mtx_unlock(&plain);
	}
	return NULL;
}

/* All threads after the first are beyond the limit, one after the other and four at once. */
static int beyond_threads(void)
{
	pthread_t threads[4];

	take(&lock, 3);
	for (int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < ARRAY_SIZE(threads); i++) {
			pthread_create(&threads[i], NULL, all_kinds, NULL);
			if (!round)
				pthread_join(threads[i], NULL);
		}
		for (unsigned int i = 0; round && i < ARRAY_SIZE(threads); i++)
			pthread_join(threads[i], NULL);
		/* Of threads at once the mutex, the rwlock and the spinlock may each exclude others. */
		printf("%s\n", round || value == 3 + 4 * 300 * 5 ? "all" : "lost");
	}
	take(&lock, 3);
	return 0;
}

/* The smallest stack that a thread may have is enough. */
static int small_stacks(void)
{
	pthread_t threads[4];
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	for (unsigned int i = 0; i < ARRAY_SIZE(threads); i++)
		if (pthread_create(&threads[i], &attr, every_kind, NULL))
			return 1;
	for (unsigned int i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	printf("%lu\n", value);
	return 0;
}

/* Threads one after the other: of each is known when it has ended. */
static int threads_in_turn(unsigned int nr)
{
	unsigned int begun = 0;

	for (unsigned int i = 0; i < nr; i++) {
		pthread_t thread;

		begun += !pthread_create(&thread, NULL, one_global, NULL);
		pthread_join(thread, NULL);
	}
	printf("%u threads, %lu\n", begun, value);
	return 0;
}

static int few_threads_in_turn(void)
{
	return threads_in_turn(300);
}

static int many_threads_in_turn(void)
{
	return threads_in_turn(32000);
}

/* Neither more processes nor more memory are to be had. */
static int nothing_left(void)
{
	struct rlimit none = {0, 0};
	pthread_mutex_t own;
	void *p;

	take(&lock, 3);
	setrlimit(RLIMIT_NPROC, &none);
	setrlimit(RLIMIT_AS, &none);
	p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	take(&lock, 3);
	pthread_mutex_init(&own, NULL);
	take(&own, 3);
	pthread_mutex_destroy(&own);
	printf("%s, %lu\n", p == MAP_FAILED ? "no memory" : "memory", value);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} cases[] = {
	{"async-cancel", async_cancel},
	{"handler-jumps", handler_jumps},
	{"priority-of-locks", priority_of_locks},
	{"priority-of-births", priority_of_births},
	{"keys", keys},
	{"descriptors-and-signals", descriptors_and_signals},
	{"small-stacks", small_stacks},
	{"threads-in-turn", few_threads_in_turn},
	{"many-threads-in-turn", many_threads_in_turn},
	{"beyond-threads", beyond_threads},
	{"nothing-left", nothing_left},
};

int main(int argc, char **argv)
{
	for (unsigned int i = 0; argc > 1 && i < ARRAY_SIZE(cases); i++)
		if (!strcmp(argv[1], cases[i].name))
			return cases[i].run();
	fprintf(stderr, "usage: limits NAME\n");
	return 2;
}

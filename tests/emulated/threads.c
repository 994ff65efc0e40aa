// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * threads.c - the life of threads: many at the same time, joined, detached, cancelled, signalled;
 * futexes of each kind; the end of the process while threads wait.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu.h"

#define MANY 300

static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static volatile long nr_done;
static volatile int nr_signals, word;
static int pipe_fds[2];

static void *meet(void *arg)
{
	pthread_barrier_wait(&barrier);
	/* All threads live here: each reads a line that all write in turn. */
	for (;;) {
		unsigned int status = rtm_begin();

		if (status == RTM_STARTED) {
			nr_done++;
			rtm_end();
			return NULL;
		}
		sched_yield();
	}
}

static void test_many(void)
{
	static pthread_t threads[MANY];
	pthread_attr_t attr;
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	pthread_barrier_init(&barrier, NULL, MANY);
	for (i = 0; i < MANY; i++)
		check("create many", pthread_create(&threads[i], &attr, meet, NULL), 0);
	for (i = 0; i < MANY; i++)
		pthread_join(threads[i], NULL);
	check("many threads", nr_done, MANY);
}

static void *__attribute__((noreturn)) wait_pause(void *arg)
{
	for (;;)
		pause();
}

static void unlock(void *arg)
{
	pthread_mutex_unlock(arg);
}

static void *wait_cond(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, &mutex);
	for (;;)
		pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(1);
	return NULL;
}

static void *wait_read(void *arg)
{
	char byte;

	return (void *)read(pipe_fds[0], &byte, 1);
}

static void test_cancel(void)
{
	static void *(*const bodies[])(void *) = {wait_pause, wait_cond, wait_read};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bodies); i++) {
		pthread_t thread;
		void *result;

		pthread_create(&thread, NULL, bodies[i], NULL);
		usleep(1000);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		check("cancelled", result == PTHREAD_CANCELED, 1);
	}
	check("the mutex was given back", pthread_mutex_trylock(&mutex), 0);
	pthread_mutex_unlock(&mutex);
}

static void on_signal(int signal)
{
	nr_signals++;
}

static void *sleep_long(void *arg)
{
	struct timespec hour = {3600, 0}, left = {0, 0};
	int result = nanosleep(&hour, &left);

	check("interrupted sleep", result == -1 && errno == EINTR, 1);
	check("says what is left", left.tv_sec, 3599);
	return NULL;
}

static void *spin_until_signal(void *arg)
{
	while (!nr_signals)
		;
	return NULL;
}

static void test_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&thread, NULL, spin_until_signal, NULL);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, sleep_long, NULL);
	usleep(1000);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	check("signals", nr_signals, 2);
}

static void *futex_wait(void *arg)
{
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	__atomic_fetch_add(&nr_done, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void test_requeue(void)
{
	static volatile int second;
	pthread_t threads[4];
	int i;

	nr_done = 0;
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, futex_wait, NULL);
	usleep(1000);
	check("requeue of a changed word",
	      syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE_PRIVATE, 1, 9L, &second, 1), -1);
	check("requeue wakes 1 and moves 3",
	      syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE_PRIVATE, 1, 9L, &second, 0), 4);
	usleep(1000);
	check("one is awake", nr_done, 1);
	check("the first word has none", syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 9), 0);
	/* Adds 5 to the second word, and wakes its waiters if it was 0. */
	check("wake_op", syscall(SYS_futex, &word, FUTEX_WAKE_OP_PRIVATE, 1, 9L, &second,
				 FUTEX_OP(FUTEX_OP_ADD, 5, FUTEX_OP_CMP_EQ, 0)), 3);
	check("wake_op's sum", second, 5);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	check("all are awake", nr_done, 4);
}

static void *die_holding(void *arg)
{
	pthread_mutex_lock(arg);
	usleep(2000);
	return NULL;
}

static void *lock_slowly(void *arg)
{
	pthread_mutex_lock(arg);
	usleep(2000);
	pthread_mutex_unlock(arg);
	return NULL;
}

static void test_robust_and_inheriting(void)
{
	pthread_mutex_t robust, inheriting;
	pthread_mutexattr_t attr;
	pthread_t thread;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attr);
	pthread_create(&thread, NULL, die_holding, &robust);
	usleep(1000);
	check("owner died", pthread_mutex_lock(&robust), EOWNERDEAD);
	check("consistent", pthread_mutex_consistent(&robust), 0);
	pthread_mutex_unlock(&robust);
	pthread_join(thread, NULL);

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&inheriting, &attr);
	pthread_create(&thread, NULL, lock_slowly, &inheriting);
	usleep(1000);
	check("priority inheritance", pthread_mutex_lock(&inheriting), 0);
	pthread_mutex_unlock(&inheriting);
	pthread_join(thread, NULL);
}

static void *post(void *arg)
{
	sem_post(&sem);
	return NULL;
}

static void test_detached(void)
{
	pthread_t thread;
	int i;

	sem_init(&sem, 0, 0);
	for (i = 0; i < 20; i++) {
		pthread_create(&thread, NULL, post, NULL);
		pthread_detach(thread);
	}
	for (i = 0; i < 20; i++)
		check("sem_wait", sem_wait(&sem), 0);
}

static void *__attribute__((noreturn)) spin(void *arg)
{
	for (;;)
		__asm__ volatile("" ::: "memory");
}

/* The process must end while one thread spins, one reads and one waits for a lock. */
static void leave_others_behind(void)
{
	pthread_t thread;

	pthread_mutex_lock(&mutex);
	pthread_create(&thread, NULL, spin, NULL);
	pthread_create(&thread, NULL, wait_read, NULL);
	pthread_create(&thread, NULL, lock_slowly, &mutex);
	usleep(1000);
}

int main(void)
{
	emu_require();
	if (pipe(pipe_fds))
		return 1;
	test_many();
	test_cancel();
	test_signals();
	test_requeue();
	test_robust_and_inheriting();
	test_detached();
	leave_others_behind();
	return emu_status();
}

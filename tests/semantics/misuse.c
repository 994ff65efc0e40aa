/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * misuse.c - a program that commits every misuse. It prints what the calls
 * answer, which must be what plain glibc answers. Every place is marked in a
 * comment at the end of its line, "plant TYPE KIND", in a function of its own; the
 * report must name exactly these. Each is done ROUNDS times, on fresh locks.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#define ROUNDS 4
#define PLACE  static __attribute__((noinline)) int

/* Keeps the compiler from folding equal functions into one. */
#define DISTINCT() __asm__ volatile("# %c0" ::"i"(__LINE__))

static pthread_mutex_t mutex, section = PTHREAD_MUTEX_INITIALIZER, *robust;
static pthread_rwlock_t rwlock;
static pthread_spinlock_t spin;
static mtx_t mtx;

static void fresh(int type)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, type);
	/* Without destroy, as libstdc++ does: that of a held one is a place of its own. */
	pthread_mutex_init(&mutex, &a);
	pthread_rwlock_init(&rwlock, NULL);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	mtx_init(&mtx, mtx_plain);
}

static void *run_place(void *place)
{
	return (void *)(long)((int (*)(void))place)();
}

static int elsewhere(int (*place)(void))
{
	pthread_t thread;
	void *answer;

	pthread_create(&thread, NULL, run_place, (void *)place);
	pthread_join(thread, &answer);
	return (long)answer;
}

PLACE unlock_free_normal(void)
{
	DISTINCT();
	return pthread_mutex_unlock(&mutex); /* plant unlock-free mutex */
}

PLACE unlock_free_checked(void)
{
	DISTINCT();
	return pthread_mutex_unlock(&mutex); /* plant unlock-free mutex */
}

PLACE unlock_free_recursive(void)
{
	DISTINCT();
	return pthread_mutex_unlock(&mutex); /* plant unlock-free mutex */
}

PLACE unlock_free_in_section(void)
{
	int err;

	DISTINCT();
	pthread_mutex_lock(&section);
	err = pthread_mutex_unlock(&mutex); /* plant unlock-free mutex */
	pthread_mutex_unlock(&section);
	return err;
}

PLACE unlock_free_rwlock(void)
{
	DISTINCT();
	return pthread_rwlock_unlock(&rwlock); /* plant unlock-free rwlock-write */
}

PLACE unlock_free_spin(void)
{
	DISTINCT();
	return pthread_spin_unlock(&spin); /* plant unlock-free spin */
}

PLACE unlock_free_mtx(void)
{
	DISTINCT();
	return mtx_unlock(&mtx); /* plant unlock-free mutex */
}

/* After its holder has ended, without a lock call. */
PLACE unlock_free_robust(void)
{
	DISTINCT();
	return pthread_mutex_unlock(robust); /* plant unlock-free mutex */
}

PLACE unlock_not_recoverable(void)
{
	DISTINCT();
	return pthread_mutex_unlock(robust); /* plant unlock-free mutex */
}

PLACE unlock_foreign_robust(void)
{
	DISTINCT();
	return pthread_mutex_unlock(robust); /* plant unlock-foreign mutex */
}

PLACE lock_of_dead(void)
{
	DISTINCT();
	return pthread_mutex_lock(robust); /* plant owner-died mutex */
}

PLACE trylock_of_dead(void)
{
	DISTINCT();
	return pthread_mutex_trylock(robust); /* plant owner-died mutex */
}

PLACE timedlock_of_dead(void)
{
	const struct timespec long_ago = {0};

	DISTINCT();
	return pthread_mutex_timedlock(robust, &long_ago); /* plant owner-died mutex */
}

/* Not by trylock: glibc 2.36 then leaves it in the thread's list of robust mutexes, and crashes later. */
PLACE lock_not_recoverable(void)
{
	DISTINCT();
	return pthread_mutex_lock(robust); /* plant not-recoverable mutex */
}

PLACE unlock_foreign_normal(void)
{
	DISTINCT();
	return pthread_mutex_unlock(&mutex); /* plant unlock-foreign mutex */
}

PLACE unlock_foreign_checked(void)
{
	DISTINCT();
	return pthread_mutex_unlock(&mutex); /* plant unlock-foreign mutex */
}

PLACE unlock_foreign_mtx(void)
{
	DISTINCT();
	return mtx_unlock(&mtx); /* plant unlock-foreign mutex */
}

PLACE unlock_foreign_rwlock(void)
{
	DISTINCT();
	return pthread_rwlock_unlock(&rwlock); /* plant unlock-foreign rwlock-write */
}

PLACE destroy_held_mutex(void)
{
	DISTINCT();
	return pthread_mutex_destroy(&mutex); /* plant destroy-held mutex */
}

PLACE destroy_held_spin(void)
{
	DISTINCT();
	return pthread_spin_destroy(&spin); /* plant destroy-held spin */
}

PLACE destroy_held_rwlock(void)
{
	DISTINCT();
	return pthread_rwlock_destroy(&rwlock); /* plant destroy-held rwlock-write */
}

PLACE destroy_held_mtx(void)
{
	DISTINCT();
	mtx_destroy(&mtx); /* plant destroy-held mutex */
	return mtx_trylock(&mtx);
}

PLACE relock_checked(void)
{
	DISTINCT();
	return pthread_mutex_lock(&mutex); /* plant relock mutex */
}

PLACE relock_in_section(void)
{
	int err, answer;

	DISTINCT();
	pthread_mutex_lock(&section);
	err = pthread_mutex_lock(&mutex);
	answer = pthread_mutex_lock(&mutex); /* plant relock mutex */
	pthread_mutex_unlock(&mutex);
	pthread_mutex_unlock(&section);
	return 100 * err + answer;
}

PLACE relock_rwlock(void)
{
	DISTINCT();
	return pthread_rwlock_wrlock(&rwlock); /* plant relock rwlock-write */
}

PLACE relock_normal(void)
{
	DISTINCT();
	return pthread_mutex_lock(&mutex); /* plant relock mutex */
}

PLACE exit_held_mutex(void)
{
	DISTINCT();
	return pthread_mutex_lock(&mutex); /* plant exit-held mutex */
}

PLACE exit_held_rwlock(void)
{
	DISTINCT();
	return pthread_rwlock_wrlock(&rwlock); /* plant exit-held rwlock-write */
}

/* For ever: in a child, which an alarm ends. */
static int deadlocks(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		alarm(1);
		pthread_mutex_lock(&mutex);
		getppid(); /* locked */
		relock_normal();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

static void unlocks(void)
{
	fresh(PTHREAD_MUTEX_NORMAL);
	printf("free: %d", unlock_free_normal());
	fresh(PTHREAD_MUTEX_ERRORCHECK);
	printf(" %d", unlock_free_checked());
	fresh(PTHREAD_MUTEX_RECURSIVE);
	printf(" %d", unlock_free_recursive());
	fresh(PTHREAD_MUTEX_NORMAL);
	printf(" %d", unlock_free_in_section());
	printf(" %d", unlock_free_spin());
	printf(" %d", unlock_free_mtx());
	printf(" %d\n", unlock_free_rwlock());
}

/* A process locks it, and ends. */
static void leave_held(void)
{
	pid_t pid = fork();

	if (!pid) {
		pthread_mutex_lock(robust);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* In memory shared between processes. What is done right is no misuse. */
static void unlocks_of_the_dead(void)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(robust, &a);
	leave_held();
	printf("dead: %d", unlock_free_robust());
	printf(" %d", lock_of_dead());
	printf(" %d", elsewhere(unlock_foreign_robust));
	printf(" %d", pthread_mutex_consistent(robust));
	printf(" %d", pthread_mutex_unlock(robust));
	leave_held();
	printf(" %d", timedlock_of_dead());
	printf(" %d", pthread_mutex_consistent(robust));
	printf(" %d", pthread_mutex_unlock(robust));
	leave_held();
	printf(" %d", trylock_of_dead());
	printf(" %d", pthread_mutex_unlock(robust));
	printf(" %d", lock_not_recoverable());
	printf(" %d\n", unlock_not_recoverable());
}

static void unlocks_of_others(void)
{
	fresh(PTHREAD_MUTEX_NORMAL);
	pthread_mutex_lock(&mutex);
	mtx_lock(&mtx);
	pthread_rwlock_wrlock(&rwlock);
	printf("foreign: %d", elsewhere(unlock_foreign_normal));
	printf(" %d", elsewhere(unlock_foreign_mtx));
	printf(" %d", elsewhere(unlock_foreign_rwlock));
	fresh(PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_lock(&mutex);
	printf(" %d", elsewhere(unlock_foreign_checked));
	printf(" %d\n", pthread_mutex_unlock(&mutex));
}

static void destroys(void)
{
	fresh(PTHREAD_MUTEX_NORMAL);
	pthread_mutex_lock(&mutex);
	printf("held: %d", destroy_held_mutex());
	printf(" %d", pthread_mutex_unlock(&mutex));
	pthread_spin_lock(&spin);
	printf(" %d", destroy_held_spin());
	pthread_rwlock_wrlock(&rwlock);
	printf(" %d", destroy_held_rwlock());
	mtx_lock(&mtx);
	printf(" %d\n", destroy_held_mtx());
}

static void relocks(void)
{
	fresh(PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_lock(&mutex);
	printf("relock: %d", relock_checked());
	printf(" %d", pthread_mutex_unlock(&mutex));
	printf(" %d", relock_in_section());
	pthread_rwlock_wrlock(&rwlock);
	printf(" %d", relock_rwlock());
	printf(" %d\n", pthread_rwlock_unlock(&rwlock));
}

int main(void)
{
	robust = mmap(NULL, sizeof(*robust), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < ROUNDS; i++) {
		unlocks();
		unlocks_of_the_dead();
		unlocks_of_others();
		destroys();
		relocks();
		fresh(PTHREAD_MUTEX_NORMAL);
		printf("exit: %d", elsewhere(exit_held_mutex));
		printf(" %d", pthread_mutex_trylock(&mutex));
		printf(" %d", elsewhere(exit_held_rwlock));
		printf(" %d\n", pthread_rwlock_trywrlock(&rwlock));
		fflush(stdout);
	}
	fresh(PTHREAD_MUTEX_NORMAL);
	printf("deadlock: %d\n", deadlocks());
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * futexes.c - futexes NAME: what a program may expect of futex calls by syscall(). Prints what it saw; rows says what
 * that is compared with. Must print nothing that depends on time or addresses.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/compiler.h"

#define ROUNDS 20

static uint32_t word, other;
static volatile sig_atomic_t signals;
static int waiting;

/* Prints a call, what it returned and what errno is; errno was 77 before. */
#define show(call)                                                     \
	do {                                                           \
		long answer;                                           \
                                                                       \
		errno = 77;                                            \
		answer = (call);                                       \
		printf("%s = %ld, errno %d\n", #call, answer, errno);  \
	} while (0)

static long futex(uint32_t *at, int op, uint32_t value, const struct timespec *until, uint32_t *second, uint32_t third)
{
	return syscall(SYS_futex, at, op, value, until, second, third);
}

/* What each operation answers where it does not wait, or not for ever. */
static int calls(void)
{
	static const struct timespec soon = {0, 1000000}, past = {1, 0}, bad = {0, 1000000000};
	uint32_t *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	show(futex(&word, FUTEX_WAIT, 1, NULL, NULL, 0));
	show(futex(&word, FUTEX_WAIT_PRIVATE, 0, &soon, NULL, 0));
	show(futex(&word, FUTEX_WAIT_PRIVATE, 0, &bad, NULL, 0));
	show(futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, &past, NULL, FUTEX_BITSET_MATCH_ANY));
	show(futex(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &past, NULL, 1));
	show(futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, 0));
	show(futex((uint32_t *)((char *)&word + 1), FUTEX_WAIT, 0, NULL, NULL, 0));
	show(futex(nowhere, FUTEX_WAIT, 0, NULL, NULL, 0));
	show(futex(NULL, FUTEX_WAIT, 0, NULL, NULL, 0));
	show(futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0));
	show(futex(&word, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, 0));
	show(futex(&word, FUTEX_WAKE_OP_PRIVATE, 1, (void *)1, &other, FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 0)));
	show(futex(&word, FUTEX_CMP_REQUEUE, 1, (void *)1, &other, 1));
	show(futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)1, &other, 0));
	show(futex(&word, FUTEX_REQUEUE, 1, (void *)1, &other, 0));
	show(futex(&word, 99, 0, NULL, NULL, 0));
	show(futex(&word, FUTEX_FD, 0, NULL, NULL, 0));
	show(futex(&word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0));
	show(futex(&word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0));
	show(futex(&word, FUTEX_TRYLOCK_PI_PRIVATE, 0, NULL, NULL, 0));
	show(futex(&word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0));
	show(futex(&word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0));
	return 0;
}

static void *wait_there(void *arg)
{
	long answer;

	__atomic_add_fetch(&waiting, 1, __ATOMIC_RELEASE);
	do
		answer = futex(&word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	while (answer && errno == EINTR && !arg);
	return (void *)answer;
}

/* How many waiters a call wakes, and how many it moves. */
static int woken(void)
{
	pthread_t thread[4];
	long nr = 0, moved;

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, wait_there, NULL);
	while (__atomic_load_n(&waiting, __ATOMIC_ACQUIRE) < 4)
		sched_yield();
	usleep(50000);
	printf("woken %ld\n", futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
	moved = futex(&word, FUTEX_CMP_REQUEUE_PRIVATE, 1, (void *)1, &other, 0);
	printf("woken and moved %ld\n", moved);
	while (nr < 2)
		nr += futex(&other, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) +
		      futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static void handler(int sig)
{
	int saved = errno;

	/* A handler may wake, and fork. */
	futex(&other, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	if (sig == SIGUSR2) {
		pid_t pid = fork();

		if (!pid) {
			futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
			_exit(futex(&word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0) == -1 && errno == EAGAIN ? 5 : 6);
		}
		waitpid(pid, &sig, 0);
		signals += WEXITSTATUS(sig) == 5;
	}
	signals++;
	errno = saved;
}

/* A signal ends a wait, unless its handler was installed with SA_RESTART. */
static int interrupted(void)
{
	static const int how[] = {0, SA_RESTART};

	for (size_t i = 0; i < ARRAY_SIZE(how); i++) {
		struct sigaction action = {.sa_handler = handler, .sa_flags = how[i]};
		pthread_t thread;
		void *answer;

		waiting = 0;
		sigaction(SIGUSR1, &action, NULL);
		sigaction(SIGUSR2, &action, NULL);
		pthread_create(&thread, NULL, wait_there, how[i] ? NULL : (void *)1);
		while (!__atomic_load_n(&waiting, __ATOMIC_ACQUIRE))
			sched_yield();
		usleep(20000);
		pthread_kill(thread, i ? SIGUSR2 : SIGUSR1);
		if (how[i]) {
			while (signals < 3)
				usleep(1000);
			usleep(20000);
			futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
		}
		pthread_join(thread, &answer);
		printf("restart %d: %ld\n", how[i] != 0, (long)answer);
	}
	printf("%d signals\n", signals);
	return 0;
}

static void *wait_cancelled(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	return wait_there(arg);
}

/* Cancellation ends a wait only if it is asynchronous. The thread that is not, is woken. */
static int cancelled(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_t thread;
		void *answer;

		waiting = 0;
		pthread_create(&thread, NULL, i % 2 ? wait_there : wait_cancelled, NULL);
		while (!__atomic_load_n(&waiting, __ATOMIC_ACQUIRE))
			sched_yield();
		usleep(i * 50);
		pthread_cancel(thread);
		for (int n = 0; i % 2 && n < 200 && !futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); n++)
			usleep(1000);
		pthread_join(thread, &answer);
		if ((answer == PTHREAD_CANCELED) != (i % 2 == 0))
			printf("round %d: %p\n", i, answer);
	}
	puts("cancelled");
	return 0;
}

/* The child of vfork() calls FUTEX_WAKE, and FUTEX_WAIT with a wrong value, for a word of its parent's memory. */
static int in_vfork(void)
{
	static int i, status;

	for (i = 0; i < ROUNDS; i++) {
		pid_t pid = vfork();

		if (!pid) {
			futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
			_exit(futex(&word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0) == -1 && errno == EAGAIN ? 5 : 6);
		}
		waitpid(pid, &status, 0);
		if (WEXITSTATUS(status) != 5)
			printf("round %d: %d\n", i, status);
	}
	puts("vfork");
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} cases[] = {
	{"calls", calls}, {"woken", woken}, {"interrupted", interrupted}, {"cancelled", cancelled},
	{"vfork", in_vfork},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < ARRAY_SIZE(cases); i++)
		if (!strcmp(argv[1], cases[i].name))
			return cases[i].run();
	fprintf(stderr, "usage: futexes NAME\n");
	return 2;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ended.c - threads that end, the first one, too: others join them, and check whether they live.
 *
 * Prints the times at which threads were found to have ended, for comparison between runs.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu.h"

#define NR_THREADS 20

static pthread_t main_thread;
static int tids[NR_THREADS];

static int ask(int tid, int signal)
{
	return syscall(SYS_tgkill, getpid(), tid, signal) ? errno : 0;
}

static void *end_soon(void *arg)
{
	long number = (long)arg;

	__atomic_store_n(&tids[number], gettid(), __ATOMIC_RELAXED);
	check("itself", ask(gettid(), 0), 0);
	usleep(20 + 7 * number);
	return NULL;
}

/* Checks a thread from its beginning until it has ended; then it must not live again. */
static void watch(long number)
{
	int tid, looks = 0;
	long i;

	while (!(tid = __atomic_load_n(&tids[number], __ATOMIC_RELAXED)))
		sched_yield();
	while (!ask(tid, 0))
		looks++;
	printf("%ld gone after %d looks at %lld\n", number, looks, emu_ns());
	for (i = 0; i < 100; i++)
		check("gone", ask(tid, 0), ESRCH);
	check("gone for signals", ask(tid, SIGUSR1), ESRCH);
	check("gone for tkill", syscall(SYS_tkill, tid, 0) ? errno : 0, ESRCH);
}

static void *others(void *unused)
{
	void *result = NULL;
	pthread_t thread;
	long i;

	check("join the first thread", pthread_join(main_thread, &result), 0);
	check("its result", (long)result, 7);
	/* As on Linux, the first thread stays as a zombie while the process lives. */
	check("the first thread", ask(getpid(), 0), 0);
	for (i = 0; i < NR_THREADS; i++) {
		pthread_create(&thread, NULL, end_soon, (void *)i);
		watch(i);
		check("join", pthread_join(thread, NULL), 0);
	}
	check("bad signal", ask(gettid(), 1000), EINVAL);
	check("other group", syscall(SYS_tgkill, getppid(), gettid(), 0) ? errno : 0, ESRCH);
	check("no thread", ask(-1, 0), EINVAL);
	exit(emu_status());
	return unused;
}

int main(void)
{
	pthread_t thread;

	emu_require();
	main_thread = pthread_self();
	pthread_create(&thread, NULL, others, NULL);
	pthread_exit((void *)7);
}

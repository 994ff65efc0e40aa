// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * isolation.c - other threads never see a part of a transaction's writes: not with plain loads, not
 * with atomic instructions, and not with write(2), in which the kernel reads.
 */
#include <pthread.h>
#include <unistd.h>

#include "emu.h"

#define ROUNDS 3000

static volatile long pair __cacheline_aligned;
static volatile long foreign __cacheline_aligned;
static long atomic_counter __cacheline_aligned;
static volatile int stop __cacheline_aligned;
static long nr_commits, nr_atomics, odd_loads, odd_writes, unstable_reads;
static int pipe_fds[2];

static void delay(int n)
{
	volatile int i;

	for (i = 0; i < n; i++)
		;
}

static void *transactions(void *arg)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		if (rtm_begin() == RTM_STARTED) {
			long before = foreign;
			long unstable;

			pair++;
			delay(10);
			pair++;
			unstable = foreign != before;
			atomic_counter++;
			rtm_end();
			nr_commits++;
			unstable_reads += unstable;
		}
	}
	stop = 1;
	return NULL;
}

static void *plain_accesses(void *arg)
{
	while (!stop) {
		odd_loads += pair & 1;
		foreign++;
		delay(200);
		__atomic_fetch_add(&atomic_counter, 1, __ATOMIC_SEQ_CST);
		nr_atomics++;
	}
	return NULL;
}

static void *kernel_accesses(void *arg)
{
	long value;

	while (!stop) {
		if (write(pipe_fds[1], (const void *)&pair, sizeof(pair)) != sizeof(pair) ||
		    read(pipe_fds[0], &value, sizeof(value)) != sizeof(value))
			abort();
		odd_writes += value & 1;
		delay(100);
	}
	return NULL;
}

int main(void)
{
	static void *(*const bodies[])(void *) = {transactions, plain_accesses, kernel_accesses};
	pthread_t threads[ARRAY_SIZE(bodies)];
	unsigned int i;

	emu_require();
	if (pipe(pipe_fds))
		return 1;
	for (i = 0; i < ARRAY_SIZE(bodies); i++)
		pthread_create(&threads[i], NULL, bodies[i], NULL);
	for (i = 0; i < ARRAY_SIZE(bodies); i++)
		pthread_join(threads[i], NULL);

	check("loads of half a transaction", odd_loads, 0);
	check("write(2) of half a transaction", odd_writes, 0);
	check("reads that change inside", unstable_reads, 0);
	check("commits are complete", pair, 2 * nr_commits);
	check("atomics are not lost", atomic_counter, nr_commits + nr_atomics);
	check("some committed", nr_commits > 0, 1);
	check("some aborted", nr_commits < ROUNDS, 1);
	return emu_status();
}

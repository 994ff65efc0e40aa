// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * places.c - the processors on which threads are placed.
 *
 * usage: places THREADS
 *
 * Prints the processors and the nodes of THREADS threads that run at the same time.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu.h"

#define MAX_THREADS 64

static int nr_threads;
static int arrived;

struct place {
	unsigned int cpu;
	unsigned int node;
};

/* A thread that does not wait in the kernel, where it would give up its processor. */
static void *stay(void *arg)
{
	struct place *place = arg;

	__atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < nr_threads)
		;
	syscall(SYS_getcpu, &place->cpu, &place->node, NULL);
	__atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < 2 * nr_threads)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	struct place places[MAX_THREADS];
	pthread_t threads[MAX_THREADS];
	int i;

	emu_require();
	if (argc != 2)
		return 2;
	/* The main thread is one of the threads. */
	nr_threads = atoi(argv[1]);
	for (i = 1; i < nr_threads; i++)
		pthread_create(&threads[i], NULL, stay, &places[i]);
	stay(&places[0]);
	for (i = 1; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	printf("cpus");
	for (i = 0; i < nr_threads; i++)
		printf(" %u", places[i].cpu);
	printf(" nodes");
	for (i = 0; i < nr_threads; i++)
		printf(" %u", places[i].node);
	printf("\n");
	return emu_status();
}

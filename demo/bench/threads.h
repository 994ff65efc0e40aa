/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threads.h - starts the threads of a run and divides its operations.
 */
#ifndef DEMO_THREADS_H
#define DEMO_THREADS_H

#include <pthread.h>
#include <stdint.h>

int thread_start(pthread_t *thread, void *(*function)(void *), void *arg, const unsigned int *cpus,
		 unsigned int nr_cpus, unsigned int nr);

/**
 * share_of() - number of operations of a thread; the first ones get the remainder
 * @all: number of operations of all threads
 * @nr: number of threads
 * @i: number of the thread
 */
static inline uint64_t share_of(uint64_t all, unsigned int nr, unsigned int i)
{
	return all / nr + (i < all % nr);
}

#endif

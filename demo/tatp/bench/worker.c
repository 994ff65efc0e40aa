// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * worker.c - the begin, the main function and the end of threads that run transactions.
 */
#include "worker.h"

#include "../../base/region.h"

#include <errno.h>

/**
 * run_init() - make a run
 * @run: the run
 * @threads: number of its threads
 *
 * Return: 0 or -errno.
 */
int run_init(struct run *run, unsigned int threads)
{
	*run = (struct run){ .running = threads };
	return -pthread_barrier_init(&run->start, NULL, threads);
}

/** worker_join() - wait until a thread has ended */
void worker_join(struct worker *w)
{
	pthread_join(w->thread, NULL);
}

/**
 * worker_main() - run transactions until their number is reached or the run ends
 * @arg: the worker
 *
 * Return: NULL; the worker has the error, if any.
 */
void *worker_main(void *arg)
{
	struct worker *w = arg;
	uint64_t left = w->operations;

	pthread_barrier_wait(&w->run->start);
	if (!w->client.nr)
		region_request(REGION_BEGIN);
	w->start_ns = now_ns();
	/* Relaxed, without a partner: the thread ends soon after the flag is set. */
	while (left && !w->err && !__atomic_load_n(&w->run->stop, __ATOMIC_RELAXED)) {
		w->err = client_step(&w->client);
		left--;
	}
	w->end_ns = now_ns();
	/* A thread that cannot go on ends the others, too. */
	if (w->err)
		__atomic_store_n(&w->run->stop, true, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&w->run->running, 1, __ATOMIC_RELEASE);
	return NULL;
}

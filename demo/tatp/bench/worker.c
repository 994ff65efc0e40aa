// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * worker.c - the begin, the main function and the end of threads that run transactions.
 */
#include "worker.h"
#include "wake.h"

#include "../../base/region.h"

#include <errno.h>
#include <stdlib.h>

/**
 * run_init() - make a run
 * @run: the run
 * @threads: number of its threads
 * @warm: they carry out transactions first that are not measured
 * @sm: the storage manager
 * @helpers: its helpers
 *
 * Return: 0 or -errno.
 */
int run_init(struct run *run, unsigned int threads, bool warm, const struct sm *sm,
	     const struct helpers *helpers)
{
	*run = (struct run){ .sm = sm, .helpers = helpers, .warm = warm, .running = threads,
			      .ended = wake_make() };
	if (run->ended < 0)
		return -errno;
	return -pthread_barrier_init(&run->start, NULL, threads);
}

/** run_begin() - the measured part begins: no thread is in a transaction */
void run_begin(struct run *run)
{
	counters_read(&run->before, run->sm, run->helpers);
	/* Release: who sees the time sees the counters, and those of the threads. */
	__atomic_store_n(&run->begin_ns, now_ns(), __ATOMIC_RELEASE);
}

/* Up to @nr transactions, until the run ends. */
static void steps(struct worker *w, uint64_t nr)
{
	/* Relaxed, without a partner: the thread ends soon after the flag is set. */
	while (nr && !w->err && !__atomic_load_n(&w->run->stop, __ATOMIC_RELAXED)) {
		w->err = client_step(&w->client);
		nr--;
	}
}

/* Transactions that are not measured, until all threads have carried them out. */
static void warm_up(struct worker *w)
{
	steps(w, w->warmup);
	w->before = w->client.tally;
	pthread_barrier_wait(&w->run->start);
	if (!w->client.nr)
		run_begin(w->run);
	pthread_barrier_wait(&w->run->start);
}

/** run_destroy() - end a run that was made; its threads have ended */
void run_destroy(struct run *run)
{
	pthread_barrier_destroy(&run->start);
	close(run->ended);
}

/** worker_join() - wait until a thread has ended */
void worker_join(struct worker *w)
{
	pthread_join(w->thread, NULL);
}

/** worker_free() - free what a thread has allocated */
void worker_free(struct worker *w)
{
	client_free(&w->client);
	free(w->latency);
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

	pthread_barrier_wait(&w->run->start);
	if (w->run->warm)
		warm_up(w);
	w->client.latency = w->latency;
	if (!w->client.nr)
		region_request(REGION_BEGIN);
	w->start_ns = now_ns();
	steps(w, w->operations);
	w->end_ns = now_ns();
	/* A thread that cannot go on ends the others, too. */
	if (w->err)
		__atomic_store_n(&w->run->stop, true, __ATOMIC_RELAXED);
	/* Release: pairs with the acquire in watch(). */
	if (!__atomic_sub_fetch(&w->run->running, 1, __ATOMIC_RELEASE))
		wake_up(w->run->ended);
	return NULL;
}

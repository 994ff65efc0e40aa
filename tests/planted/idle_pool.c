// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * idle_pool.c - an audit holds the lock for long, and threads that pay wait for it; beside them a pool
 * of threads waits for work that never comes, for far longer. What to mend is the lock. Nothing is
 * elided here: it is for profile mode, on any machine. Repaired: the audit has a lock of its own.
 */
#include <pthread.h>
#include <unistd.h>

#include "planted.h"

#define POOL_THREADS 6

static pthread_mutex_t ledger_lock APART = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t audit_lock APART = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t pool_lock APART = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pool_work APART = PTHREAD_COND_INITIALIZER;
static bool pool_ends;
static struct {
	long nr;
} APART paid[PLANTED_THREADS], audits;

PLACE void *idle(void *arg)
{
	pthread_mutex_lock(&pool_lock);
	while (!pool_ends)
		pthread_cond_wait(&pool_work, &pool_lock);
	pthread_mutex_unlock(&pool_lock);
	return arg;
}

PLACE void pay(int thread)
{
	pthread_mutex_lock(&ledger_lock);
	paid[thread].nr++;
	pthread_mutex_unlock(&ledger_lock);
}

PLACE void audit(void)
{
	pthread_mutex_t *lock = IS_REPAIRED ? &audit_lock : &ledger_lock;

	pthread_mutex_lock(lock);
	usleep(1000);
	audits.nr++;
	pthread_mutex_unlock(lock);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		if (w->thread)
			pay(w->thread);
		else
			audit();
		usleep(w->thread ? 100 : 200);
	}
}

int main(int argc, char **argv)
{
	pthread_t pool[POOL_THREADS];
	long rounds, done;

	for (int i = 0; i < POOL_THREADS; i++)
		if (pthread_create(&pool[i], NULL, idle, NULL))
			return 2;
	rounds = planted_run(argc, argv, work);
	pthread_mutex_lock(&pool_lock);
	pool_ends = true;
	pthread_cond_broadcast(&pool_work);
	pthread_mutex_unlock(&pool_lock);
	for (int i = 0; i < POOL_THREADS; i++)
		pthread_join(pool[i], NULL);
	done = audits.nr;
	for (int i = 0; i < PLANTED_THREADS; i++)
		done += paid[i].nr;
	return planted_end("payments and audits", done, rounds);
}

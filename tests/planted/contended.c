// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * contended.c - an audit holds the lock for long, and threads that pay wait for it.
 * Nothing is elided here: it is for profile mode, on any machine. Repaired: the audit
 * has a lock of its own.
 */
#include <pthread.h>
#include <unistd.h>

#include "planted.h"

static pthread_mutex_t ledger_lock APART = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t audit_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct {
	long nr;
} APART paid[PLANTED_THREADS], audits;

PLACE void pay(int thread)
{
	pthread_mutex_lock(&ledger_lock);
	paid[thread].nr++;
	pthread_mutex_unlock(&ledger_lock);
}

PLACE void clerk(int thread)
{
	pay(thread);
	usleep(100);
}

PLACE void audit(void)
{
	pthread_mutex_t *lock = IS_REPAIRED ? &audit_lock : &ledger_lock;

	pthread_mutex_lock(lock);
	usleep(1000);
	audits.nr++;
	pthread_mutex_unlock(lock);
}

PLACE void auditor(void)
{
	audit();
	usleep(200);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		if (w->thread)
			clerk(w->thread);
		else
			auditor();
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work), done = audits.nr;

	for (int i = 0; i < PLANTED_THREADS; i++)
		done += paid[i].nr;
	return planted_end("payments and audits", done, rounds);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * coupling.c - a table's lock is held until an entry is locked, and released in the entry's section.
 * The table's lock is robust, so it is never elided, and a transaction that began with the entry's
 * lock would keep the table locked to its end. Repaired: entries stay where they are, so the table's
 * lock is released before the entry's is acquired.
 */
#include <pthread.h>

#include "planted.h"

static pthread_mutex_t table_lock APART;
static struct entry {
	pthread_mutex_t lock;
	long visits;
} APART entries[PLANTED_THREADS];

static void init(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&table_lock, &attr);
	pthread_mutexattr_destroy(&attr);
	for (int i = 0; i < PLANTED_THREADS; i++)
		pthread_mutex_init(&entries[i].lock, NULL);
}

PLACE void visit(struct entry *entry)
{
	if (IS_REPAIRED)
		pthread_mutex_unlock(&table_lock);
	pthread_mutex_lock(&entry->lock);
	if (!IS_REPAIRED)
		pthread_mutex_unlock(&table_lock);
	entry->visits++;
	planted_dwell(200);
	pthread_mutex_unlock(&entry->lock);
}

PLACE void find(struct entry *entry)
{
	pthread_mutex_lock(&table_lock);
	planted_dwell(10);
	visit(entry);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		find(&entries[w->thread]);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds, visits = 0;

	init();
	rounds = planted_run(argc, argv, work);
	for (int i = 0; i < PLANTED_THREADS; i++)
		visits += entries[i].visits;
	return planted_end("visits", visits, rounds);
}

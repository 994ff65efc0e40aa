// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * contended_rwlock.c - threads that read the prices wait for one that takes long to
 * write them. For profile mode, as contended.c. Repaired: the new prices are worked out
 * before they are written.
 */
#include <pthread.h>
#include <unistd.h>

#include "planted.h"

static pthread_rwlock_t prices_lock APART = PTHREAD_RWLOCK_INITIALIZER;
static struct {
	long nr;
} APART seen[PLANTED_THREADS], updates;

PLACE void work_out(void)
{
	usleep(1000);
}

PLACE void look_up(int thread)
{
	pthread_rwlock_rdlock(&prices_lock);
	seen[thread].nr++;
	pthread_rwlock_unlock(&prices_lock);
}

PLACE void customer(int thread)
{
	look_up(thread);
	usleep(100);
}

PLACE void update_prices(void)
{
	if (IS_REPAIRED)
		work_out();
	pthread_rwlock_wrlock(&prices_lock);
	if (!IS_REPAIRED)
		work_out();
	updates.nr++;
	pthread_rwlock_unlock(&prices_lock);
}

PLACE void merchant(void)
{
	update_prices();
	usleep(200);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		if (w->thread)
			customer(w->thread);
		else
			merchant();
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work), done = updates.nr;

	for (int i = 0; i < PLANTED_THREADS; i++)
		done += seen[i].nr;
	return planted_end("look-ups and updates", done, rounds);
}

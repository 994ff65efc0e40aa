// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pause.c - a section spins politely, with PAUSE. Repaired: it spins without.
 */
#include <pthread.h>

#include "planted.h"

static pthread_mutex_t ring_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct slot {
	long taken;
} APART slots[PLANTED_THREADS];

PLACE void spin_briefly(void)
{
	for (volatile int i = 0; i < 4; i++)
		if (!IS_REPAIRED)
			__builtin_ia32_pause();
}

PLACE void take_slot(struct slot *slot)
{
	pthread_mutex_lock(&ring_lock);
	slot->taken++;
	spin_briefly();
	pthread_mutex_unlock(&ring_lock);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		take_slot(&slots[w->thread]);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work), taken = 0;

	for (int i = 0; i < PLANTED_THREADS; i++)
		taken += slots[i].taken;
	return planted_end("slots", taken, rounds);
}

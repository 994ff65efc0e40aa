// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * destroy.c - a connection's lock is destroyed by a section that still holds it.
 * Repaired: unlocked first.
 */
#include <pthread.h>
#include <stdlib.h>

#include "planted.h"

struct connection {
	pthread_mutex_t lock;
	long bytes;
};

static struct {
	long nr;
} APART closed[PLANTED_THREADS];

PLACE struct connection *open_connection(void)
{
	struct connection *c = aligned_alloc(64, sizeof(*c) + 64 - sizeof(*c) % 64);

	if (!c)
		exit(2);
	pthread_mutex_init(&c->lock, NULL);
	c->bytes = 0;
	return c;
}

PLACE void close_connection(struct connection *c)
{
	pthread_mutex_lock(&c->lock);
	c->bytes = 0;
	if (IS_REPAIRED)
		pthread_mutex_unlock(&c->lock);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		close_connection(open_connection());
		closed[w->thread].nr++;
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work), nr = 0;

	for (int i = 0; i < PLANTED_THREADS; i++)
		nr += closed[i].nr;
	return planted_end("connections", nr, rounds);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * reader.c - a reader that locks, as it writes what it reads to a file, aborts the
 * writers that elide the lock. Repaired: it copies with the lock held, and writes to
 * the file after the release.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "planted.h"

static pthread_rwlock_t routes_lock APART = PTHREAD_RWLOCK_INITIALIZER;
static struct route {
	long hops;
} APART routes[PLANTED_THREADS];
static struct {
	char text[64];
} APART head;
static struct {
	long dumps;
} APART dumped;
static int dump_file;

PLACE void set_hops(struct route *route)
{
	route->hops++;
	planted_dwell(100);
}

PLACE void change_route(struct route *route)
{
	pthread_rwlock_wrlock(&routes_lock);
	set_hops(route);
	pthread_rwlock_unlock(&routes_lock);
}

PLACE void write_out(const void *text)
{
	if (write(dump_file, text, sizeof(head.text)) < 0)
		exit(2);
}

PLACE void dump_routes(void)
{
	char copy[sizeof(head.text)];

	pthread_rwlock_rdlock(&routes_lock);
	memcpy(copy, head.text, sizeof(copy));
	if (!IS_REPAIRED)
		write_out(copy);
	pthread_rwlock_unlock(&routes_lock);
	if (IS_REPAIRED)
		write_out(copy);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		if (w->thread) {
			change_route(&routes[w->thread]);
		} else {
			dump_routes();
			dumped.dumps++;
		}
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds, done;

	dump_file = open("/dev/null", O_WRONLY | O_CLOEXEC);
	rounds = planted_run(argc, argv, work);
	done = dumped.dumps;
	for (int i = 0; i < PLANTED_THREADS; i++)
		done += routes[i].hops;
	return planted_end("changes and dumps", done, rounds);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lock_line.c - a counter that is written without the lock lies beside it: each
 * write aborts all who elide the lock. Repaired: it has a line of its own.
 */
#include <pthread.h>

#include "planted.h"

struct letters {
	long nr;
} APART;

static struct {
	pthread_mutex_t lock;
	unsigned long polls REPAIRED_APART;
} mailbox APART = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct letters letters[PLANTED_THREADS];

PLACE void drop_letter(struct letters *box)
{
	box->nr++;
	planted_dwell(60);
}

PLACE void deliver(struct letters *box)
{
	pthread_mutex_lock(&mailbox.lock);
	drop_letter(box);
	pthread_mutex_unlock(&mailbox.lock);
}

PLACE void poll_mailbox(void)
{
	__atomic_fetch_add(&mailbox.polls, 1, __ATOMIC_RELAXED);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		if (w->thread)
			deliver(&letters[w->thread]);
		else
			poll_mailbox();
		planted_pause(w);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work), done = mailbox.polls;

	for (int i = 0; i < PLANTED_THREADS; i++)
		done += letters[i].nr;
	return planted_end("letters and polls", done, rounds);
}

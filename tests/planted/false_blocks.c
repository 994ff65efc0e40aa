// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * false_blocks.c - a heap block for each thread's session, so small that two share
 * a cache line. Repaired: blocks of whole lines.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "planted.h"

struct session {
	long bytes;
	long requests;
	int user;
};

static pthread_mutex_t sessions_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct session *sessions[PLANTED_THREADS] APART;

PLACE struct session *new_session(int user)
{
	struct session *s = IS_REPAIRED ? aligned_alloc(64, 64) : malloc(sizeof(*s));

	if (!s)
		exit(2);
	*s = (struct session){.user = user};
	return s;
}

PLACE void charge(struct session *s, long bytes)
{
	s->bytes += bytes;
	s->requests++;
	planted_dwell(60);
}

PLACE void account(struct session *s, long bytes)
{
	pthread_mutex_lock(&sessions_lock);
	charge(s, bytes);
	pthread_mutex_unlock(&sessions_lock);
}

static void work(struct worker *w)
{
	struct session *own = sessions[w->thread];

	for (long i = 0; i < w->rounds; i++) {
		account(own, planted_draw(w, 1000));
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds, requests = 0;
	int pairs = 0;

	for (int i = 0; i < PLANTED_THREADS; i++) {
		sessions[i] = new_session(i);
		pairs += i && planted_same_line(&sessions[i - 1]->bytes, &sessions[i]->bytes);
	}
	if ((pairs == 0) != IS_REPAIRED) {
		fputs("the blocks do not lie as they should\n", stderr);
		return 2;
	}
	rounds = planted_run(argc, argv, work);
	for (int i = 0; i < PLANTED_THREADS; i++)
		requests += sessions[i]->requests;
	return planted_end("requests", requests, rounds);
}

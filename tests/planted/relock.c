// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * relock.c - a reader calls a function that locks the same lock to read once more.
 * Repaired: that function is called with the lock held, and does not lock.
 */
#include <pthread.h>

#include "planted.h"

static pthread_rwlock_t tree_lock APART = PTHREAD_RWLOCK_INITIALIZER;
static struct node {
	long children;
	long visits;
} APART nodes[PLANTED_THREADS];

PLACE long count_children(const struct node *node)
{
	long nr;

	if (!IS_REPAIRED)
		pthread_rwlock_rdlock(&tree_lock);
	nr = node->children;
	if (!IS_REPAIRED)
		pthread_rwlock_unlock(&tree_lock);
	return nr;
}

PLACE long visit(const struct node *node)
{
	long nr;

	pthread_rwlock_rdlock(&tree_lock);
	nr = count_children(node) + 1;
	pthread_rwlock_unlock(&tree_lock);
	return nr;
}

static void work(struct worker *w)
{
	struct node *own = &nodes[w->thread];

	for (long i = 0; i < w->rounds; i++) {
		own->visits += visit(own);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work), visits = 0;

	for (int i = 0; i < PLANTED_THREADS; i++)
		visits += nodes[i].visits;
	return planted_end("visits", visits, rounds);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * latch.c - the kind of the latches and the one site that initialises them (see latch.h).
 */
#include "latch.h"

enum latch_kind latch_kind;

/**
 * latch_init() - make a latch that nobody holds
 * @l: the latch
 *
 * All latches of a kind are initialised here, so a lock profiler has them in one class.
 */
void latch_init(struct latch *l)
{
	*l = (struct latch){ 0 };
	if (latch_kind == LATCH_mutex)
		pthread_mutex_init(&l->mutex, NULL);
	else if (latch_kind != LATCH_spin)
		pthread_rwlock_init(&l->rwlock, NULL);
}

/** latch_destroy() - end a latch that nobody holds */
void latch_destroy(struct latch *l)
{
	if (latch_kind == LATCH_mutex)
		pthread_mutex_destroy(&l->mutex);
	else if (latch_kind != LATCH_spin)
		pthread_rwlock_destroy(&l->rwlock);
}

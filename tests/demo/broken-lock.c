// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * broken-lock.c - locks that do nothing, to preload into index_bench: updates
 * then get lost, and the check at its end must say so.
 */
#include <pthread.h>

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib-hidden.c - lock calls that, bound deeply, go past the preloaded library. */
#include <pthread.h>

int hidden_lock(pthread_mutex_t *m);
int hidden_unlock(pthread_mutex_t *m);

int hidden_lock(pthread_mutex_t *m)
{
	return pthread_mutex_lock(m);
}

int hidden_unlock(pthread_mutex_t *m)
{
	return pthread_mutex_unlock(m);
}

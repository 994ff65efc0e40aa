/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lib-malloc.c - an allocator that takes a lock of its own for every call: what is
 * called to take a lock must never come back here to allocate.
 */
#include <pthread.h>
#include <stddef.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *old);
void *malloc(size_t size);
void *calloc(size_t nr, size_t size);
void *realloc(void *old, size_t size);
void free(void *old);

static pthread_mutex_t heap = PTHREAD_MUTEX_INITIALIZER;

#define LOCKED(type, call)                    \
	({                                    \
		type answer;                  \
                                              \
		pthread_mutex_lock(&heap);    \
		answer = (call);              \
		pthread_mutex_unlock(&heap);  \
		answer;                       \
	})

void *malloc(size_t size)
{
	return LOCKED(void *, __libc_malloc(size));
}

void *calloc(size_t nr, size_t size)
{
	return LOCKED(void *, __libc_calloc(nr, size));
}

void *realloc(void *old, size_t size)
{
	return LOCKED(void *, __libc_realloc(old, size));
}

void free(void *old)
{
	pthread_mutex_lock(&heap);
	__libc_free(old);
	pthread_mutex_unlock(&heap);
}

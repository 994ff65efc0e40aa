/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lib-gmutex.c - a library with GLib's functions of mutexes and another rule, by RULE.
 *
 *   1  that of GLib: 0: free, 1: held
 *   2  a held mutex is 2
 *   3  the thread's id is in the second word of a held mutex; the functions call one another as programs do
 *   4  1: free, 0: held; but that of GLib for the second mutex, with which the functions are tried: what is
 *      not seen there would let two threads into a section
 */
#include <sched.h>
#include <stddef.h>
#include <unistd.h>

static const int *second;
static int nr_mutexes;

/* The word of a free mutex. */
static int is_free(const int *m)
{
	return RULE == 4 && m != second;
}

static int held(const int *m)
{
	return RULE == 2 ? 2 : !is_free(m);
}

void g_mutex_init(int *m);
int g_mutex_trylock(int *m);
void g_mutex_lock(int *m);
void g_mutex_unlock(int *m);
void g_mutex_clear(int *m);
void g_cond_wait(void *c, int *m);
int g_cond_wait_until(void *c, int *m, long until);
int g_cond_timed_wait(void *c, int *m, void *until);

void g_mutex_init(int *m)
{
	if (++nr_mutexes == 2)
		second = m;
	__atomic_store_n(m, is_free(m), __ATOMIC_RELEASE);
}

static int take(int *m)
{
	int expected = is_free(m);

	if (!__atomic_compare_exchange_n(m, &expected, held(m), 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return 0;
	if (RULE == 3)
		m[1] = gettid();
	return 1;
}

int g_mutex_trylock(int *m)
{
	return take(m);
}

void g_mutex_lock(int *m)
{
	while (!(RULE == 3 ? g_mutex_trylock(m) : take(m)))
		sched_yield();
}

void g_mutex_unlock(int *m)
{
	if (RULE == 3)
		m[1] = 0;
	__atomic_store_n(m, is_free(m), __ATOMIC_RELEASE);
}

void g_mutex_clear(int *m)
{
	(void)m;
}

void g_cond_wait(void *c, int *m)
{
	(void)c;
	g_mutex_unlock(m);
	sched_yield();
	g_mutex_lock(m);
}

int g_cond_wait_until(void *c, int *m, long until)
{
	(void)until;
	g_cond_wait(c, m);
	return 0;
}

int g_cond_timed_wait(void *c, int *m, void *until)
{
	(void)until;
	g_cond_wait(c, m);
	return 0;
}

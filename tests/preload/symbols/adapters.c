/* SPDX-License-Identifier: GPL-2.0-or-later */
/* adapters.c - GLib's mutexes, OpenMP's locks and critical sections. No header of them is needed. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "symbols.h"

/* The function that a program's call of another row reaches. */
#define CALL(id, symbol, version) ((id##_fn)(*(version) ? dlvsym(RTLD_DEFAULT, symbol, version) : \
							  dlsym(RTLD_DEFAULT, symbol)))
#define G(id) CALL(id, #id, "")
#define NEST(id, symbol) CALL(id, symbol, "OMP_3.0")
#define OLD(id, symbol) CALL(id, symbol, "OMP_1.0")

/* Zeroed memory is a free lock; alone in its line, and larger than each. */
static void *new_lock(void)
{
	return calloc(1, 64);
}

const char *test_g_mutex_lock(g_mutex_lock_fn f)
{
	void *m = new_lock();

	f(m);
	expect(elsewhere(G(g_mutex_trylock), m) == 0);
	G(g_mutex_unlock)(m);
	return NULL;
}

const char *test_g_mutex_trylock(g_mutex_trylock_fn f)
{
	void *m = new_lock();

	expect(f(m) == 1);
	expect(f(m) == 0);
	G(g_mutex_unlock)(m);
	return NULL;
}

const char *test_g_mutex_unlock(g_mutex_unlock_fn f)
{
	void *m = new_lock();

	G(g_mutex_lock)(m);
	f(m);
	expect(G(g_mutex_trylock)(m) == 1);
	f(m);
	return NULL;
}

const char *test_g_mutex_init(g_mutex_init_fn f)
{
	void *m = new_lock();

	memset(m, 0xff, sizeof(void *));
	f(m);
	expect(G(g_mutex_trylock)(m) == 1);
	G(g_mutex_unlock)(m);
	return NULL;
}

const char *test_g_mutex_clear(g_mutex_clear_fn f)
{
	void *m = new_lock();

	for (int i = 0; i < 2; i++) {
		G(g_mutex_lock)(m);
		G(g_mutex_unlock)(m);
		f(m);
	}
	return NULL;
}

static atomic_bool woken;

static void *signals(void *c)
{
	void (*signal)(void *c) = (void (*)(void *))dlsym(RTLD_DEFAULT, "g_cond_signal");

	while (!woken) {
		signal(c);
		sched_yield();
	}
	return NULL;
}

const char *test_g_cond_wait(g_cond_wait_fn f)
{
	void *c = new_lock(), *m = new_lock();
	pthread_t thread;

	woken = false;
	expect(pthread_create(&thread, NULL, signals, c) == 0);
	G(g_mutex_lock)(m);
	f(c, m);
	woken = true;
	expect(elsewhere(G(g_mutex_trylock), m) == 0);
	G(g_mutex_unlock)(m);
	pthread_join(thread, NULL);
	return NULL;
}

const char *test_g_cond_wait_until(g_cond_wait_until_fn f)
{
	void *c = new_lock(), *m = new_lock();

	G(g_mutex_lock)(m);
	expect(f(c, m, 1) == 0);
	expect(elsewhere(G(g_mutex_trylock), m) == 0);
	G(g_mutex_unlock)(m);
	return NULL;
}

const char *test_g_cond_timed_wait(g_cond_timed_wait_fn f)
{
	void *c = new_lock(), *m = new_lock();
	long until[2] = {1, 0};

	G(g_mutex_lock)(m);
	expect(f(c, m, until) == 0);
	expect(elsewhere(G(g_mutex_trylock), m) == 0);
	G(g_mutex_unlock)(m);
	return NULL;
}

const char *test_omp_set_lock(omp_set_lock_fn f)
{
	void *l = new_lock();

	f(l);
	expect(elsewhere(G(omp_test_lock), l) == 0);
	G(omp_unset_lock)(l);
	return NULL;
}

const char *test_omp_test_lock(omp_test_lock_fn f)
{
	void *l = new_lock();

	expect(f(l) == 1);
	expect(f(l) == 0);
	G(omp_unset_lock)(l);
	return NULL;
}

const char *test_omp_unset_lock(omp_unset_lock_fn f)
{
	void *l = new_lock();

	G(omp_set_lock)(l);
	f(l);
	expect(G(omp_test_lock)(l) == 1);
	f(l);
	return NULL;
}

const char *test_omp_init_lock(omp_init_lock_fn f)
{
	void *l = new_lock();

	memset(l, 0xff, sizeof(int));
	f(l);
	expect(G(omp_test_lock)(l) == 1);
	G(omp_unset_lock)(l);
	return NULL;
}

const char *test_omp_destroy_lock(omp_destroy_lock_fn f)
{
	void *l = new_lock();

	for (int i = 0; i < 2; i++) {
		G(omp_set_lock)(l);
		G(omp_unset_lock)(l);
		f(l);
	}
	return NULL;
}

/* Each lock is locked several times; only the first time is an acquisition. */
#define NEST_TESTS(id, GET)                                                               \
	const char *test_nest_set##id(nest_set##id##_fn f)                                \
	{                                                                                 \
		void *l = new_lock();                                                     \
                                                                                          \
		f(l);                                                                     \
		f(l);                                                                     \
		expect(elsewhere(GET(nest_test##id, "omp_test_nest_lock"), l) == 0);      \
		expect(GET(nest_test##id, "omp_test_nest_lock")(l) == 3);                 \
		for (int i = 0; i < 3; i++)                                               \
			GET(nest_unset##id, "omp_unset_nest_lock")(l);                    \
		return NULL;                                                              \
	}                                                                                 \
                                                                                          \
	const char *test_nest_test##id(nest_test##id##_fn f)                              \
	{                                                                                 \
		void *l = new_lock();                                                     \
                                                                                          \
		expect(f(l) == 1);                                                        \
		expect(f(l) == 2);                                                        \
		expect(elsewhere(f, l) == 0);                                             \
		GET(nest_unset##id, "omp_unset_nest_lock")(l);                            \
		GET(nest_unset##id, "omp_unset_nest_lock")(l);                            \
		return NULL;                                                              \
	}                                                                                 \
                                                                                          \
	const char *test_nest_unset##id(nest_unset##id##_fn f)                            \
	{                                                                                 \
		void *l = new_lock();                                                     \
                                                                                          \
		for (int i = 0; i < 2; i++) {                                             \
			GET(nest_set##id, "omp_set_nest_lock")(l);                        \
			GET(nest_set##id, "omp_set_nest_lock")(l);                        \
			f(l);                                                             \
			expect(elsewhere(GET(nest_test##id, "omp_test_nest_lock"), l) == 0); \
			f(l);                                                             \
		}                                                                         \
		return NULL;                                                              \
	}                                                                                 \
                                                                                          \
	const char *test_nest_init##id(nest_init##id##_fn f)                              \
	{                                                                                 \
		void *l = new_lock();                                                     \
                                                                                          \
		memset(l, 0xff, sizeof(int[2]));                                          \
		f(l);                                                                     \
		expect(GET(nest_test##id, "omp_test_nest_lock")(l) == 1);                 \
		GET(nest_unset##id, "omp_unset_nest_lock")(l);                            \
		return NULL;                                                              \
	}                                                                                 \
                                                                                          \
	const char *test_nest_destroy##id(nest_destroy##id##_fn f)                        \
	{                                                                                 \
		void *l = new_lock();                                                     \
                                                                                          \
		for (int i = 0; i < 2; i++) {                                             \
			GET(nest_set##id, "omp_set_nest_lock")(l);                        \
			GET(nest_unset##id, "omp_unset_nest_lock")(l);                    \
			f(l);                                                             \
		}                                                                         \
		return NULL;                                                              \
	}

NEST_TESTS(, NEST)
NEST_TESTS(_old, OLD)

/* Once there and back: whether another thread is kept out is in tests/truth. */
const char *test_GOMP_critical_start(GOMP_critical_start_fn f)
{
	f();
	G(GOMP_critical_end)();
	return NULL;
}

const char *test_GOMP_critical_end(GOMP_critical_end_fn f)
{
	G(GOMP_critical_start)();
	f();
	return NULL;
}

const char *test_GOMP_critical_name_start(GOMP_critical_name_start_fn f)
{
	void *l = new_lock();

	f(l);
	G(GOMP_critical_name_end)(l);
	return NULL;
}

const char *test_GOMP_critical_name_end(GOMP_critical_name_end_fn f)
{
	void *l = new_lock();

	for (int i = 0; i < 2; i++) {
		G(GOMP_critical_name_start)(l);
		f(l);
	}
	return NULL;
}

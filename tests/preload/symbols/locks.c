/* SPDX-License-Identifier: GPL-2.0-or-later */
/* locks.c - mutexes, rwlocks, spinlocks, and mutexes of C11. */
#include <errno.h>
#include <string.h>

#include "symbols.h"

/* A spinlock is an int; alone in its line. */
#define CACHE_LINE_BYTES 64

static pthread_rwlock_t *new_rwlock(void)
{
	return calloc(1, sizeof(pthread_rwlock_t));
}

static pthread_spinlock_t *new_spin(void)
{
	pthread_spinlock_t *s = calloc(1, CACHE_LINE_BYTES);

	pthread_spin_init(s, PTHREAD_PROCESS_PRIVATE);
	return s;
}

struct remote {
	int (*call)(void *lock);
	void *lock;
	int answer;
};

static void *remote_main(void *arg)
{
	struct remote *r = arg;

	r->answer = r->call(r->lock);
	return NULL;
}

int elsewhere(void *call, void *lock)
{
	struct remote r = {(int (*)(void *))call, lock, -1};
	pthread_t thread;

	if (pthread_create(&thread, NULL, remote_main, &r))
		return -1;
	pthread_join(thread, NULL);
	return r.answer;
}

const char *test_mutex_init(mutex_init_fn f)
{
	pthread_mutex_t *m = malloc(sizeof(*m));
	pthread_mutexattr_t attr;

	memset(m, 0xff, sizeof(*m));
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	expect(f(m, &attr) == 0);
	expect(pthread_mutex_lock(m) == 0);
	expect(pthread_mutex_lock(m) == EDEADLK);
	expect(pthread_mutex_unlock(m) == 0);
	return NULL;
}

const char *test_mutex_destroy(mutex_destroy_fn f)
{
	pthread_mutex_t *m = new_mutex();

	pthread_mutex_lock(m);
	expect(f(m) == EBUSY);
	pthread_mutex_unlock(m);
	expect(f(m) == 0);
	/* It was forgotten: this one is new. */
	memset(m, 0, sizeof(*m));
	pthread_mutex_lock(m);
	return NULL;
}

const char *test_mutex_lock(mutex_lock_fn f)
{
	pthread_mutex_t *m = new_mutex();

	expect(f(m) == 0);
	expect(elsewhere(pthread_mutex_trylock, m) == EBUSY);
	expect(pthread_mutex_unlock(m) == 0);
	return NULL;
}

const char *test_mutex_timedlock(mutex_timedlock_fn f)
{
	pthread_mutex_t *m = new_mutex();

	expect(f(m, &past) == 0);
	expect(f(m, &past) == ETIMEDOUT);
	return NULL;
}

const char *test_mutex_clocklock(mutex_clocklock_fn f)
{
	pthread_mutex_t *m = new_mutex();

	expect(f(m, CLOCK_MONOTONIC, &past) == 0);
	expect(f(m, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
	expect(f(m, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
	return NULL;
}

const char *test_mutex_unlock(mutex_unlock_fn f)
{
	pthread_mutex_t *m = new_mutex();

	pthread_mutex_lock(m);
	expect(f(m) == 0);
	expect(elsewhere(pthread_mutex_trylock, m) == 0);
	return NULL;
}

const char *test_mutex_trylock(mutex_trylock_fn f)
{
	pthread_mutex_t *m = new_mutex();

	expect(f(m) == 0);
	expect(f(m) == EBUSY);
	return NULL;
}

const char *test_rwlock_init(rwlock_init_fn f)
{
	pthread_rwlock_t *rw = malloc(sizeof(*rw));

	memset(rw, 0xff, sizeof(*rw));
	expect(f(rw, NULL) == 0);
	expect(pthread_rwlock_wrlock(rw) == 0);
	return NULL;
}

const char *test_rwlock_destroy(rwlock_destroy_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	pthread_rwlock_rdlock(rw);
	pthread_rwlock_unlock(rw);
	expect(f(rw) == 0);
	pthread_rwlock_rdlock(rw);
	return NULL;
}

const char *test_rwlock_rdlock(rwlock_rdlock_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	expect(f(rw) == 0);
	expect(elsewhere(pthread_rwlock_trywrlock, rw) == EBUSY);
	return NULL;
}

const char *test_rwlock_tryrdlock(rwlock_tryrdlock_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	expect(f(rw) == 0);
	pthread_rwlock_unlock(rw);
	pthread_rwlock_wrlock(rw);
	expect(elsewhere(f, rw) == EBUSY);
	return NULL;
}

const char *test_rwlock_timedrdlock(rwlock_timedrdlock_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	expect(f(rw, &past) == 0);
	expect(elsewhere(pthread_rwlock_trywrlock, rw) == EBUSY);
	return NULL;
}

const char *test_rwlock_clockrdlock(rwlock_clockrdlock_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	expect(f(rw, CLOCK_REALTIME, &past) == 0);
	expect(elsewhere(pthread_rwlock_trywrlock, rw) == EBUSY);
	expect(f(rw, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
	return NULL;
}

const char *test_rwlock_wrlock(rwlock_wrlock_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	expect(f(rw) == 0);
	expect(elsewhere(pthread_rwlock_tryrdlock, rw) == EBUSY);
	return NULL;
}

const char *test_rwlock_trywrlock(rwlock_trywrlock_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	expect(f(rw) == 0);
	expect(elsewhere(f, rw) == EBUSY);
	return NULL;
}

const char *test_rwlock_timedwrlock(rwlock_timedwrlock_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	expect(f(rw, &past) == 0);
	expect(elsewhere(pthread_rwlock_tryrdlock, rw) == EBUSY);
	return NULL;
}

const char *test_rwlock_clockwrlock(rwlock_clockwrlock_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	expect(f(rw, CLOCK_MONOTONIC, &past) == 0);
	expect(elsewhere(pthread_rwlock_tryrdlock, rw) == EBUSY);
	expect(f(rw, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
	return NULL;
}

const char *test_rwlock_unlock(rwlock_unlock_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	pthread_rwlock_wrlock(rw);
	expect(f(rw) == 0);
	expect(elsewhere(pthread_rwlock_trywrlock, rw) == 0);
	return NULL;
}

const char *test_spin_init(spin_init_fn f)
{
	pthread_spinlock_t *s = calloc(1, CACHE_LINE_BYTES);

	expect(f(s, PTHREAD_PROCESS_PRIVATE) == 0);
	expect(pthread_spin_lock(s) == 0);
	return NULL;
}

const char *test_spin_destroy(spin_destroy_fn f)
{
	pthread_spinlock_t *s = new_spin();

	pthread_spin_lock(s);
	pthread_spin_unlock(s);
	expect(f(s) == 0);
	pthread_spin_lock(s);
	return NULL;
}

const char *test_spin_lock(spin_lock_fn f)
{
	pthread_spinlock_t *s = new_spin();

	expect(f(s) == 0);
	expect(elsewhere(pthread_spin_trylock, (void *)s) == EBUSY);
	return NULL;
}

const char *test_spin_trylock(spin_trylock_fn f)
{
	pthread_spinlock_t *s = new_spin();

	expect(f(s) == 0);
	expect(f(s) == EBUSY);
	return NULL;
}

const char *test_spin_unlock(spin_unlock_fn f)
{
	pthread_spinlock_t *s = new_spin();

	pthread_spin_lock(s);
	expect(f(s) == 0);
	expect(elsewhere(pthread_spin_trylock, (void *)s) == 0);
	return NULL;
}

const char *test_mtx_init(mtx_init_fn f)
{
	mtx_t *m = malloc(sizeof(*m));

	memset(m, 0xff, sizeof(*m));
	expect(f(m, mtx_plain) == thrd_success);
	expect(mtx_lock(m) == thrd_success);
	return NULL;
}

const char *test_mtx_destroy(mtx_destroy_fn f)
{
	mtx_t *m = new_mtx();

	mtx_lock(m);
	mtx_unlock(m);
	f(m);
	memset(m, 0, sizeof(*m));
	mtx_lock(m);
	return NULL;
}

const char *test_mtx_lock(mtx_lock_fn f)
{
	mtx_t *m = new_mtx();

	expect(f(m) == thrd_success);
	expect(elsewhere(mtx_trylock, m) == thrd_busy);
	return NULL;
}

const char *test_mtx_trylock(mtx_trylock_fn f)
{
	mtx_t *m = new_mtx();

	expect(f(m) == thrd_success);
	expect(f(m) == thrd_busy);
	return NULL;
}

const char *test_mtx_timedlock(mtx_timedlock_fn f)
{
	mtx_t *m = new_mtx();

	expect(f(m, &past) == thrd_success);
	expect(f(m, &past) == thrd_timedout);
	return NULL;
}

const char *test_mtx_unlock(mtx_unlock_fn f)
{
	mtx_t *m = new_mtx();

	mtx_lock(m);
	expect(f(m) == thrd_success);
	expect(elsewhere(mtx_trylock, m) == thrd_success);
	return NULL;
}

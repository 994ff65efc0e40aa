/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols.c - every symbol of preload/symbols.def is wrapped, and its wrapper
 * engages: the call reaches our library, answers as glibc does, and leaves its
 * trace in the data file.
 *
 * symbols plain     without the library: only the answers
 * symbols off       preloaded and switched off: the call does not reach our library
 * symbols DATAFILE  preloaded, the data file being DATAFILE
 *
 * A row without a test stops the build: see the assertion under the table.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "data.h"

enum symbol {
#define ELIDE_SYMBOL(id, symbol, version, result, parameters, arguments) SYMBOL_##id,
#define ELIDE_ALIAS(symbol, id)
#include "../../preload/symbols.def"
#undef ELIDE_SYMBOL
#undef ELIDE_ALIAS
	NR_SYMBOLS
};

#define ELIDE_SYMBOL(id, symbol, version, result, parameters, arguments) \
	typedef result (*id##_fn) parameters;
#define ELIDE_ALIAS(symbol, id)
#include "../../preload/symbols.def"
#undef ELIDE_SYMBOL
#undef ELIDE_ALIAS

#define expect(condition)                        \
	do {                                     \
		if (!(condition))                \
			return #condition;       \
	} while (0)

/* A spinlock is an int; alone in its line. */
#define CACHE_LINE_BYTES 64

static const struct timespec past = {1, 0};

static pthread_mutex_t *new_mutex(void)
{
	pthread_mutex_t *m = calloc(1, sizeof(*m));

	return m; /* zeroed memory is an initialised mutex */
}

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

/* In another thread, where even a recursive lock is busy. */
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

static int elsewhere(void *call, void *lock)
{
	struct remote r = {(int (*)(void *))call, lock, -1};
	pthread_t thread;

	if (pthread_create(&thread, NULL, remote_main, &r))
		return -1;
	pthread_join(thread, NULL);
	return r.answer;
}

static const char *test_mutex_init(mutex_init_fn f)
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

static const char *test_mutex_destroy(mutex_destroy_fn f)
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

static const char *test_mutex_lock(mutex_lock_fn f)
{
	pthread_mutex_t *m = new_mutex();

	expect(f(m) == 0);
	expect(elsewhere(pthread_mutex_trylock, m) == EBUSY);
	expect(pthread_mutex_unlock(m) == 0);
	return NULL;
}

static const char *test_mutex_timedlock(mutex_timedlock_fn f)
{
	pthread_mutex_t *m = new_mutex();

	expect(f(m, &past) == 0);
	expect(f(m, &past) == ETIMEDOUT);
	return NULL;
}

static const char *test_mutex_clocklock(mutex_clocklock_fn f)
{
	pthread_mutex_t *m = new_mutex();

	expect(f(m, CLOCK_MONOTONIC, &past) == 0);
	expect(f(m, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
	expect(f(m, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
	return NULL;
}

static const char *test_mutex_unlock(mutex_unlock_fn f)
{
	pthread_mutex_t *m = new_mutex();

	pthread_mutex_lock(m);
	expect(f(m) == 0);
	expect(elsewhere(pthread_mutex_trylock, m) == 0);
	return NULL;
}

static const char *test_mutex_trylock(mutex_trylock_fn f)
{
	pthread_mutex_t *m = new_mutex();

	expect(f(m) == 0);
	expect(f(m) == EBUSY);
	return NULL;
}

static const char *test_rwlock_init(rwlock_init_fn f)
{
	pthread_rwlock_t *rw = malloc(sizeof(*rw));

	memset(rw, 0xff, sizeof(*rw));
	expect(f(rw, NULL) == 0);
	expect(pthread_rwlock_wrlock(rw) == 0);
	return NULL;
}

static const char *test_rwlock_destroy(rwlock_destroy_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	pthread_rwlock_rdlock(rw);
	pthread_rwlock_unlock(rw);
	expect(f(rw) == 0);
	pthread_rwlock_rdlock(rw);
	return NULL;
}

static const char *test_rwlock_rdlock(rwlock_rdlock_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	expect(f(rw) == 0);
	expect(elsewhere(pthread_rwlock_trywrlock, rw) == EBUSY);
	return NULL;
}

static const char *test_rwlock_tryrdlock(rwlock_tryrdlock_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	expect(f(rw) == 0);
	pthread_rwlock_unlock(rw);
	pthread_rwlock_wrlock(rw);
	expect(elsewhere(f, rw) == EBUSY);
	return NULL;
}

static const char *test_rwlock_timedrdlock(rwlock_timedrdlock_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	expect(f(rw, &past) == 0);
	expect(elsewhere(pthread_rwlock_trywrlock, rw) == EBUSY);
	return NULL;
}

static const char *test_rwlock_clockrdlock(rwlock_clockrdlock_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	expect(f(rw, CLOCK_REALTIME, &past) == 0);
	expect(elsewhere(pthread_rwlock_trywrlock, rw) == EBUSY);
	expect(f(rw, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
	return NULL;
}

static const char *test_rwlock_wrlock(rwlock_wrlock_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	expect(f(rw) == 0);
	expect(elsewhere(pthread_rwlock_tryrdlock, rw) == EBUSY);
	return NULL;
}

static const char *test_rwlock_trywrlock(rwlock_trywrlock_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	expect(f(rw) == 0);
	expect(elsewhere(f, rw) == EBUSY);
	return NULL;
}

static const char *test_rwlock_timedwrlock(rwlock_timedwrlock_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	expect(f(rw, &past) == 0);
	expect(elsewhere(pthread_rwlock_tryrdlock, rw) == EBUSY);
	return NULL;
}

static const char *test_rwlock_clockwrlock(rwlock_clockwrlock_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	expect(f(rw, CLOCK_MONOTONIC, &past) == 0);
	expect(elsewhere(pthread_rwlock_tryrdlock, rw) == EBUSY);
	expect(f(rw, CLOCK_PROCESS_CPUTIME_ID, &past) == EINVAL);
	return NULL;
}

static const char *test_rwlock_unlock(rwlock_unlock_fn f)
{
	pthread_rwlock_t *rw = new_rwlock();

	pthread_rwlock_wrlock(rw);
	expect(f(rw) == 0);
	expect(elsewhere(pthread_rwlock_trywrlock, rw) == 0);
	return NULL;
}

static const char *test_spin_init(spin_init_fn f)
{
	pthread_spinlock_t *s = calloc(1, CACHE_LINE_BYTES);

	expect(f(s, PTHREAD_PROCESS_PRIVATE) == 0);
	expect(pthread_spin_lock(s) == 0);
	return NULL;
}

static const char *test_spin_destroy(spin_destroy_fn f)
{
	pthread_spinlock_t *s = new_spin();

	pthread_spin_lock(s);
	pthread_spin_unlock(s);
	expect(f(s) == 0);
	pthread_spin_lock(s);
	return NULL;
}

static const char *test_spin_lock(spin_lock_fn f)
{
	pthread_spinlock_t *s = new_spin();

	expect(f(s) == 0);
	expect(elsewhere(pthread_spin_trylock, (void *)s) == EBUSY);
	return NULL;
}

static const char *test_spin_trylock(spin_trylock_fn f)
{
	pthread_spinlock_t *s = new_spin();

	expect(f(s) == 0);
	expect(f(s) == EBUSY);
	return NULL;
}

static const char *test_spin_unlock(spin_unlock_fn f)
{
	pthread_spinlock_t *s = new_spin();

	pthread_spin_lock(s);
	expect(f(s) == 0);
	expect(elsewhere(pthread_spin_trylock, (void *)s) == 0);
	return NULL;
}

/* Somebody who wakes the waiter, by the functions of the waiter's own version. */
struct waiter {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	int (*signal)(pthread_cond_t *);
	volatile int ready;
	int called;
};

static void *wake(void *arg)
{
	struct waiter *w = arg;

	/* Seldom, so as not to disturb the section that sets it. */
	while (!w->ready)
		usleep(2000);
	pthread_mutex_lock(&w->mutex);
	w->called = 1;
	w->signal(&w->cond);
	pthread_mutex_unlock(&w->mutex);
	return NULL;
}

static const char *wait_for_signal(cond_wait_fn f, const char *version)
{
	static struct waiter zero;
	struct waiter *w = malloc(sizeof(*w));
	pthread_t thread;

	*w = zero;
	w->signal = (int (*)(pthread_cond_t *))dlvsym(RTLD_DEFAULT, "pthread_cond_signal", version);
	expect(w->signal);
	expect(!pthread_create(&thread, NULL, wake, w));
	pthread_mutex_lock(&w->mutex);
	w->ready = 1;
	while (!w->called)
		expect(f(&w->cond, &w->mutex) == 0);
	expect(pthread_mutex_unlock(&w->mutex) == 0);
	pthread_join(thread, NULL);
	return NULL;
}

static const char *test_cond_wait(cond_wait_fn f)
{
	return wait_for_signal(f, "GLIBC_2.3.2");
}

static const char *test_cond_wait_old(cond_wait_old_fn f)
{
	return wait_for_signal(f, "GLIBC_2.2.5");
}

static const char *test_cond_timedwait(cond_timedwait_fn f)
{
	pthread_cond_t *c = calloc(1, sizeof(*c));
	pthread_mutex_t *m = new_mutex();

	pthread_mutex_lock(m);
	expect(f(c, m, &past) == ETIMEDOUT);
	/* It is locked again. */
	expect(elsewhere(pthread_mutex_trylock, m) == EBUSY);
	expect(pthread_mutex_unlock(m) == 0);
	return NULL;
}

static const char *test_cond_timedwait_old(cond_timedwait_old_fn f)
{
	return test_cond_timedwait(f);
}

static const char *test_cond_clockwait(cond_clockwait_fn f)
{
	pthread_cond_t *c = calloc(1, sizeof(*c));
	pthread_mutex_t *m = new_mutex();

	pthread_mutex_lock(m);
	expect(f(c, m, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
	expect(elsewhere(pthread_mutex_trylock, m) == EBUSY);
	return NULL;
}

/* Initialised by @init, or zeroed: a condition variable that times out. */
static const char *cond_works(pthread_cond_t *c, int (*timed)(pthread_cond_t *c, pthread_mutex_t *m,
							      const struct timespec *until))
{
	pthread_mutex_t *m = new_mutex();

	pthread_mutex_lock(m);
	expect(timed && timed(c, m, &past) == ETIMEDOUT);
	expect(pthread_mutex_unlock(m) == 0);
	return NULL;
}

static cond_timedwait_fn cond_timed(const char *version)
{
	return (cond_timedwait_fn)dlvsym(RTLD_DEFAULT, "pthread_cond_timedwait", version);
}

static const char *test_cond_init(cond_init_fn f)
{
	pthread_cond_t *c = malloc(sizeof(*c));

	memset(c, 0xff, sizeof(*c));
	expect(f(c, NULL) == 0);
	return cond_works(c, cond_timed("GLIBC_2.3.2"));
}

static const char *test_cond_init_old(cond_init_old_fn f)
{
	pthread_cond_t *c = malloc(sizeof(*c));

	memset(c, 0xff, sizeof(*c));
	expect(f(c, NULL) == 0);
	return cond_works(c, cond_timed("GLIBC_2.2.5"));
}

/* Waited for before it is destroyed and after: two of them. */
static const char *destroy_cond(cond_destroy_fn f, const char *version)
{
	pthread_cond_t *c = calloc(1, sizeof(*c));

	expect(!cond_works(c, cond_timed(version)));
	expect(f(c) == 0);
	memset(c, 0, sizeof(*c));
	return cond_works(c, cond_timed(version));
}

static const char *test_cond_destroy(cond_destroy_fn f)
{
	return destroy_cond(f, "GLIBC_2.3.2");
}

static const char *test_cond_destroy_old(cond_destroy_old_fn f)
{
	return destroy_cond(f, "GLIBC_2.2.5");
}

/* Somebody who waits, and whom @wake wakes. */
struct sleeper {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	cond_wait_fn wait;
	int waits;
	int woken;
};

static void *sleep_until_woken(void *arg)
{
	struct sleeper *s = arg;

	pthread_mutex_lock(&s->mutex);
	s->waits = 1;
	while (!s->woken)
		s->wait(&s->cond, &s->mutex);
	pthread_mutex_unlock(&s->mutex);
	return NULL;
}

static const char *wake_by(int (*f)(pthread_cond_t *c), cond_wait_fn wait)
{
	struct sleeper *s = calloc(1, sizeof(*s));
	pthread_t thread;
	int err, waits = 0;

	s->wait = wait;
	expect(wait);
	expect(!pthread_create(&thread, NULL, sleep_until_woken, s));
	while (!waits) {
		usleep(2000);
		pthread_mutex_lock(&s->mutex);
		waits = s->woken = s->waits;
		pthread_mutex_unlock(&s->mutex);
	}
	err = f(&s->cond);
	pthread_join(thread, NULL);
	expect(err == 0);
	return NULL;
}

static cond_wait_fn cond_waits(const char *version)
{
	return (cond_wait_fn)dlvsym(RTLD_DEFAULT, "pthread_cond_wait", version);
}

static const char *test_cond_signal(cond_signal_fn f)
{
	return wake_by(f, cond_waits("GLIBC_2.3.2"));
}

static const char *test_cond_broadcast(cond_broadcast_fn f)
{
	return wake_by(f, cond_waits("GLIBC_2.3.2"));
}

static const char *test_cond_signal_old(cond_signal_old_fn f)
{
	return wake_by(f, cond_waits("GLIBC_2.2.5"));
}

static const char *test_cond_broadcast_old(cond_broadcast_old_fn f)
{
	return wake_by(f, cond_waits("GLIBC_2.2.5"));
}

static sem_t *new_sem(unsigned int value)
{
	sem_t *s = calloc(1, sizeof(*s));

	sem_init(s, 0, value);
	return s;
}

static const char *test_sem_init(sem_init_fn f)
{
	sem_t *s = malloc(sizeof(*s));

	expect(f(s, 0, 1) == 0);
	expect(sem_wait(s) == 0);
	return NULL;
}

static const char *test_sem_destroy(sem_destroy_fn f)
{
	sem_t *s = new_sem(1);

	expect(sem_wait(s) == 0);
	expect(f(s) == 0);
	sem_init(s, 0, 1);
	expect(sem_wait(s) == 0);
	return NULL;
}

static const char *test_sem_wait(sem_wait_fn f)
{
	sem_t *s = new_sem(1);

	expect(f(s) == 0);
	expect(sem_trywait(s) == -1 && errno == EAGAIN);
	return NULL;
}

static const char *test_sem_trywait(sem_trywait_fn f)
{
	sem_t *s = new_sem(1);

	expect(f(s) == 0);
	expect(f(s) == -1 && errno == EAGAIN);
	return NULL;
}

static const char *test_sem_timedwait(sem_timedwait_fn f)
{
	sem_t *s = new_sem(1);

	expect(f(s, &past) == 0);
	expect(f(s, &past) == -1 && errno == ETIMEDOUT);
	return NULL;
}

static const char *test_sem_clockwait(sem_clockwait_fn f)
{
	sem_t *s = new_sem(1);

	expect(f(s, CLOCK_MONOTONIC, &past) == 0);
	expect(f(s, CLOCK_MONOTONIC, &past) == -1 && errno == ETIMEDOUT);
	return NULL;
}

static void *wait_sem(void *s)
{
	sem_wait(s);
	return NULL;
}

static const char *test_sem_post(sem_post_fn f)
{
	sem_t *s = new_sem(0);
	pthread_t thread;
	int err;

	expect(!pthread_create(&thread, NULL, wait_sem, s));
	usleep(20000);
	err = f(s);
	pthread_join(thread, NULL);
	expect(err == 0);
	return NULL;
}

static const char *test_barrier_init(barrier_init_fn f)
{
	pthread_barrier_t *b = malloc(sizeof(*b));

	expect(f(b, NULL, 0) == EINVAL);
	expect(f(b, NULL, 1) == 0);
	expect(pthread_barrier_wait(b) == PTHREAD_BARRIER_SERIAL_THREAD);
	return NULL;
}

static const char *test_barrier_destroy(barrier_destroy_fn f)
{
	pthread_barrier_t *b = malloc(sizeof(*b));

	for (int i = 0; i < 2; i++) {
		pthread_barrier_init(b, NULL, 1);
		expect(pthread_barrier_wait(b) == PTHREAD_BARRIER_SERIAL_THREAD);
		expect(f(b) == 0);
	}
	return NULL;
}

static void *arrive(void *b)
{
	pthread_barrier_wait(b);
	return NULL;
}

static const char *test_barrier_wait(barrier_wait_fn f)
{
	pthread_barrier_t *b = malloc(sizeof(*b));
	pthread_t thread;
	int err;

	pthread_barrier_init(b, NULL, 2);
	expect(!pthread_create(&thread, NULL, arrive, b));
	usleep(20000);
	err = f(b);
	pthread_join(thread, NULL);
	expect(err == 0 || err == PTHREAD_BARRIER_SERIAL_THREAD);
	return NULL;
}

static mtx_t *new_mtx(void)
{
	return calloc(1, sizeof(mtx_t));
}

static const char *test_mtx_init(mtx_init_fn f)
{
	mtx_t *m = malloc(sizeof(*m));

	memset(m, 0xff, sizeof(*m));
	expect(f(m, mtx_plain) == thrd_success);
	expect(mtx_lock(m) == thrd_success);
	return NULL;
}

static const char *test_mtx_destroy(mtx_destroy_fn f)
{
	mtx_t *m = new_mtx();

	mtx_lock(m);
	mtx_unlock(m);
	f(m);
	memset(m, 0, sizeof(*m));
	mtx_lock(m);
	return NULL;
}

static const char *test_mtx_lock(mtx_lock_fn f)
{
	mtx_t *m = new_mtx();

	expect(f(m) == thrd_success);
	expect(elsewhere(mtx_trylock, m) == thrd_busy);
	return NULL;
}

static const char *test_mtx_trylock(mtx_trylock_fn f)
{
	mtx_t *m = new_mtx();

	expect(f(m) == thrd_success);
	expect(f(m) == thrd_busy);
	return NULL;
}

static const char *test_mtx_timedlock(mtx_timedlock_fn f)
{
	mtx_t *m = new_mtx();

	expect(f(m, &past) == thrd_success);
	expect(f(m, &past) == thrd_timedout);
	return NULL;
}

static const char *test_mtx_unlock(mtx_unlock_fn f)
{
	mtx_t *m = new_mtx();

	mtx_lock(m);
	expect(f(m) == thrd_success);
	expect(elsewhere(mtx_trylock, m) == thrd_success);
	return NULL;
}

static const char *test_cnd_wait(cnd_wait_fn f)
{
	/* cnd_t and mtx_t are glibc's condition variable and mutex under other names. */
	return wait_for_signal((cond_wait_fn)(void *)f, "GLIBC_2.3.2");
}

static const char *test_cnd_timedwait(cnd_timedwait_fn f)
{
	cnd_t *c = calloc(1, sizeof(*c));
	mtx_t *m = new_mtx();

	mtx_lock(m);
	expect(f(c, m, &past) == thrd_timedout);
	expect(elsewhere(mtx_trylock, m) == thrd_busy);
	return NULL;
}

static const char *test_cnd_init(cnd_init_fn f)
{
	cnd_t *c = malloc(sizeof(*c));

	memset(c, 0xff, sizeof(*c));
	expect(f(c) == thrd_success);
	return cond_works((pthread_cond_t *)c, cond_timed("GLIBC_2.3.2"));
}

static const char *test_cnd_destroy(cnd_destroy_fn f)
{
	pthread_cond_t *c = calloc(1, sizeof(*c));

	expect(!cond_works(c, cond_timed("GLIBC_2.3.2")));
	f((cnd_t *)c);
	memset(c, 0, sizeof(*c));
	return cond_works(c, cond_timed("GLIBC_2.3.2"));
}

static const char *test_cnd_signal(cnd_signal_fn f)
{
	return wake_by((int (*)(pthread_cond_t *))(void *)f, cond_waits("GLIBC_2.3.2"));
}

static const char *test_cnd_broadcast(cnd_broadcast_fn f)
{
	return wake_by((int (*)(pthread_cond_t *))(void *)f, cond_waits("GLIBC_2.3.2"));
}

/* A thread that ends with its lock held, which is found when it is joined. */
static void *end_holding(void *m)
{
	pthread_mutex_lock(m);
	return m;
}

static int end_holding_c11(void *m)
{
	pthread_mutex_lock(m);
	return 3;
}

static const char *test_join(join_fn f)
{
	pthread_mutex_t *m = new_mutex();
	pthread_t thread;
	void *value;

	pthread_create(&thread, NULL, end_holding, m);
	expect(f(thread, &value) == 0);
	expect(value == m);
	return NULL;
}

static const char *test_tryjoin(tryjoin_fn f)
{
	pthread_mutex_t *m = new_mutex();
	pthread_t thread;
	void *value;
	int err;

	pthread_create(&thread, NULL, end_holding, m);
	do
		err = f(thread, &value);
	while (err == EBUSY);
	expect(err == 0);
	expect(value == m);
	return NULL;
}

static const char *test_timedjoin(timedjoin_fn f)
{
	const struct timespec far = {.tv_sec = INT32_MAX};
	pthread_mutex_t *m = new_mutex();
	pthread_t thread;
	void *value;

	pthread_create(&thread, NULL, end_holding, m);
	expect(f(thread, &value, &far) == 0);
	expect(value == m);
	return NULL;
}

static const char *test_clockjoin(clockjoin_fn f)
{
	const struct timespec far = {.tv_sec = INT32_MAX};
	pthread_mutex_t *m = new_mutex();
	pthread_t thread;
	void *value;

	pthread_create(&thread, NULL, end_holding, m);
	expect(f(thread, &value, CLOCK_MONOTONIC, &far) == 0);
	expect(value == m);
	return NULL;
}

static const char *test_setuid(setuid_fn f)
{
	expect(f(getuid()) == 0);
	return NULL;
}

static const char *test_seteuid(seteuid_fn f)
{
	expect(f(geteuid()) == 0);
	return NULL;
}

static const char *test_setreuid(setreuid_fn f)
{
	expect(f(getuid(), geteuid()) == 0);
	return NULL;
}

static const char *test_setresuid(setresuid_fn f)
{
	expect(f(getuid(), geteuid(), geteuid()) == 0);
	return NULL;
}

static const char *test_chroot(chroot_fn f)
{
	expect(f("/") == 0 || errno == EPERM);
	return NULL;
}

static const char *test_thrd_join(thrd_join_fn f)
{
	pthread_mutex_t *m = new_mutex();
	thrd_t thread;
	int value;

	expect(thrd_create(&thread, end_holding_c11, m) == thrd_success);
	expect(f(thread, &value) == thrd_success);
	expect(value == 3);
	return NULL;
}

/**
 * struct test - what a row of symbols.def is tested with.
 * @run:      given the function under test
 * @acquired: acquisitions that @run makes
 * @locks:    locks that become known by it
 * @ends:     a thread ends holding a lock: a misuse
 * @waits:    it waits on a condition variable: an elided section must give that as its cause
 * @calls:    calls of @kind that succeed or fail, at least
 * @objects:  condition variables, semaphores and barriers that become known by it
 * @wakes:    it ends a wait, and that is known
 */
struct test {
	const char *(*run)(void *f);
	int acquired;
	int locks;
	int ends;
	int waits;
	enum elide_kind kind;
	int calls;
	int objects;
	int wakes;
};

/* @nr calls of kind @of; acquisitions and locks are those of mutexes. */
#define CALLS(id, nr_acquired, nr_locks, of, nr, nr_objects, nr_wakes, in_cond)         \
	[SYMBOL_##id] = {.run = (const char *(*)(void *))(void *)test_##id,             \
			 .acquired = nr_acquired, .locks = nr_locks, .waits = in_cond,  \
			 .kind = ELIDE_KIND_##of, .calls = nr, .objects = nr_objects,   \
			 .wakes = nr_wakes}
/* The acquisitions depend on how often a thread looks whether another waits already. */
#define ANY (-1)

#define TEST(id, ...)  ROW(id, __VA_ARGS__, 0, 0)
#define ENDS(id, ...)  ROW(id, __VA_ARGS__, 1, 0)
#define ROW(id, nr_acquired, nr_locks, nr_ends, in_cond)                                \
	[SYMBOL_##id] = {.run = (const char *(*)(void *))(void *)test_##id,             \
			 .acquired = nr_acquired, .locks = nr_locks, .ends = nr_ends, \
			 .waits = in_cond}

static const struct test tests[] = {
	TEST(mutex_init, 1, 1), TEST(mutex_destroy, 2, 2), TEST(mutex_lock, 1, 1),
	TEST(mutex_trylock, 1, 1), TEST(mutex_timedlock, 1, 1), TEST(mutex_clocklock, 1, 1),
	TEST(mutex_unlock, 2, 1),
	TEST(rwlock_init, 1, 1), TEST(rwlock_destroy, 2, 2), TEST(rwlock_rdlock, 1, 1),
	TEST(rwlock_tryrdlock, 2, 1), TEST(rwlock_timedrdlock, 1, 1),
	TEST(rwlock_clockrdlock, 1, 1), TEST(rwlock_wrlock, 1, 1), TEST(rwlock_trywrlock, 1, 1),
	TEST(rwlock_timedwrlock, 1, 1), TEST(rwlock_clockwrlock, 1, 1), TEST(rwlock_unlock, 2, 1),
	TEST(spin_init, 1, 1), TEST(spin_destroy, 2, 2), TEST(spin_lock, 1, 1),
	TEST(spin_trylock, 1, 1), TEST(spin_unlock, 2, 1),
	CALLS(cond_wait, 2, 1, COND, 1, 1, 0, 1), CALLS(cond_timedwait, 1, 1, COND, 1, 1, 0, 1),
	CALLS(cond_wait_old, 2, 1, COND, 1, 1, 0, 1),
	CALLS(cond_timedwait_old, 1, 1, COND, 1, 1, 0, 1),
	CALLS(cond_clockwait, 1, 1, COND, 1, 1, 0, 1),
	CALLS(cond_init, 1, 1, COND, 1, 1, 0, 0), CALLS(cond_init_old, 1, 1, COND, 1, 1, 0, 0),
	CALLS(cond_destroy, 2, 2, COND, 2, 2, 0, 0), CALLS(cond_destroy_old, 2, 2, COND, 2, 2, 0, 0),
	CALLS(cond_signal, ANY, 1, COND, 1, 1, 1, 0), CALLS(cond_broadcast, ANY, 1, COND, 1, 1, 1, 0),
	CALLS(cond_signal_old, ANY, 1, COND, 1, 1, 1, 0),
	CALLS(cond_broadcast_old, ANY, 1, COND, 1, 1, 1, 0),
	CALLS(sem_init, 0, 0, SEM, 1, 1, 0, 0), CALLS(sem_destroy, 0, 0, SEM, 2, 2, 0, 0),
	CALLS(sem_wait, 0, 0, SEM, 2, 1, 0, 0), CALLS(sem_trywait, 0, 0, SEM, 2, 1, 0, 0),
	CALLS(sem_timedwait, 0, 0, SEM, 2, 1, 0, 0), CALLS(sem_clockwait, 0, 0, SEM, 2, 1, 0, 0),
	CALLS(sem_post, 0, 0, SEM, 1, 1, 1, 0),
	CALLS(barrier_init, 0, 0, BARRIER, 1, 1, 0, 0),
	CALLS(barrier_destroy, 0, 0, BARRIER, 2, 2, 0, 0),
	CALLS(barrier_wait, 0, 0, BARRIER, 2, 1, 1, 0),
	TEST(mtx_init, 1, 1), TEST(mtx_destroy, 2, 2), TEST(mtx_lock, 1, 1), TEST(mtx_trylock, 1, 1),
	TEST(mtx_timedlock, 1, 1), TEST(mtx_unlock, 2, 1), CALLS(cnd_wait, 2, 1, COND, 1, 1, 0, 1),
	CALLS(cnd_timedwait, 1, 1, COND, 1, 1, 0, 1), CALLS(cnd_init, 1, 1, COND, 1, 1, 0, 0),
	CALLS(cnd_destroy, 2, 2, COND, 2, 2, 0, 0), CALLS(cnd_signal, ANY, 1, COND, 1, 1, 1, 0),
	CALLS(cnd_broadcast, ANY, 1, COND, 1, 1, 1, 0),
	ENDS(join, 1, 1), ENDS(tryjoin, 1, 1), ENDS(timedjoin, 1, 1), ENDS(clockjoin, 1, 1),
	ENDS(thrd_join, 1, 1),
	TEST(setuid, 0, 0), TEST(seteuid, 0, 0), TEST(setreuid, 0, 0), TEST(setresuid, 0, 0),
	TEST(chroot, 0, 0),
};

_Static_assert(sizeof(tests) / sizeof(*tests) == NR_SYMBOLS, "the last rows of symbols.def have no test");

static const struct row {
	const char *symbol, *version;
	enum symbol test;
} rows[] = {
#define ELIDE_SYMBOL(id, symbol, version, result, parameters, arguments) \
	{#symbol, version, SYMBOL_##id},
#define ELIDE_ALIAS(symbol, id) {#symbol, "", SYMBOL_##id},
#include "../../preload/symbols.def"
#undef ELIDE_SYMBOL
#undef ELIDE_ALIAS
};

/* The calls of a kind that have ended, one way or the other. */
static unsigned long nr_calls(const struct sums *s, enum elide_kind kind)
{
	return s->waits[kind].not_attempted + s->waits[kind].failed;
}

/* What is wrong with the trace of a call that waits or ends a wait; NULL if nothing. */
static const char *wrong_waits(const struct test *test, const struct sums *before,
			       const struct sums *after)
{
	if (test->kind && nr_calls(after, test->kind) < nr_calls(before, test->kind) + test->calls)
		return "its calls are not counted";
	if (after->nr_objects - before->nr_objects != (unsigned long)test->objects)
		return "another number of condition variables, semaphores or barriers";
	if (test->wakes && after->nr_woken <= before->nr_woken)
		return "it is not known that it ended the wait";
	return NULL;
}

static const char *try_row(const struct row *row, const char *data, bool off)
{
	void *f = *row->version ? dlvsym(RTLD_DEFAULT, row->symbol, row->version) :
				  dlsym(RTLD_DEFAULT, row->symbol);
	const struct test *test = &tests[row->test];
	struct sums before, after;
	const char *wrong;
	static char text[160];
	Dl_info info;

	if (off && (!f || !dladdr(f, &info) || strstr(info.dli_fname, "libelide-preload")))
		return "leads to the library";
	if (!f)
		return data ? "not found" : NULL; /* plain glibc need not export every alias */
	if (!test->run)
		return "symbols.def has a row without a test";
	if (!data)
		return test->run(f);
	if (!dladdr(f, &info) || !strstr(info.dli_fname, "libelide-preload"))
		return "does not lead to the library";
	if (!sum_file(data, &before))
		return "no data file";
	wrong = test->run(f);
	if (wrong)
		return wrong;
	sum_file(data, &after);
	if (after.bad)
		return "rows do not add up";
	/* A lock is counted when it is released at the latest; some are left locked in an open
	 * section, which the end of the test or the look at the file above has aborted.
	 */
	if ((test->acquired != ANY && (int)(elide_row_acquired(&after.all) -
					    elide_row_acquired(&before.all)) != test->acquired) ||
	    (int)(after.nr_locks - before.nr_locks) != test->locks) {
		snprintf(text, sizeof(text), "%ld acquisitions and %ld new locks, not %d and %d",
			 (long)(elide_row_acquired(&after.all) - elide_row_acquired(&before.all)),
			 (long)(after.nr_locks - before.nr_locks), test->acquired, test->locks);
		return text;
	}
	if (test->ends && after.misuse[ELIDE_MISUSE_EXIT_HELD] !=
				  before.misuse[ELIDE_MISUSE_EXIT_HELD] + test->ends)
		return "a lock left held was not found when its thread was joined";
	if (test->waits && after.header.mode == ELIDE_RUN_ELIDE &&
	    after.all.causes[ELIDE_CAUSE_cond_wait] == before.all.causes[ELIDE_CAUSE_cond_wait])
		return "an elided section waited";
	return wrong_waits(test, &before, &after);
}

int main(int argc, char **argv)
{
	bool off = argc > 1 && !strcmp(argv[1], "off");
	const char *data = argc > 1 && !off && strcmp(argv[1], "plain") ? argv[1] : NULL;
	pthread_mutex_t *first = new_mutex();
	int failed = 0;
	Dl_info info;

	/* Makes the data file. */
	pthread_mutex_lock(first);
	pthread_mutex_unlock(first);
	/* As this program was bound when it was loaded. */
	if (off && (!dladdr((void *)pthread_mutex_lock, &info) ||
		    strstr(info.dli_fname, "libelide-preload"))) {
		puts("not ok bound to the library");
		failed++;
	}
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *wrong = try_row(&rows[i], data, off);

		failed += wrong != NULL;
		printf("%s %s%s%s%s%s\n", wrong ? "not ok" : "ok", rows[i].symbol,
		       *rows[i].version ? "@" : "", rows[i].version, wrong ? ": " : "",
		       wrong ? wrong : "");
	}
	return failed != 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* waits.c - condition variables in both versions and of C11, semaphores, barriers. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "symbols.h"

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

const char *test_cond_wait(cond_wait_fn f)
{
	return wait_for_signal(f, "GLIBC_2.3.2");
}

const char *test_cond_wait_old(cond_wait_old_fn f)
{
	return wait_for_signal(f, "GLIBC_2.2.5");
}

const char *test_cond_timedwait(cond_timedwait_fn f)
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

const char *test_cond_timedwait_old(cond_timedwait_old_fn f)
{
	return test_cond_timedwait(f);
}

const char *test_cond_clockwait(cond_clockwait_fn f)
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

const char *test_cond_init(cond_init_fn f)
{
	pthread_cond_t *c = malloc(sizeof(*c));

	memset(c, 0xff, sizeof(*c));
	expect(f(c, NULL) == 0);
	return cond_works(c, cond_timed("GLIBC_2.3.2"));
}

const char *test_cond_init_old(cond_init_old_fn f)
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

const char *test_cond_destroy(cond_destroy_fn f)
{
	return destroy_cond(f, "GLIBC_2.3.2");
}

const char *test_cond_destroy_old(cond_destroy_old_fn f)
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

const char *test_cond_signal(cond_signal_fn f)
{
	return wake_by(f, cond_waits("GLIBC_2.3.2"));
}

const char *test_cond_broadcast(cond_broadcast_fn f)
{
	return wake_by(f, cond_waits("GLIBC_2.3.2"));
}

const char *test_cond_signal_old(cond_signal_old_fn f)
{
	return wake_by(f, cond_waits("GLIBC_2.2.5"));
}

const char *test_cond_broadcast_old(cond_broadcast_old_fn f)
{
	return wake_by(f, cond_waits("GLIBC_2.2.5"));
}

static sem_t *new_sem(unsigned int value)
{
	sem_t *s = calloc(1, sizeof(*s));

	sem_init(s, 0, value);
	return s;
}

const char *test_sem_init(sem_init_fn f)
{
	sem_t *s = malloc(sizeof(*s));

	expect(f(s, 0, 1) == 0);
	expect(sem_wait(s) == 0);
	return NULL;
}

const char *test_sem_destroy(sem_destroy_fn f)
{
	sem_t *s = new_sem(1);

	expect(sem_wait(s) == 0);
	expect(f(s) == 0);
	sem_init(s, 0, 1);
	expect(sem_wait(s) == 0);
	return NULL;
}

const char *test_sem_wait(sem_wait_fn f)
{
	sem_t *s = new_sem(1);

	expect(f(s) == 0);
	expect(sem_trywait(s) == -1 && errno == EAGAIN);
	return NULL;
}

const char *test_sem_trywait(sem_trywait_fn f)
{
	sem_t *s = new_sem(1);

	expect(f(s) == 0);
	expect(f(s) == -1 && errno == EAGAIN);
	return NULL;
}

const char *test_sem_timedwait(sem_timedwait_fn f)
{
	sem_t *s = new_sem(1);

	expect(f(s, &past) == 0);
	expect(f(s, &past) == -1 && errno == ETIMEDOUT);
	return NULL;
}

const char *test_sem_clockwait(sem_clockwait_fn f)
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

const char *test_sem_post(sem_post_fn f)
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

const char *test_barrier_init(barrier_init_fn f)
{
	pthread_barrier_t *b = malloc(sizeof(*b));

	expect(f(b, NULL, 0) == EINVAL);
	expect(f(b, NULL, 1) == 0);
	expect(pthread_barrier_wait(b) == PTHREAD_BARRIER_SERIAL_THREAD);
	return NULL;
}

const char *test_barrier_destroy(barrier_destroy_fn f)
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

const char *test_barrier_wait(barrier_wait_fn f)
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

const char *test_cnd_wait(cnd_wait_fn f)
{
	/* cnd_t and mtx_t are glibc's condition variable and mutex under other names. */
	return wait_for_signal((cond_wait_fn)(void *)f, "GLIBC_2.3.2");
}

const char *test_cnd_timedwait(cnd_timedwait_fn f)
{
	cnd_t *c = calloc(1, sizeof(*c));
	mtx_t *m = new_mtx();

	mtx_lock(m);
	expect(f(c, m, &past) == thrd_timedout);
	expect(elsewhere(mtx_trylock, m) == thrd_busy);
	return NULL;
}

const char *test_cnd_init(cnd_init_fn f)
{
	cnd_t *c = malloc(sizeof(*c));

	memset(c, 0xff, sizeof(*c));
	expect(f(c) == thrd_success);
	return cond_works((pthread_cond_t *)c, cond_timed("GLIBC_2.3.2"));
}

const char *test_cnd_destroy(cnd_destroy_fn f)
{
	pthread_cond_t *c = calloc(1, sizeof(*c));

	expect(!cond_works(c, cond_timed("GLIBC_2.3.2")));
	f((cnd_t *)c);
	memset(c, 0, sizeof(*c));
	return cond_works(c, cond_timed("GLIBC_2.3.2"));
}

const char *test_cnd_signal(cnd_signal_fn f)
{
	return wake_by((int (*)(pthread_cond_t *))(void *)f, cond_waits("GLIBC_2.3.2"));
}

const char *test_cnd_broadcast(cnd_broadcast_fn f)
{
	return wake_by((int (*)(pthread_cond_t *))(void *)f, cond_waits("GLIBC_2.3.2"));
}

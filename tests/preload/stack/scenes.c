/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scenes.c - see scenes.h.
 *
 * Each kind of lock is acquired and released by each of its calls: often, so that what is reported from
 * time to time is reported; while another thread holds the lock or waits for it; and with a system
 * call in the section, or another lock, which aborts or outlives a transaction.
 */
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../symbols/symbols.h"
#include "scenes.h"

/* Sections of a loop: with HOLD_PERIOD 64 about six have their hold time measured. */
#define MANY 400
/* Times that a thread waits: the first eight of a kind are sampled, all with ELIDE_STACKS=1. */
#define WAITS 3
/* How long it does, in us, which is less than a thread waits awake, and more. */
static const useconds_t wait_us[WAITS] = {20, 400, 3000};

static struct timespec far(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	ts.tv_sec += 1000;
	return ts;
}

/* Which arguments a call has after the lock. */
enum style { PLAIN, TIMED, CLOCK };

static int call(void *f, void *lock, enum style style)
{
	struct timespec until = far(style == CLOCK ? CLOCK_MONOTONIC : CLOCK_REALTIME);

	switch (style) {
	case PLAIN:
		return ((int (*)(void *))f)(lock);
	case TIMED:
		return ((int (*)(void *, const struct timespec *))f)(lock, &until);
	default:
		return ((int (*)(void *, clockid_t, const struct timespec *))f)(lock, CLOCK_MONOTONIC,
										&until);
	}
}

/**
 * struct kind - a kind of lock.
 * @acquire: calls that acquire it alone, or for reading, and their arguments
 * @release: the call that releases it
 * @others: acquires it, if it is not held so already
 */
static const struct kind {
	struct {
		enum row_name name;
		enum style style;
	} acquire[7];
	unsigned int nr;
	enum row_name release;
	int (*lock)(void *);
	int (*unlock)(void *);
} kinds[] = {
	{{{ROW_mutex_lock, PLAIN}, {ROW_mutex_timedlock, TIMED}, {ROW_mutex_clocklock, CLOCK},
	  {ROW_mutex_trylock, PLAIN}}, 4, ROW_mutex_unlock,
	 (int (*)(void *))pthread_mutex_lock, (int (*)(void *))pthread_mutex_unlock},
	{{{ROW_rwlock_wrlock, PLAIN}, {ROW_rwlock_timedwrlock, TIMED},
	  {ROW_rwlock_clockwrlock, CLOCK}, {ROW_rwlock_rdlock, PLAIN}, {ROW_rwlock_timedrdlock, TIMED},
	  {ROW_rwlock_clockrdlock, CLOCK}, {ROW_rwlock_trywrlock, PLAIN}}, 7, ROW_rwlock_unlock,
	 (int (*)(void *))pthread_rwlock_wrlock, (int (*)(void *))pthread_rwlock_unlock},
	{{{ROW_spin_lock, PLAIN}, {ROW_spin_trylock, PLAIN}}, 2, ROW_spin_unlock,
	 (int (*)(void *))(void *)pthread_spin_lock, (int (*)(void *))(void *)pthread_spin_unlock},
	{{{ROW_mtx_lock, PLAIN}, {ROW_mtx_timedlock, TIMED}, {ROW_mtx_trylock, PLAIN}}, 3,
	 ROW_mtx_unlock, (int (*)(void *))mtx_lock, (int (*)(void *))mtx_unlock},
};

/* A lock of its own class, as the memory of each is allocated by itself. */
static void *new_lock(const struct kind *kind)
{
	void *lock = calloc(1, 64);

	if (kind->release == ROW_spin_unlock)
		pthread_spin_init(lock, PTHREAD_PROCESS_PRIVATE);
	return lock;
}

/* Acquire by the measured call and release, and then the other way round. */
static void often(const struct kind *kind, enum row_name name, enum style style)
{
	void *lock = new_lock(kind), *inner = new_lock(kind);

	for (int i = 0; i < MANY; i++) {
		while (call(measured(name), lock, style))
			;
		if (i % 16 == 15)
			syscall(SYS_getppid);
		kind->unlock(lock);
		kind->lock(lock);
		if (i % 16 == 7) {
			call(measured(name), inner, style);
			kind->unlock(inner);
		}
		if (i % 16 == 11)
			pthread_mutex_init(new_lock(kind), NULL);
		((int (*)(void *))measured(kind->release))(lock);
	}
}

/* A thread that holds a lock for a time, or wants it. */
struct other {
	const struct kind *kind;
	void *lock;
	useconds_t us;
	volatile int ready;
};

static void *hold(void *arg)
{
	struct other *o = arg;

	o->kind->lock(o->lock);
	/* Not by an elided section, which this ends. */
	syscall(SYS_getppid);
	o->ready = 1;
	usleep(o->us);
	o->kind->unlock(o->lock);
	return NULL;
}

static void *want(void *arg)
{
	struct other *o = arg;

	o->ready = 1;
	o->kind->lock(o->lock);
	o->kind->unlock(o->lock);
	return NULL;
}

static pthread_t start(void *(*main)(void *), struct other *o)
{
	pthread_t thread;

	o->ready = 0;
	if (pthread_create(&thread, NULL, main, o))
		_exit(2);
	while (!o->ready)
		usleep(20);
	return thread;
}

static void contended(const struct kind *kind, enum row_name name, enum style style)
{
	struct other o = {kind, new_lock(kind), 0, 0};
	pthread_t thread;

	for (int i = 0; i < WAITS; i++) {
		o.us = wait_us[i];
		thread = start(hold, &o);
		while (call(measured(name), o.lock, style))
			;
		kind->unlock(o.lock);
		pthread_join(thread, NULL);
		kind->lock(o.lock);
		syscall(SYS_getppid);
		thread = start(want, &o);
		usleep(o.us);
		((int (*)(void *))measured(kind->release))(o.lock);
		pthread_join(thread, NULL);
	}
}

static void *post(void *arg)
{
	struct other *o = arg;

	o->ready = 1;
	usleep(o->us);
	sem_post(o->lock);
	return NULL;
}

static void *arrive(void *arg)
{
	struct other *o = arg;

	o->ready = 1;
	usleep(o->us);
	pthread_barrier_wait(o->lock);
	return NULL;
}

static void semaphores(enum row_name name, enum style style)
{
	sem_t *s = calloc(1, sizeof(*s));
	struct other o = {NULL, s, 0, 0};
	pthread_t thread;

	for (int i = 0; i < WAITS; i++) {
		o.us = wait_us[i];
		thread = start(post, &o);
		call(measured(name), s, style);
		pthread_join(thread, NULL);
	}
	for (int i = 0; i < MANY; i++) {
		call(measured(ROW_sem_post), s, PLAIN);
		call(measured(name), s, style);
	}
}

static void barriers(void)
{
	pthread_barrier_t *b = calloc(1, sizeof(*b));
	struct other o = {NULL, b, 0, 0};
	pthread_t thread;

	pthread_barrier_init(b, NULL, 2);
	for (int i = 0; i < WAITS; i++) {
		o.us = wait_us[i];
		thread = start(arrive, &o);
		call(measured(ROW_barrier_wait), b, PLAIN);
		pthread_join(thread, NULL);
	}
}

/* Calls that a correct program does not make, and that glibc refuses. */
static void misuses(void)
{
	pthread_mutex_t *m = new_mutex();
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(m, &attr);
	call(measured(ROW_mutex_unlock), m, PLAIN);
	call(measured(ROW_mutex_lock), m, PLAIN);
	call(measured(ROW_mutex_lock), m, PLAIN);
	elsewhere(measured(ROW_mutex_unlock), m);
	call(measured(ROW_mutex_destroy), m, PLAIN);
	call(measured(ROW_mutex_unlock), m, PLAIN);
}

/* Each order of two locks is one that a deadlock may come of: ELIDE_ORDER=1. */
static void orders(void)
{
	static pthread_mutex_t locks[4];

	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 4; j++) {
			if (i == j)
				continue;
			call(measured(ROW_mutex_lock), &locks[i], PLAIN);
			call(measured(ROW_mutex_lock), &locks[j], PLAIN);
			call(measured(ROW_mutex_unlock), &locks[i], PLAIN);
			call(measured(ROW_mutex_unlock), &locks[j], PLAIN);
		}
}

static void heap(void)
{
	static void *volatile keep;
	void *p;

	for (size_t size = 8; size < 1 << 20; size *= 8) {
		p = ((void *(*)(size_t))measured(ROW_malloc))(size);
		keep = p;
		p = ((void *(*)(void *, size_t))measured(ROW_realloc))(p, 2 * size);
		((void (*)(void *))measured(ROW_free))(p);
		free(((void *(*)(size_t, size_t))measured(ROW_calloc))(2, size));
		free(((void *(*)(size_t, size_t))measured(ROW_memalign))(64, size));
		free(((void *(*)(size_t, size_t))measured(ROW_aligned_alloc))(64, size));
		if (!((int (*)(void **, size_t, size_t))measured(ROW_posix_memalign))(&p, 64, size))
			free(p);
		free(((void *(*)(size_t))measured(ROW_valloc))(size));
		free(((void *(*)(size_t))measured(ROW_pvalloc))(size));
	}
	(void)keep;
}

void scenes(void)
{
	for (const struct kind *k = kinds; k < kinds + sizeof(kinds) / sizeof(*kinds); k++)
		for (unsigned int i = 0; i < k->nr; i++) {
			often(k, k->acquire[i].name, k->acquire[i].style);
			contended(k, k->acquire[i].name, k->acquire[i].style);
		}
	semaphores(ROW_sem_wait, PLAIN);
	semaphores(ROW_sem_timedwait, TIMED);
	semaphores(ROW_sem_clockwait, CLOCK);
	barriers();
	misuses();
	orders();
	heap();
}

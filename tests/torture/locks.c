/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locks.c - every kind of lock in every mode, called in three ways.
 *
 * Each call is made by a function of its own, since a call site is what the
 * library's rules and counters go by: on_NAME and off_NAME are the same code
 * under two names, past_NAME calls what libc exports.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "torture.h"

/* X(name, function, lock's type) by shape of the parameters. */
#define LOCK_CALLS(X)                                              \
	X(mutex_lock, pthread_mutex_lock)                          \
	X(mutex_trylock, pthread_mutex_trylock)                    \
	X(mutex_unlock, pthread_mutex_unlock)                      \
	X(rwlock_rdlock, pthread_rwlock_rdlock)                    \
	X(rwlock_tryrdlock, pthread_rwlock_tryrdlock)              \
	X(rwlock_wrlock, pthread_rwlock_wrlock)                    \
	X(rwlock_trywrlock, pthread_rwlock_trywrlock)              \
	X(rwlock_unlock, pthread_rwlock_unlock)                    \
	X(spin_lock, pthread_spin_lock)                            \
	X(spin_trylock, pthread_spin_trylock)                      \
	X(spin_unlock, pthread_spin_unlock)                        \
	X(mtx_lock, mtx_lock)                                      \
	X(mtx_trylock, mtx_trylock)                                \
	X(mtx_unlock, mtx_unlock)
#define TIMED_CALLS(X)                                             \
	X(mutex_timedlock, pthread_mutex_timedlock)                \
	X(rwlock_timedrdlock, pthread_rwlock_timedrdlock)          \
	X(rwlock_timedwrlock, pthread_rwlock_timedwrlock)          \
	X(mtx_timedlock, mtx_timedlock)
#define CLOCK_CALLS(X)                                             \
	X(mutex_clocklock, pthread_mutex_clocklock)                \
	X(rwlock_clockrdlock, pthread_rwlock_clockrdlock)          \
	X(rwlock_clockwrlock, pthread_rwlock_clockwrlock)

/* The barrier keeps the call from becoming a jump, whose site would be our caller. */
#define DEFINE(way, name, function, parameters, arguments)             \
	static __noinline int way##_##name parameters                  \
	{                                                              \
		int err = function arguments;                          \
									\
		barrier();                                             \
		return err;                                            \
	}
#define DEFINE_ALL(name, function, parameters, arguments)              \
	static __typeof__(&function) libc_##name;                      \
	DEFINE(on, name, function, parameters, arguments)              \
	DEFINE(off, name, function, parameters, arguments)             \
	DEFINE(past, name, libc_##name, parameters, arguments)
#define LOCK_CALL(name, function) DEFINE_ALL(name, function, (void *lock), (lock))
#define TIMED_CALL(name, function) \
	DEFINE_ALL(name, function, (void *lock, const struct timespec *until), (lock, until))
#define CLOCK_CALL(name, function)                                                        \
	DEFINE_ALL(name, function, (void *lock, clockid_t clock, const struct timespec *until), \
		   (lock, clock, until))
LOCK_CALLS(LOCK_CALL)
TIMED_CALLS(TIMED_CALL)
CLOCK_CALLS(CLOCK_CALL)

/* A semaphore of one unit as a lock. Its functions answer in errno, and a handler ends their waits. */
#define SEM_CALLS(X)                                                                              \
	X(sem_wait, (void *lock), (lock))                                                         \
	X(sem_trywait, (void *lock), (lock))                                                      \
	X(sem_post, (void *lock), (lock))                                                         \
	X(sem_timedwait, (void *lock, const struct timespec *until), (lock, until))               \
	X(sem_clockwait, (void *lock, clockid_t clock, const struct timespec *until),             \
	  (lock, clock, until))
#define DEFINE_SEM(way, name, function, parameters, arguments)         \
	static __noinline int way##_##name parameters                  \
	{                                                              \
		int err;                                               \
									\
		do                                                     \
			err = function arguments ? errno : 0;          \
		while (err == EINTR);                                  \
		return err;                                            \
	}
#define SEM_CALL(name, parameters, arguments)                          \
	static __typeof__(&name) libc_##name;                          \
	DEFINE_SEM(on, name, name, parameters, arguments)              \
	DEFINE_SEM(off, name, name, parameters, arguments)             \
	DEFINE_SEM(past, name, libc_##name, parameters, arguments)
SEM_CALLS(SEM_CALL)

static void *libc_symbol(void *libc, const char *name)
{
	void *p = dlsym(libc, name);

	if (!p) {
		fprintf(stderr, "torture: no %s in libc\n", name);
		exit(2);
	}
	return p;
}

void locks_start(void)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);

	if (!libc) {
		fprintf(stderr, "torture: %s\n", dlerror());
		exit(2);
	}
#define FIND(name, function) libc_##name = libc_symbol(libc, #function);
	LOCK_CALLS(FIND)
	TIMED_CALLS(FIND)
	CLOCK_CALLS(FIND)
#define FIND_SEM(name, parameters, arguments) libc_##name = libc_symbol(libc, #name);
	SEM_CALLS(FIND_SEM)
}

/* A lock of our own: 0 free, 1 held. Where the library is not preloaded there is no engine. */
#pragma weak elide_begin
#pragma weak elide_try_begin
#pragma weak elide_end
#pragma weak elide_init
#pragma weak elide_forget

static const struct elide_rule word_rule = {.mask = ~0u, .free = 0, .size = 4};

static int past_word_trylock(void *lock)
{
	uint32_t expected = 0;

	/* Acquire pairs with the release in past_word_unlock(). */
	return __atomic_compare_exchange_n((uint32_t *)lock, &expected, 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED) ?
		       0 : EBUSY;
}

static int past_word_lock(void *lock)
{
	while (past_word_trylock(lock))
		sched_yield();
	return 0;
}

static int past_word_unlock(void *lock)
{
	__atomic_store_n((uint32_t *)lock, 0, __ATOMIC_RELEASE);
	return 0;
}

static __noinline int on_word_lock(void *lock)
{
	return elide_begin && elide_begin(lock, &word_rule) ? 0 : past_word_lock(lock);
}

static __noinline int off_word_lock(void *lock)
{
	return elide_begin && elide_begin(lock, &word_rule) ? 0 : past_word_lock(lock);
}

/*
 * A lock that was free is waited for where another thread comes first: each call that the library
 * counts is an acquisition then.
 */
static __always_inline_fn int try_word(void *lock)
{
	int answer;

	if (!elide_try_begin)
		return past_word_trylock(lock);
	answer = elide_try_begin(lock, &word_rule);
	if (answer < 0)
		return EBUSY;
	return answer ? 0 : past_word_lock(lock);
}

static __noinline int on_word_trylock(void *lock)
{
	return try_word(lock);
}

static __noinline int off_word_trylock(void *lock)
{
	return try_word(lock);
}

static int on_word_unlock(void *lock)
{
	return elide_end && elide_end(lock) ? 0 : past_word_unlock(lock);
}

/* The known-broken subject: it locks nothing. */
static int broken_call(void *lock)
{
	return 0;
}

/* Name of a row in each of the three ways. */
#define MUTEX(way, kind)                                                                       \
	{way##_##kind##_lock, way##_##kind##_trylock, way##_##kind##_timedlock, NULL,          \
	 way##_##kind##_unlock}
#define CLOCKED(way, kind, mode, unlock)                                                       \
	{way##_##kind##_##mode##lock, way##_##kind##_try##mode##lock,                          \
	 way##_##kind##_timed##mode##lock, way##_##kind##_clock##mode##lock, way##_##unlock}

static const struct calls mutex_calls[NR_WAYS] = {
	CLOCKED(on, mutex, , mutex_unlock),
	CLOCKED(off, mutex, , mutex_unlock),
	CLOCKED(past, mutex, , mutex_unlock),
};
static const struct calls read_calls[NR_WAYS] = {
	CLOCKED(on, rwlock, rd, rwlock_unlock),
	CLOCKED(off, rwlock, rd, rwlock_unlock),
	CLOCKED(past, rwlock, rd, rwlock_unlock),
};
static const struct calls write_calls[NR_WAYS] = {
	CLOCKED(on, rwlock, wr, rwlock_unlock),
	CLOCKED(off, rwlock, wr, rwlock_unlock),
	CLOCKED(past, rwlock, wr, rwlock_unlock),
};
static const struct calls mtx_calls[NR_WAYS] = {
	MUTEX(on, mtx),
	MUTEX(off, mtx),
	MUTEX(past, mtx),
};
static const struct calls spin_calls[NR_WAYS] = {
	{.lock = on_spin_lock, .trylock = on_spin_trylock, .unlock = on_spin_unlock},
	{.lock = off_spin_lock, .trylock = off_spin_trylock, .unlock = off_spin_unlock},
	{.lock = past_spin_lock, .trylock = past_spin_trylock, .unlock = past_spin_unlock},
};
#define SEM(way)                                                                               \
	{way##_sem_wait, way##_sem_trywait, way##_sem_timedwait, way##_sem_clockwait,          \
	 way##_sem_post}
static const struct calls sem_calls[NR_WAYS] = {
	SEM(on),
	SEM(off),
	SEM(past),
};
static const struct calls word_calls[NR_WAYS] = {
	{.lock = on_word_lock, .trylock = on_word_trylock, .unlock = on_word_unlock},
	{.lock = off_word_lock, .trylock = off_word_trylock, .unlock = on_word_unlock},
	{.lock = past_word_lock, .trylock = past_word_trylock, .unlock = past_word_unlock},
};
static const struct calls broken_calls[NR_WAYS] = {
	{.lock = broken_call, .unlock = broken_call},
	{.lock = broken_call, .unlock = broken_call},
	{.lock = broken_call, .unlock = broken_call},
};

static void init_mutex(union any_lock *lock, int type)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutex_init(&lock->mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}

static void init_default(union any_lock *lock) { pthread_mutex_init(&lock->mutex, NULL); }
static void init_normal(union any_lock *lock) { init_mutex(lock, PTHREAD_MUTEX_NORMAL); }
static void init_recursive(union any_lock *lock) { init_mutex(lock, PTHREAD_MUTEX_RECURSIVE); }
static void init_errorcheck(union any_lock *lock) { init_mutex(lock, PTHREAD_MUTEX_ERRORCHECK); }
static void init_adaptive(union any_lock *lock) { init_mutex(lock, PTHREAD_MUTEX_ADAPTIVE_NP); }
static void destroy_mutex(union any_lock *lock) { pthread_mutex_destroy(&lock->mutex); }

/* With extras, which the library never elides. */
static void init_extra(union any_lock *lock, int type, int protocol, int robust, int shared)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setprotocol(&attr, protocol);
	pthread_mutexattr_setrobust(&attr, robust);
	pthread_mutexattr_setpshared(&attr, shared);
	pthread_mutex_init(&lock->mutex, &attr);
	pthread_mutexattr_destroy(&attr);
}

static void init_inherit(union any_lock *lock)
{
	init_extra(lock, PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, 0, 0);
}
static void init_inherit_recursive(union any_lock *lock)
{
	init_extra(lock, PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_INHERIT, 0, 0);
}
static void init_inherit_robust(union any_lock *lock)
{
	init_extra(lock, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_ROBUST,
		   PTHREAD_PROCESS_SHARED);
}
static void init_robust(union any_lock *lock)
{
	init_extra(lock, PTHREAD_MUTEX_NORMAL, 0, PTHREAD_MUTEX_ROBUST, 0);
}
static void init_shared(union any_lock *lock)
{
	init_extra(lock, PTHREAD_MUTEX_NORMAL, 0, 0, PTHREAD_PROCESS_SHARED);
}

static void init_sem(union any_lock *lock) { sem_init(&lock->sem, 0, 1); }
static void destroy_sem(union any_lock *lock) { sem_destroy(&lock->sem); }

static void init_rwlock(union any_lock *lock, int preference, int shared)
{
	pthread_rwlockattr_t attr;

	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, preference);
	pthread_rwlockattr_setpshared(&attr, shared);
	pthread_rwlock_init(&lock->rwlock, &attr);
	pthread_rwlockattr_destroy(&attr);
}

static void init_prefer_reader(union any_lock *l)
{
	init_rwlock(l, PTHREAD_RWLOCK_PREFER_READER_NP, PTHREAD_PROCESS_PRIVATE);
}
static void init_prefer_writer(union any_lock *l)
{
	init_rwlock(l, PTHREAD_RWLOCK_PREFER_WRITER_NP, PTHREAD_PROCESS_PRIVATE);
}
static void init_nonrecursive(union any_lock *l)
{
	init_rwlock(l, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, PTHREAD_PROCESS_PRIVATE);
}
static void init_rwlock_shared(union any_lock *l)
{
	init_rwlock(l, PTHREAD_RWLOCK_PREFER_READER_NP, PTHREAD_PROCESS_SHARED);
}
static void destroy_rwlock(union any_lock *lock) { pthread_rwlock_destroy(&lock->rwlock); }

static void init_spin(union any_lock *l) { pthread_spin_init(&l->spin, PTHREAD_PROCESS_PRIVATE); }
static void destroy_spin(union any_lock *lock) { pthread_spin_destroy(&lock->spin); }
static void init_mtx(union any_lock *lock) { mtx_init(&lock->mtx, mtx_timed); }
static void init_mtx_recursive(union any_lock *l) { mtx_init(&l->mtx, mtx_timed | mtx_recursive); }
static void destroy_mtx(union any_lock *lock) { mtx_destroy(&lock->mtx); }
static void init_word(union any_lock *lock)
{
	lock->word = 0;
	if (elide_init)
		elide_init(&lock->word, NULL);
}
static void destroy_word(union any_lock *lock)
{
	if (elide_forget)
		elide_forget(&lock->word);
}
static void no_call(union any_lock *lock) { }

const struct subject subjects[] = {
	{"broken", no_call, no_call, broken_calls, NULL, 0, 0, NO_RELOCK, 0},
	{"mutex", init_default, destroy_mutex, mutex_calls, NULL, EBUSY, ETIMEDOUT, NO_RELOCK, EBUSY},
	{"normal", init_normal, destroy_mutex, mutex_calls, NULL, EBUSY, ETIMEDOUT, NO_RELOCK, EBUSY},
	{"recursive", init_recursive, destroy_mutex, mutex_calls, NULL, EBUSY, ETIMEDOUT, 0, 0},
	{"errorcheck", init_errorcheck, destroy_mutex, mutex_calls, NULL, EBUSY, ETIMEDOUT, EDEADLK,
	 EBUSY},
	{"adaptive", init_adaptive, destroy_mutex, mutex_calls, NULL, EBUSY, ETIMEDOUT, NO_RELOCK,
	 EBUSY},
	{"rwlock", init_prefer_reader, destroy_rwlock, write_calls, read_calls, EBUSY, ETIMEDOUT,
	 EDEADLK, EBUSY},
	{"rwlock-writer", init_prefer_writer, destroy_rwlock, write_calls, read_calls, EBUSY,
	 ETIMEDOUT, EDEADLK, EBUSY},
	{"rwlock-nonrecursive", init_nonrecursive, destroy_rwlock, write_calls, read_calls, EBUSY,
	 ETIMEDOUT, EDEADLK, EBUSY},
	{"spin", init_spin, destroy_spin, spin_calls, NULL, EBUSY, 0, NO_RELOCK, EBUSY},
	{"mtx", init_mtx, destroy_mtx, mtx_calls, NULL, thrd_busy, thrd_timedout, NO_RELOCK,
	 thrd_busy},
	{"mtx-recursive", init_mtx_recursive, destroy_mtx, mtx_calls, NULL, thrd_busy, thrd_timedout,
	 thrd_success, thrd_success},
	{"word", init_word, destroy_word, word_calls, NULL, EBUSY, 0, NO_RELOCK, EBUSY},
	/* From here on of the scenario mixed alone: NR_EXTRA. */
	{"inherit", init_inherit, destroy_mutex, mutex_calls, NULL, EBUSY, ETIMEDOUT, NO_RELOCK,
	 EBUSY},
	{"inherit-recursive", init_inherit_recursive, destroy_mutex, mutex_calls, NULL, EBUSY,
	 ETIMEDOUT, 0, 0},
	{"inherit-robust", init_inherit_robust, destroy_mutex, mutex_calls, NULL, EBUSY, ETIMEDOUT,
	 EDEADLK, EDEADLK},
	{"robust", init_robust, destroy_mutex, mutex_calls, NULL, EBUSY, ETIMEDOUT, NO_RELOCK, EBUSY},
	{"shared", init_shared, destroy_mutex, mutex_calls, NULL, EBUSY, ETIMEDOUT, NO_RELOCK, EBUSY},
	{"rwlock-shared", init_rwlock_shared, destroy_rwlock, write_calls, read_calls, EBUSY,
	 ETIMEDOUT, EDEADLK, EBUSY},
	{"sem", init_sem, destroy_sem, sem_calls, NULL, EAGAIN, ETIMEDOUT, NO_RELOCK, EAGAIN},
};
#define NR_EXTRA 7
const unsigned int nr_subjects = ARRAY_SIZE(subjects) - NR_EXTRA;
const unsigned int nr_subjects_mixed = ARRAY_SIZE(subjects);

const struct subject *subject_find(const char *name)
{
	for (unsigned int i = 0; i < nr_subjects_mixed; i++)
		if (!strcmp(name, subjects[i].name))
			return &subjects[i];
	return NULL;
}

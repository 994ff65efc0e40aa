/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* glibc-layout.c - see glibc-layout.h. */
#include <semaphore.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/syscalls.h"
#include "glibc-layout.h"
#include "life/start.h"
#include "real.h"

const struct elide_rule glibc_mutex_rule = MUTEX_IS_FREE;
const struct elide_rule glibc_read_rule = READ_IS_FREE;
const struct elide_rule glibc_write_rule = WRITE_IS_FREE;
const struct elide_rule glibc_spin_rule = SPIN_IS_FREE;

struct glibc_layout glibc_layout;

static bool mutex_words(const pthread_mutex_t *m, int word, int owner, unsigned int users)
{
	return m->__data.__lock == word && m->__data.__owner == owner &&
	       m->__data.__nusers == users;
}

/* A mutex of another type than normal; a recursive one counts how often it is held. */
static bool check_type(int type)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	int tid = sys_gettid();
	unsigned int recursive = type == PTHREAD_MUTEX_RECURSIVE_NP;
	bool good;

	m.__data.__kind = type;
	real.mutex_lock(&m);
	good = mutex_words(&m, 1, tid, 1) && m.__data.__count == recursive;
	good &= (real.mutex_trylock(&m) == 0) == recursive;
	if (recursive) {
		good &= mutex_words(&m, 1, tid, 1) && m.__data.__count == 2;
		real.mutex_unlock(&m);
	}
	real.mutex_unlock(&m);
	return good && mutex_words(&m, 0, 0, 0) && !m.__data.__count && m.__data.__kind == type;
}

/* A mutex without attributes begins as zeroes; destroying it changes only its type. */
static bool check_life(void)
{
	static const pthread_mutex_t zeroes = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_t m, gone = PTHREAD_MUTEX_INITIALIZER;

	memset(&m, 0xa5, sizeof(m));
	real.mutex_init(&m, NULL);
	if (memcmp(&m, &zeroes, sizeof(m)))
		return false;
	real.mutex_destroy(&m);
	gone.__data.__kind = MUTEX_DESTROYED;
	return !memcmp(&m, &gone, sizeof(m));
}

static bool check_mutex(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	int tid = sys_gettid(), kind;
	bool good;

	real.mutex_lock(&m);
	kind = m.__data.__kind;
	good = mutex_words(&m, 1, tid, 1) && !(kind & ~MUTEX_GLIBC_ELIDES);
	good &= real.mutex_trylock(&m) != 0;
	real.mutex_unlock(&m);
	good &= mutex_words(&m, 0, 0, 0);
	good = good && check_life() && check_type(PTHREAD_MUTEX_RECURSIVE_NP) &&
	       check_type(PTHREAD_MUTEX_ERRORCHECK_NP) && check_type(PTHREAD_MUTEX_ADAPTIVE_NP);
	if (kind & MUTEX_GLIBC_ELIDES)
		elide_disable("glibc's own elision is on (GLIBC_TUNABLES): two eliders on one lock are not supported");
	return good && !(kind & MUTEX_GLIBC_ELIDES);
}

static bool rwlock_words(const pthread_rwlock_t *rw, unsigned int readers, unsigned int wrphase,
			 int writer)
{
	return rw->__data.__readers == readers && rw->__data.__wrphase_futex == wrphase &&
	       rw->__data.__writers_futex == (writer != 0) && rw->__data.__cur_writer == writer;
}

static bool check_rwlock(void)
{
	pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
	int tid = sys_gettid();
	bool good;

	real.rwlock_rdlock(&rw);
	good = rwlock_words(&rw, 1 << RWLOCK_READER_SHIFT, 0, 0);
	real.rwlock_unlock(&rw);
	good &= rwlock_words(&rw, 0, 0, 0);
	/* From both free states. */
	for (int i = 0; i < 2; i++) {
		real.rwlock_wrlock(&rw);
		good &= rwlock_words(&rw, RWLOCK_WRPHASE | RWLOCK_WRLOCKED, 1, tid);
		real.rwlock_unlock(&rw);
		good &= rwlock_words(&rw, RWLOCK_WRPHASE, 1, 0);
	}
	return good && !rw.__data.__flags && !rw.__data.__shared;
}

static bool check_spin(void)
{
	pthread_spinlock_t s;
	bool good;

	real.spin_init(&s, PTHREAD_PROCESS_PRIVATE);
	good = s == SPIN_FREE;
	real.spin_lock(&s);
	good &= s == 0;
	real.spin_unlock(&s);
	return good && s == SPIN_FREE;
}

/* There are no waiters: the flags beside their number tell where it is. */
static bool check_cond(void)
{
	pthread_cond_t c;
	pthread_condattr_t attr;
	bool good;

	pthread_condattr_init(&attr);
	real.cond_init(&c, &attr);
	good = !c.__data.__wrefs;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	real.cond_init(&c, &attr);
	return good && c.__data.__wrefs == (COND_SHARED | COND_CLOCK);
}

static bool check_sem(void)
{
	sem_t s;
	bool good;

	real.sem_init(&s, 0, 5);
	good = s.__align == 5;
	real.sem_trywait(&s);
	good &= s.__align == 4;
	real.sem_post(&s);
	return good && s.__align == 5;
}

void glibc_layout_check(void)
{
	glibc_layout.mutex = check_mutex();
	glibc_layout.rwlock = check_rwlock();
	glibc_layout.spin = check_spin();
	glibc_layout.sem = check_sem();
	glibc_layout.cond = check_cond();
	if (!glibc_layout.rwlock || !glibc_layout.spin)
		elide_log("this C library keeps its locks differently: some are not elided");
}

/* offsetof(struct pthread, tid) of glibc for x86-64, which debuggers rely on (nptl_db). */
#define TID_AT 720

uint32_t glibc_tid_at(void)
{
	const char *self = __builtin_thread_pointer();

	return *(const pid_t *)(self + TID_AT) == sys_gettid() ? TID_AT : 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* glibc-layout.c - see glibc-layout.h. */
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
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

static bool check_mutex(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	int tid = syscall(SYS_gettid), kind;
	bool good;

	real.mutex_lock(&m);
	kind = m.__data.__kind;
	good = mutex_words(&m, 1, tid, 1) && !(kind & ~MUTEX_GLIBC_ELIDES);
	good &= real.mutex_trylock(&m) != 0;
	real.mutex_unlock(&m);
	good &= mutex_words(&m, 0, 0, 0);
	if (kind & MUTEX_GLIBC_ELIDES)
		elide_disable("glibc's own elision is on (GLIBC_TUNABLES): two eliders on one lock are not supported");
	return good && !(kind & MUTEX_GLIBC_ELIDES);
}

static bool check_rwlock(void)
{
	pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
	bool good;

	real.rwlock_rdlock(&rw);
	good = rw.__data.__readers == 1 << RWLOCK_READER_SHIFT;
	real.rwlock_unlock(&rw);
	good &= rw.__data.__readers == 0;
	real.rwlock_wrlock(&rw);
	good &= rw.__data.__readers == (RWLOCK_WRPHASE | RWLOCK_WRLOCKED);
	real.rwlock_unlock(&rw);
	return good && rw.__data.__readers == RWLOCK_WRPHASE && !rw.__data.__shared;
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

void glibc_layout_check(void)
{
	glibc_layout.mutex = check_mutex();
	glibc_layout.rwlock = check_rwlock();
	glibc_layout.spin = check_spin();
	if (!glibc_layout.rwlock || !glibc_layout.spin)
		elide_log("this C library keeps its locks differently: some are not elided");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latch.h - the latches a synchronisation scheme can be built on.
 *
 * Plain pthread locks, called as any program calls them, and the two of
 * latch-spin.h; this header must never know of an index. A table per latch, always a constant where it is
 * used, so that the calls become direct ones in the scheme's own functions:
 * then the scheme's function is the call site that a profile shows.
 */
#ifndef DEMO_LATCH_H
#define DEMO_LATCH_H

#include "latch-spin.h"

#include <pthread.h>
#include <string.h>

union latch {
	pthread_spinlock_t spin;
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	struct spin_rw spin_rw;
	struct hle hle;
};

/**
 * struct latch_ops - one kind of latch
 * @init: 0 or an errno value
 * @destroy: of a free latch
 * @read: acquire to read; exclusive where the latch knows no readers
 * @write: acquire to write
 * @read_release: what @read acquired
 * @write_release: what @write acquired
 *
 * Acquiring and releasing return nothing: with these types, used as the
 * schemes do, pthreads gives them no way to fail.
 */
struct latch_ops {
	int (*init)(union latch *latch);
	void (*destroy)(union latch *latch);
	void (*read)(union latch *latch);
	void (*write)(union latch *latch);
	void (*read_release)(union latch *latch);
	void (*write_release)(union latch *latch);
};

static inline int spin_init(union latch *latch)
{
	return pthread_spin_init(&latch->spin, PTHREAD_PROCESS_PRIVATE);
}

static inline void spin_destroy(union latch *latch)
{
	pthread_spin_destroy(&latch->spin);
}

static inline void spin_acquire(union latch *latch)
{
	pthread_spin_lock(&latch->spin);
}

static inline void spin_release(union latch *latch)
{
	pthread_spin_unlock(&latch->spin);
}

static inline int mutex_init(union latch *latch)
{
	return pthread_mutex_init(&latch->mutex, NULL);
}

static inline void mutex_destroy(union latch *latch)
{
	pthread_mutex_destroy(&latch->mutex);
}

static inline void mutex_acquire(union latch *latch)
{
	pthread_mutex_lock(&latch->mutex);
}

static inline void mutex_release(union latch *latch)
{
	pthread_mutex_unlock(&latch->mutex);
}

static inline int rwlock_init(union latch *latch)
{
	return pthread_rwlock_init(&latch->rwlock, NULL);
}

static inline void rwlock_destroy(union latch *latch)
{
	pthread_rwlock_destroy(&latch->rwlock);
}

static inline void rwlock_read(union latch *latch)
{
	pthread_rwlock_rdlock(&latch->rwlock);
}

static inline void rwlock_write(union latch *latch)
{
	pthread_rwlock_wrlock(&latch->rwlock);
}

static inline void rwlock_release(union latch *latch)
{
	pthread_rwlock_unlock(&latch->rwlock);
}

/* The latches of latch-spin.h are free when they are 0 and hold nothing. */
static inline int zero_init(union latch *latch)
{
	memset(latch, 0, sizeof(*latch));
	return 0;
}

static inline void spin_rw_read(union latch *latch)
{
	spin_rw_lock_read(&latch->spin_rw);
}

static inline void spin_rw_write(union latch *latch)
{
	spin_rw_lock_write(&latch->spin_rw);
}

static inline void spin_rw_read_release(union latch *latch)
{
	spin_rw_unlock_read(&latch->spin_rw);
}

static inline void spin_rw_write_release(union latch *latch)
{
	spin_rw_unlock_write(&latch->spin_rw);
}

static inline void hle_acquire(union latch *latch)
{
	hle_lock(&latch->hle);
}

static inline void hle_release(union latch *latch)
{
	hle_unlock(&latch->hle);
}

/* No latch at all: right for one thread, or for threads that only read. */
static inline int none_init(union latch *latch)
{
	return 0;
}

static inline void none_nop(union latch *latch)
{
}

static const struct latch_ops latch_spin = {
	spin_init, spin_destroy, spin_acquire, spin_acquire, spin_release, spin_release,
};

static const struct latch_ops latch_mutex = {
	mutex_init, mutex_destroy, mutex_acquire, mutex_acquire, mutex_release, mutex_release,
};

static const struct latch_ops latch_rwlock = {
	rwlock_init, rwlock_destroy, rwlock_read, rwlock_write, rwlock_release, rwlock_release,
};

static const struct latch_ops latch_none = {
	none_init, none_nop, none_nop, none_nop, none_nop, none_nop,
};

static const struct latch_ops latch_spin_rw = {
	zero_init,	   none_nop,		 spin_rw_read,
	spin_rw_write, spin_rw_read_release, spin_rw_write_release,
};

static const struct latch_ops latch_hle = {
	zero_init, none_nop, hle_acquire, hle_acquire, hle_release, hle_release,
};

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reuse.h - locks whose addresses are used again by other locks, and what is true of them.
 *
 * A place is where a lock is initialised, a site where it is locked. Each is a function of its own, so
 * that the report names them. The program counts for itself which lock was locked at which site.
 * Must never use a lock besides those that it counts.
 */
#ifndef TESTS_REUSE_H
#define TESTS_REUSE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <threads.h>

#include "../../lib/compiler.h"

#define MAX_THREADS 8

union any_lock {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	pthread_spinlock_t spin;
	mtx_t mtx;
	sem_t sem;
};

/* What the functions that lock it are those of. */
enum shape { MUTEX, RWLOCK, SPIN, MTX, SEM, NR_SHAPES };

/* X(name, shape, process-shared, call): the call initialises lock l. */
#define PLACES(X)                                                            \
	X(plain_1, MUTEX, false, pthread_mutex_init(&l->mutex, NULL))        \
	X(plain_2, MUTEX, false, pthread_mutex_init(&l->mutex, NULL))        \
	X(plain_3, MUTEX, false, pthread_mutex_init(&l->mutex, NULL))        \
	X(again, MUTEX, false, pthread_mutex_init(&l->mutex, &recursive))    \
	X(adaptive, MUTEX, false, pthread_mutex_init(&l->mutex, &adaptive))  \
	X(plain_4, MUTEX, true, pthread_mutex_init(&l->mutex, &shared_mutex)) \
	X(plain_5, MUTEX, true, pthread_mutex_init(&l->mutex, &shared_mutex)) \
	X(many_1, RWLOCK, false, pthread_rwlock_init(&l->rwlock, NULL))      \
	X(many_2, RWLOCK, false, pthread_rwlock_init(&l->rwlock, NULL))      \
	X(many_3, RWLOCK, true, pthread_rwlock_init(&l->rwlock, &shared_rwlock)) \
	X(busy_1, SPIN, false, pthread_spin_init(&l->spin, PTHREAD_PROCESS_PRIVATE)) \
	X(busy_2, SPIN, false, pthread_spin_init(&l->spin, PTHREAD_PROCESS_PRIVATE)) \
	X(busy_3, SPIN, true, pthread_spin_init(&l->spin, PTHREAD_PROCESS_SHARED)) \
	X(thread_1, MTX, false, mtx_init(&l->mtx, mtx_plain))                \
	X(units_1, SEM, false, sem_init(&l->sem, 0, 1))                      \
	X(units_2, SEM, true, sem_init(&l->sem, 1, 1))                       \
	X(outer, MUTEX, false, pthread_mutex_init(&l->mutex, NULL))          \
	X(grown_1, MUTEX, false, pthread_mutex_init(&l->mutex, NULL))        \
	X(grown_2, MUTEX, false, pthread_mutex_init(&l->mutex, NULL))        \
	X(grown_3, RWLOCK, false, pthread_rwlock_init(&l->rwlock, NULL))     \
	X(either_1, MUTEX, false, pthread_mutex_init(&l->mutex, mutex_of(shared))) \
	X(either_2, RWLOCK, false, pthread_rwlock_init(&l->rwlock, rwlock_of(shared))) \
	X(either_3, SPIN, false, pthread_spin_init(&l->spin, shared))

/* X(name, shape, kind of its rows, call that locks l, call that unlocks it). */
#define SITES(X)                                                             \
	X(mutex_1, MUTEX, "mutex", pthread_mutex_lock, pthread_mutex_unlock, &l->mutex) \
	X(mutex_2, MUTEX, "mutex", pthread_mutex_lock, pthread_mutex_unlock, &l->mutex) \
	X(mutex_try, MUTEX, "mutex", pthread_mutex_trylock, pthread_mutex_unlock, &l->mutex) \
	X(read_1, RWLOCK, "rwlock-read", pthread_rwlock_rdlock, pthread_rwlock_unlock, &l->rwlock) \
	X(write_1, RWLOCK, "rwlock-write", pthread_rwlock_wrlock, pthread_rwlock_unlock, &l->rwlock) \
	X(write_try, RWLOCK, "rwlock-write", pthread_rwlock_trywrlock, pthread_rwlock_unlock, \
	  &l->rwlock)                                                         \
	X(spin_1, SPIN, "spin", pthread_spin_lock, pthread_spin_unlock, &l->spin) \
	X(spin_2, SPIN, "spin", pthread_spin_lock, pthread_spin_unlock, &l->spin) \
	X(mtx_1, MTX, "mutex", mtx_lock, mtx_unlock, &l->mtx)                 \
	X(sem_1, SEM, "sem", sem_wait, sem_post, &l->sem)                     \
	X(outer, MUTEX, "mutex", pthread_mutex_lock, pthread_mutex_unlock, &l->mutex) \
	X(grown_1, MUTEX, "mutex", pthread_mutex_lock, pthread_mutex_unlock, &l->mutex) \
	X(grown_2, MUTEX, "mutex", pthread_mutex_lock, pthread_mutex_unlock, &l->mutex) \
	X(grown_3, RWLOCK, "rwlock-write", pthread_rwlock_wrlock, pthread_rwlock_unlock, &l->rwlock)

enum place_id {
#define PLACE(name, shape, mark, call) PLACE_##name,
	PLACES(PLACE)
#undef PLACE
	NR_PLACES,
	/* Those that any lock may be of. */
	NR_COMMON_PLACES = PLACE_outer,
};

enum site_id {
#define SITE(name, shape, kind, lock, unlock, type) SITE_##name,
	SITES(SITE)
#undef SITE
	NR_SITES,
	NR_COMMON_SITES = SITE_outer,
};

/* Variables that the report knows by name: none of an array. */
#define NR_NAMED 4

/* Classes: by place; those first locked at a site, without initialisation; variables. */
#define CLASS_FIRST NR_PLACES
#define CLASS_NAMED (CLASS_FIRST + NR_SITES)
#define NR_CLASSES  (CLASS_NAMED + NR_NAMED)
#define NO_CLASS    (-1)

struct place {
	enum shape shape;
	bool shared; /* of those that are not called either_N */
	void (*init)(union any_lock *lock, bool shared);
};

struct site {
	enum shape shape;
	/* Exits where a call fails. */
	void (*lock)(union any_lock *lock);
	void (*unlock)(union any_lock *lock);
};

extern const struct place places[NR_PLACES];
extern const struct site sites[NR_SITES];
extern union any_lock *const named[NR_NAMED];

/**
 * struct truth - what one thread has done.
 * @locked: acquisitions by class, process-shared or not, and site
 * @lives:  locks that the library can have met, by class, process-shared or not, and shape
 * @wrong:  acquisitions of process-shared locks that began a transaction, by shape
 */
struct truth {
	unsigned long locked[NR_CLASSES][2][NR_SITES];
	unsigned long lives[NR_CLASSES][2][NR_SHAPES];
	unsigned long wrong[NR_SHAPES];
};

/**
 * struct life - a lock, or memory where one was.
 * @class: of the lock, NO_CLASS if it was initialised statically and not locked since
 * @named: number of the variable that it is, or -1
 * @dirty: memory in which a lock was that nobody has destroyed
 */
struct life {
	union any_lock *lock;
	enum shape shape;
	int class;
	int named;
	bool shared, alive, dirty;
};

/* A generator (xorshift64*, Vigna 2016). */
struct random {
	uint64_t state;
};

/**
 * struct worker - a thread.
 * @inside: it holds another lock, in whose transaction a process-shared lock may be locked, by the writes
 *          of its word
 */
struct worker {
	struct random random;
	struct truth truth;
	unsigned int me;
	bool inside;
};

uint32_t random_below(struct random *r, uint32_t limit);

/** calls_start() - attributes are made. */
void calls_start(void);

/** life_begin() - a lock is initialised at a common place, or statically if it may be. */
void life_begin(struct worker *w, struct life *life);

/** life_begin_at() - it is initialised at that place. */
void life_begin_at(struct worker *w, struct life *life, enum place_id place, bool shared);

/** life_begin_static() - it is initialised by an assignment. */
void life_begin_static(struct worker *w, struct life *life, enum shape shape);

/** life_lock() - locked and unlocked once at that site. */
void life_lock(struct worker *w, struct life *life, enum site_id site);

/** life_counted() - the library meets it: by its initialisation, or by the first call that locks it. */
void life_counted(struct worker *w, struct life *life, int class);

/** locked_counted() - the calling thread has locked it at that site, and counts that for itself. */
void locked_counted(struct worker *w, const struct life *life, enum site_id site);

/** life_site() - one of the common sites that lock its shape; @waits: not one of trylock. */
enum site_id life_site(struct worker *w, const struct life *life, bool waits);

/** life_end() - it is destroyed, and the memory overwritten. */
void life_end(struct life *life);

/** life_forget() - its memory is overwritten without that it is destroyed. */
void life_forget(struct life *life);

/** truth_write() - the sums of all workers, a line a row of the report. Exits where it cannot. */
void truth_write(const char *path, const struct worker *workers, unsigned int nr);

/** must() - exits with a message where a call has failed. */
void must(bool ok, const char *what);

#endif

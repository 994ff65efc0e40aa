/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * c11.c - scripts for mtx_* and cnd_*.
 */
#include <stdio.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "conform.h"

/* Microseconds between two looks whether another waits. */
#define LOOK_US 500

static int lock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return mtx_lock(&s->lock.mtx);
}

static int trylock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return mtx_trylock(&s->lock.mtx);
}

static int timedlock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return mtx_timedlock(&s->lock.mtx, until);
}

static int unlock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return mtx_unlock(&s->lock.mtx);
}

static int destroy(struct subject *s, clockid_t clock, const struct timespec *until)
{
	mtx_destroy(&s->lock.mtx);
	return 0;
}

/* Once it has the lock, another thread waits: it was ready before. */
static int lock_ready(struct subject *s, clockid_t clock, const struct timespec *until)
{
	for (;; usleep(LOOK_US)) {
		int err = mtx_lock(&s->lock.mtx);

		if (err != thrd_success || s->nr_ready)
			return err;
		mtx_unlock(&s->lock.mtx);
	}
}

static int wait(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return cnd_wait(&s->cnd, &s->lock.mtx);
}

static int timedwait(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return cnd_timedwait(&s->cnd, &s->lock.mtx, until);
}

static int cond_signal(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return cnd_signal(&s->cnd);
}

static int broadcast(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return cnd_broadcast(&s->cnd);
}

static const struct call calls[] = {
	{"lock", lock}, {"trylock", trylock}, {"timedlock", timedlock}, {"unlock", unlock},
	{"destroy", destroy}, {"lock-ready", lock_ready}, {"wait", wait}, {"timedwait", timedwait},
	{"signal", cond_signal}, {"broadcast", broadcast}, {NULL, NULL},
};

static int acquire(struct subject *s)
{
	return mtx_lock(&s->lock.mtx) != thrd_success;
}

static int release(struct subject *s)
{
	return mtx_unlock(&s->lock.mtx);
}

static bool took(int answer)
{
	return answer == thrd_success;
}

static const struct family c11 = {"c11", calls, acquire, release, took};

static const struct {
	struct row row;
	enum { ALL, NOT_TWICE, TWICE } fits; /* which types of mutexes */
} rows[] = {
	{{"free",
	  "A lock, A unlock, A trylock, A unlock, A timedlock past, A unlock, A timedlock far,"
	  "A unlock, A timedlock ? nsec-many, A timedlock ? nsec-negative,"
	  "A timedlock ? before-1970, B lock, B unlock, A destroy"}, ALL},
	{{"held",
	  "A lock, B trylock ?, B timedlock ? past, B timedlock ? nsec-many,"
	  "B timedlock ? past-nsec-negative, B timedlock ? before-1970, B timedlock ? +10,"
	  "A unlock, B trylock, A trylock, B unlock"}, ALL},
	{{"own",
	  "A lock, A trylock, A timedlock past, A timedlock nsec-many, A timedlock +5, A unlock,"
	  "B trylock, B unlock"}, NOT_TWICE},
	{{"own-twice",
	  "A lock, A lock, A trylock, A timedlock past, A timedlock nsec-many, B trylock,"
	  "A unlock, A unlock, A unlock, A unlock, B trylock, A unlock, A unlock, B trylock,"
	  "B unlock"},
	 TWICE},
	{{"freed",
	  "A lock, B timedlock far &, A pause MONOTONIC 3, A unlock, B done, B unlock, A lock,"
	  "B lock &, A pause MONOTONIC 3, A unlock, B done, B unlock, A trylock, A unlock"}, ALL},
	{{"waits",
	  "A lock, A timedwait past, A timedwait +10, A timedwait nsec-many,"
	  "A timedwait nsec-negative, A timedwait before-1970, B trylock, A unlock, A signal,"
	  "A broadcast, B trylock, B unlock"}, ALL},
	{{"signalled",
	  "A lock, A ready, A wait &, B lock-ready, B signal, B unlock, A done, B trylock,"
	  "A unlock, B trylock, B unlock"}, ALL},
	{{"broadcast",
	  "A lock, A ready, A timedwait far &, B lock-ready, B unlock, B broadcast, A done,"
	  "B trylock, A unlock, B trylock, B unlock"}, ALL},
};

static const struct {
	const char *name;
	int value;
} types[] = {
	{"plain", mtx_plain}, {"timed", mtx_timed}, {"recursive", mtx_recursive},
	{"timed recursive", mtx_timed | mtx_recursive},
};

void conform_c11(void)
{
	for (size_t type = 0; type < ARRAY_SIZE(types); type++)
		for (size_t row = 0; row < ARRAY_SIZE(rows); row++) {
			struct subject *s = new_subject(CLOCK_REALTIME, false);
			bool recursive = types[type].value & mtx_recursive;
			char about[128];

			if (rows[row].fits == (recursive ? NOT_TWICE : TWICE))
				continue;
			snprintf(about, sizeof(about), "%s %s", types[type].name,
				 rows[row].row.name);
			if (mtx_init(&s->lock.mtx, types[type].value) != thrd_success ||
			    cnd_init(&s->cnd) != thrd_success)
				printf("c11 %s: not initialised\n", about);
			else
				script_run(&c11, s, about, rows[row].row.script);
		}
}

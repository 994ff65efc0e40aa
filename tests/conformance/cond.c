/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cond.c - scripts for pthread_cond_* with each combination of attributes and kinds of mutexes.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "conform.h"

/* Microseconds between two looks whether others wait. */
#define LOOK_US 500

static int lock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_mutex_lock(&s->lock.mutex);
}

static int trylock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_mutex_trylock(&s->lock.mutex);
}

static int unlock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_mutex_unlock(&s->lock.mutex);
}

static int consistent(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_mutex_consistent(&s->lock.mutex);
}

/* Once it has the lock, @nr threads wait: each was ready before it waited. */
static int lock_ready(struct subject *s, int nr)
{
	for (;; usleep(LOOK_US)) {
		int err = pthread_mutex_lock(&s->lock.mutex);

		if (err || s->nr_ready >= nr)
			return err;
		pthread_mutex_unlock(&s->lock.mutex);
	}
}

static int lock_ready_1(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return lock_ready(s, 1);
}

static int lock_ready_2(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return lock_ready(s, 2);
}

static int wait(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_cond_wait(&s->cond, &s->lock.mutex);
}

static int timedwait(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_cond_timedwait(&s->cond, &s->lock.mutex, until);
}

static int clockwait(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_cond_clockwait(&s->cond, &s->lock.mutex, clock, until);
}

static int cond_signal(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_cond_signal(&s->cond);
}

static int cond_broadcast(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_cond_broadcast(&s->cond);
}

static int cond_destroy(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_cond_destroy(&s->cond);
}

static const struct call cond_calls[] = {
	{"lock", lock}, {"trylock", trylock}, {"unlock", unlock}, {"consistent", consistent},
	{"lock-ready-1", lock_ready_1}, {"lock-ready-2", lock_ready_2}, {"wait", wait},
	{"timedwait", timedwait}, {"clockwait", clockwait}, {"signal", cond_signal},
	{"broadcast", cond_broadcast}, {"destroy", cond_destroy}, {NULL, NULL},
};

static int acquire(struct subject *s)
{
	return pthread_mutex_lock(&s->lock.mutex);
}

static int release(struct subject *s)
{
	return pthread_mutex_unlock(&s->lock.mutex);
}

static bool took(int answer)
{
	return !answer || answer == EOWNERDEAD;
}

static const struct family conds = {"cond", cond_calls, acquire, release, took};

static const struct {
	struct row row;
	unsigned int lacks; /* what the mutex must not be */
} cond_rows[] = {
	{{"past",
	  "A lock, A timedwait past, A clockwait REALTIME past, A clockwait MONOTONIC past,"
	  "A timedwait before-1970, A timedwait nsec-most, A unlock, B trylock, B unlock"}, 0},
	{{"expires",
	  "A lock, A timedwait +10, A clockwait REALTIME +10, A clockwait MONOTONIC +10,"
	  "B trylock, A unlock, B trylock, B unlock, A destroy"}, 0},
	{{"odd-times",
	  "A lock, A timedwait nsec-negative, A timedwait nsec-many,"
	  "A timedwait past-nsec-negative, A clockwait MONOTONIC nsec-many,"
	  "A clockwait REALTIME nsec-negative, B trylock, A unlock, B trylock, B unlock"}, 0},
	{{"clocks",
	  "A lock, A clockwait MONOTONIC_RAW far, A clockwait BOOTTIME far, A clockwait TAI far,"
	  "A clockwait PROCESS_CPUTIME far, A clockwait minus-one far, A clockwait unknown past,"
	  "A clockwait unknown nsec-many, B trylock, A unlock, B trylock, B unlock"}, 0},
	{{"signalled",
	  "A lock, A ready, A wait &, B lock-ready-1, B signal, B unlock, A done, B trylock,"
	  "A unlock, B trylock, B unlock, A destroy"}, 0},
	{{"signalled-outside",
	  "A lock, A ready, A wait &, B lock-ready-1, B unlock, B signal, A done, B trylock,"
	  "A unlock, B trylock, B unlock"}, 0},
	{{"signalled-in-time",
	  "A lock, A ready, A timedwait far &, B lock-ready-1, B signal, B unlock, A done,"
	  "A unlock, A lock, A ready, A clockwait MONOTONIC far &, B lock-ready-2, B broadcast,"
	  "B unlock, A done, B trylock, A unlock, B trylock, B unlock"}, 0},
	{{"broadcast",
	  "A lock, A ready, A wait &, C lock, C ready, C timedwait far, C unlock &,"
	  "B lock-ready-2, B broadcast, B unlock, A done, A unlock, C done, B trylock, B unlock,"
	  "B destroy"}, 0},
	{{"nobody-waits",
	  "A lock, A signal, A broadcast, A unlock, A signal, A broadcast, A lock,"
	  "A timedwait past, A unlock"}, 0},
	/* Mostly the wait is over while another holds the mutex; on a busy machine it may be before. */
	{{"outwaited",
	  "A lock, A ready, A timedwait +10, A unlock &, B lock-ready-1, B pause MONOTONIC 30,"
	  "B unlock, A done, B trylock, B unlock"}, 0},
	{{"not-owner",
	  "A timedwait past, A wait, A clockwait MONOTONIC far, B lock, A timedwait past, A wait,"
	  "B unlock, A trylock, A unlock"}, NORMAL},
	{{"owner-dies",
	  "A lock, A ready, A timedwait far &, B lock-ready-1, B signal, B exit, A done,"
	  "A consistent, A unlock, A trylock, A unlock"}, STALLED},
	{{"lost",
	  "A lock, A ready, A timedwait far &, C lock-ready-1, C exit, B lock, B unlock,"
	  "B signal, A done, A unlock, A trylock"}, STALLED},
};

/* By the names of its attributes. */
static const char *const mutex_kinds[] = {
	"private none stalled normal", "private none stalled errorcheck",
	"private none stalled recursive", "private none robust normal",
	"private none robust errorcheck", "private inherit stalled normal",
	"private inherit robust errorcheck", "shared none stalled normal",
	"shared none robust recursive", "shared inherit stalled normal",
};

static void cond_case(size_t kind, int shared, clockid_t clock, size_t row)
{
	struct subject *s = new_subject(clock, mutex_kinds[kind][0] == 's');
	unsigned int is;
	pthread_condattr_t a;
	char about[160];
	int err = mutex_init_by_name(mutex_kinds[kind], &s->lock.mutex, &is);

	if (is & cond_rows[row].lacks)
		return;
	pthread_condattr_init(&a);
	err |= pthread_condattr_setclock(&a, clock) | pthread_condattr_setpshared(&a, shared) |
	       pthread_cond_init(&s->cond, &a);
	pthread_condattr_destroy(&a);
	snprintf(about, sizeof(about), "%s %s, mutex %s, %s", shared ? "shared" : "private",
		 clock == CLOCK_REALTIME ? "REALTIME" : "MONOTONIC", mutex_kinds[kind],
		 cond_rows[row].row.name);
	if (err)
		printf("cond %s: init = %d\n", about, err);
	else
		script_run(&conds, s, about, cond_rows[row].row.script);
}

void conform_cond(void)
{
	for (size_t kind = 0; kind < ARRAY_SIZE(mutex_kinds); kind++)
		for (int i = 0; i < 4; i++)
			for (size_t row = 0; row < ARRAY_SIZE(cond_rows); row++)
				cond_case(kind, i & 1, i & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME,
					  row);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mutex.c - scripts for pthread_mutex_* with every combination of attributes.
 *
 * Must never make a call whose effect POSIX leaves undefined, but for those that glibc answers.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../../lib/compiler.h"
#include "conform.h"

static int lock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_mutex_lock(&s->lock.mutex);
}

static int trylock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_mutex_trylock(&s->lock.mutex);
}

static int timedlock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_mutex_timedlock(&s->lock.mutex, until);
}

static int clocklock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_mutex_clocklock(&s->lock.mutex, clock, until);
}

static int unlock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_mutex_unlock(&s->lock.mutex);
}

static int destroy(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_mutex_destroy(&s->lock.mutex);
}

static int consistent(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_mutex_consistent(&s->lock.mutex);
}

static int init(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_mutex_init(&s->lock.mutex, NULL);
}

/* As if it had been locked four thousand million times: a loop would take too long. */
static int deepen(struct subject *s, clockid_t clock, const struct timespec *until)
{
	s->lock.mutex.__data.__count += UINT_MAX - 1;
	return 0;
}

static int flatten(struct subject *s, clockid_t clock, const struct timespec *until)
{
	s->lock.mutex.__data.__count -= UINT_MAX - 1;
	return 0;
}

static const struct call mutex_calls[] = {
	{"lock", lock}, {"trylock", trylock}, {"timedlock", timedlock}, {"clocklock", clocklock},
	{"unlock", unlock}, {"destroy", destroy}, {"consistent", consistent}, {"init", init},
	{"deepen", deepen}, {"flatten", flatten}, {NULL, NULL},
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

static const struct family mutexes = {"mutex", mutex_calls, acquire, release, took};

static const struct {
	const char *name;
	unsigned int fits;
	const char *script;
} mutex_rows[] = {
	{"free", ANY,
	 "A lock, A unlock, A trylock, A unlock, A timedlock past, A unlock, A timedlock far,"
	 "A unlock, A clocklock REALTIME past, A unlock, A clocklock MONOTONIC past, A unlock,"
	 "A clocklock MONOTONIC far, A unlock, B trylock, B unlock, A destroy, A init, A lock,"
	 "A unlock, A destroy"},
	{"free-odd-times", ANY,
	 "A timedlock ? nsec-negative, A timedlock ? nsec-many, A timedlock ? before-1970,"
	 "A timedlock ? nsec-most, A clocklock ? MONOTONIC nsec-negative,"
	 "A clocklock ? REALTIME nsec-many, A clocklock ? MONOTONIC before-1970"},
	{"clocks", ANY,
	 "A clocklock ? MONOTONIC_RAW far, A clocklock ? BOOTTIME far, A clocklock ? TAI far,"
	 "A clocklock ? PROCESS_CPUTIME far, A clocklock ? minus-one far,"
	 "A clocklock ? unknown far, A clocklock ? unknown nsec-many, A lock, A unlock"},
	{"held", ANY,
	 "A lock, B trylock ?, B timedlock ? past, B clocklock ? REALTIME past,"
	 "B clocklock ? MONOTONIC past, B timedlock ? before-1970,"
	 "B clocklock ? MONOTONIC before-1970, B timedlock ? nsec-negative,"
	 "B timedlock ? nsec-many, B timedlock ? past-nsec-negative, B timedlock ? nsec-most,"
	 "B clocklock ? MONOTONIC nsec-many, B clocklock ? REALTIME nsec-negative,"
	 "B clocklock ? MONOTONIC_RAW far, B clocklock ? PROCESS_CPUTIME far,"
	 "B clocklock ? minus-one far, B clocklock ? unknown past, A unlock, B trylock,"
	 "B unlock"},
	{"expires", ANY,
	 "A lock, B timedlock ? +10, B clocklock ? REALTIME +10, B clocklock ? MONOTONIC +10,"
	 "A unlock, B trylock, B unlock"},
	{"freed", ANY,
	 "A lock, B timedlock far &, A pause MONOTONIC 3, A unlock, B done, B unlock, A lock,"
	 "B clocklock MONOTONIC far &, A pause MONOTONIC 3, A unlock, B done, B unlock, A lock,"
	 "B clocklock REALTIME far &, A pause MONOTONIC 3, A unlock, B done, B unlock, A lock,"
	 "B lock &, A pause MONOTONIC 3, A unlock, B done, B unlock, A trylock, A unlock"},
	{"own", ANY & ~(RECURSIVE | ERRORCHECK),
	 "A lock, A trylock, A timedlock past, A clocklock MONOTONIC past, A timedlock nsec-many,"
	 "A timedlock +5, A clocklock MONOTONIC +5, A trylock, A unlock, B trylock, B unlock"},
	{"own", ANY & ~(NORMAL | ERRORCHECK),
	 "A lock, A lock, A trylock, A timedlock past, A clocklock MONOTONIC past,"
	 "A timedlock nsec-many, A unlock, B trylock, A unlock, A unlock, A unlock, A unlock,"
	 "B trylock, A trylock, B unlock, A unlock, A unlock, A lock, A unlock"},
	{"own", ANY & ~(NORMAL | RECURSIVE),
	 "A lock, A lock, A trylock, A timedlock past, A timedlock far,"
	 "A clocklock MONOTONIC far, A clocklock unknown far, A timedlock nsec-many, A unlock,"
	 "A unlock, B trylock, A trylock, B unlock, A lock, A unlock"},
	{"turns", ANY,
	 "A lock, A real, A unlock, A lock, A unlock, B lock, B unlock, B trylock, A trylock,"
	 "A trylock, B unlock, A trylock, A unlock, A destroy"},
	{"not-owner", ANY & ~NORMAL,
	 "A unlock, A lock, B unlock, B unlock, A unlock, B unlock, A unlock, A lock, A unlock"},
	{"not-owner", (ANY | NORMAL) & ~(RECURSIVE | ERRORCHECK | STALLED),
	 "A unlock, A lock, B unlock, A unlock, B unlock, A lock, A unlock"},
	{"too-deep", ANY & ~(NORMAL | ERRORCHECK),
	 "A lock, A real, A deepen, A lock, A trylock, A trylock, A timedlock past,"
	 "A clocklock MONOTONIC far, B trylock, A flatten, A unlock, A unlock, B trylock,"
	 "B unlock"},
	{"destroy-held", ANY,
	 "A lock, A destroy, A unlock, A lock, B destroy, A unlock, B destroy"},
	{"dies", ANY & ~STALLED,
	 "A lock, A exit, B trylock, B consistent, B consistent, B unlock, C lock, C unlock,"
	 "C consistent"},
	{"dies-real", ANY & ~STALLED,
	 "A lock, A real, A exit, B lock, B trylock ?, B consistent, B unlock, C timedlock far,"
	 "C unlock"},
	{"dies-timed", ANY & ~STALLED,
	 "A lock, A exit, B timedlock past, B consistent, B exit, C clocklock MONOTONIC far,"
	 "C consistent, C unlock"},
	{"dies-waiting", ANY & ~STALLED,
	 "A lock, B timedlock far &, A pause MONOTONIC 3, A exit, B done, B consistent, B unlock,"
	 "C trylock, C unlock"},
	{"lost", ANY & ~STALLED,
	 /* After the trylock glibc 2.36 waits for ever: it has left the lost mutex locked. */
	 "A lock, A exit, B lock, B unlock, C lock, C timedlock past, C timedlock far,"
	 "C clocklock MONOTONIC far, C clocklock unknown far, C unlock, C consistent, C trylock,"
	 "C destroy"},
	{"leaked", ANY & ~(ROBUST | PI),
	 "A lock, A exit, B trylock ?, B timedlock ? past, B clocklock ? MONOTONIC +5,"
	 "B destroy"},
	{"not-robust", ANY & ~ROBUST,
	 "A consistent, A lock, A consistent, A unlock, A lock, A unlock"},
};

static const struct {
	const char *name;
	int value;
	unsigned int is;
} types[] = {
	{"normal", PTHREAD_MUTEX_NORMAL, NORMAL},
	{"recursive", PTHREAD_MUTEX_RECURSIVE, RECURSIVE},
	{"errorcheck", PTHREAD_MUTEX_ERRORCHECK, ERRORCHECK},
	{"default", PTHREAD_MUTEX_DEFAULT, NORMAL},
	{"adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, NORMAL},
}, protocols[] = {
	{"none", PTHREAD_PRIO_NONE, NO_PI},
	{"inherit", PTHREAD_PRIO_INHERIT, PI},
	{"protect", PTHREAD_PRIO_PROTECT, NO_PI},
}, robustness[] = {
	{"stalled", PTHREAD_MUTEX_STALLED, STALLED},
	{"robust", PTHREAD_MUTEX_ROBUST, ROBUST},
};

/* Combinations of attributes, one number each: those of private mutexes come first. */
#define NR_PRIVATE      (ARRAY_SIZE(types) * ARRAY_SIZE(protocols) * ARRAY_SIZE(robustness))
#define NR_COMBINATIONS (2 * NR_PRIVATE)

int mutex_init_as(unsigned int number, pthread_mutex_t *m, unsigned int *is, char *about,
		  size_t size)
{
	unsigned int type = number % ARRAY_SIZE(types), shared;
	unsigned int protocol = (number /= ARRAY_SIZE(types)) % ARRAY_SIZE(protocols);
	unsigned int robust = (number /= ARRAY_SIZE(protocols)) % ARRAY_SIZE(robustness);
	pthread_mutexattr_t a;
	int err;

	shared = (number /= ARRAY_SIZE(robustness));
	if (shared > 1)
		return -1;
	*is = types[type].is | protocols[protocol].is | robustness[robust].is;
	pthread_mutexattr_init(&a);
	err = pthread_mutexattr_settype(&a, types[type].value) |
	      pthread_mutexattr_setprotocol(&a, protocols[protocol].value) |
	      pthread_mutexattr_setrobust(&a, robustness[robust].value) |
	      pthread_mutexattr_setpshared(&a, shared) | pthread_mutex_init(m, &a);
	pthread_mutexattr_destroy(&a);
	snprintf(about, size, "%s %s %s %s", shared ? "shared" : "private",
		 protocols[protocol].name, robustness[robust].name, types[type].name);
	return err;
}

int mutex_init_by_name(const char *name, pthread_mutex_t *m, unsigned int *is)
{
	char about[128];
	int err;

	for (unsigned int number = 0;; number++) {
		err = mutex_init_as(number, m, is, about, sizeof(about));
		if (err < 0 || !strcmp(about, name))
			return err;
	}
}

void conform_mutex(void)
{
	char about[128];

	for (unsigned int number = 0; number < NR_COMBINATIONS; number++) {
		for (size_t row = 0; row < ARRAY_SIZE(mutex_rows); row++) {
			struct subject *s = new_subject(CLOCK_REALTIME, number >= NR_PRIVATE);
			unsigned int is;
			int err = mutex_init_as(number, &s->lock.mutex, &is, about, sizeof(about));

			strcat(strcat(about, " "), mutex_rows[row].name);
			/* ENOTSUP, of robust mutexes with a ceiling. */
			if (err) {
				printf("mutex %s: init = %d\n", about, err);
				break;
			}
			if (!(is & ~mutex_rows[row].fits) &&
			    !script_run(&mutexes, s, about, mutex_rows[row].script))
				break;
		}
	}
}

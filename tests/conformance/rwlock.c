/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rwlock.c - scripts for pthread_rwlock_* with every combination of attributes, and for
 * pthread_spin_*.
 */
#include <stdio.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "conform.h"

/* In pthread_rwlock_t.__data.__readers: a writer waits. See preload/glibc-layout.h. */
#define WRITER_WAITS 2u
/* Microseconds between two looks for it. */
#define LOOK_US 500

static int rdlock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_rwlock_rdlock(&s->lock.rwlock);
}

static int tryrdlock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_rwlock_tryrdlock(&s->lock.rwlock);
}

static int timedrdlock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_rwlock_timedrdlock(&s->lock.rwlock, until);
}

static int clockrdlock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_rwlock_clockrdlock(&s->lock.rwlock, clock, until);
}

static int wrlock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_rwlock_wrlock(&s->lock.rwlock);
}

static int trywrlock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_rwlock_trywrlock(&s->lock.rwlock);
}

static int timedwrlock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_rwlock_timedwrlock(&s->lock.rwlock, until);
}

static int clockwrlock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_rwlock_clockwrlock(&s->lock.rwlock, clock, until);
}

static int rw_unlock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_rwlock_unlock(&s->lock.rwlock);
}

static int rw_destroy(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_rwlock_destroy(&s->lock.rwlock);
}

static int await_writer(struct subject *s, clockid_t clock, const struct timespec *until)
{
	const unsigned int *readers = &s->lock.rwlock.__data.__readers;

	while (!(__atomic_load_n(readers, __ATOMIC_RELAXED) & WRITER_WAITS))
		usleep(LOOK_US);
	return 0;
}

static const struct call rwlock_calls[] = {
	{"rdlock", rdlock}, {"tryrdlock", tryrdlock}, {"timedrdlock", timedrdlock},
	{"clockrdlock", clockrdlock}, {"wrlock", wrlock}, {"trywrlock", trywrlock},
	{"timedwrlock", timedwrlock}, {"clockwrlock", clockwrlock}, {"unlock", rw_unlock},
	{"destroy", rw_destroy}, {"await-writer", await_writer}, {NULL, NULL},
};

static int rw_acquire(struct subject *s)
{
	return pthread_rwlock_wrlock(&s->lock.rwlock);
}

static int rw_release(struct subject *s)
{
	return pthread_rwlock_unlock(&s->lock.rwlock);
}

static bool is_zero(int answer)
{
	return !answer;
}

static const struct family rwlocks = {"rwlock", rwlock_calls, rw_acquire, rw_release, is_zero};

static const struct row rwlock_rows[] = {
	{"free",
	 "A rdlock, A unlock, A tryrdlock, A unlock, A timedrdlock past, A unlock,"
	 "A timedrdlock far, A unlock, A clockrdlock REALTIME past, A unlock,"
	 "A clockrdlock MONOTONIC far, A unlock, A wrlock, A unlock, A trywrlock, A unlock,"
	 "A timedwrlock past, A unlock, A timedwrlock far, A unlock, A clockwrlock REALTIME past,"
	 "A unlock, A clockwrlock MONOTONIC far, A unlock, B tryrdlock, B unlock, B trywrlock,"
	 "B unlock, A destroy"},
	{"free-odd-times",
	 "A timedrdlock nsec-negative, A timedrdlock nsec-many, A timedrdlock ? before-1970,"
	 "A timedrdlock ? nsec-most, A clockrdlock MONOTONIC nsec-many,"
	 "A clockrdlock REALTIME past-nsec-negative, A timedwrlock nsec-negative,"
	 "A timedwrlock nsec-many, A timedwrlock ? before-1970, A timedwrlock ? nsec-most,"
	 "A clockwrlock MONOTONIC nsec-negative, A clockwrlock REALTIME past-nsec-negative,"
	 "B trywrlock, B unlock"},
	{"clocks",
	 "A clockrdlock ? MONOTONIC_RAW far, A clockrdlock ? BOOTTIME far,"
	 "A clockrdlock ? TAI far, A clockrdlock ? PROCESS_CPUTIME far,"
	 "A clockrdlock ? minus-one far, A clockrdlock ? unknown nsec-many,"
	 "A clockwrlock ? MONOTONIC_RAW far, A clockwrlock ? BOOTTIME far,"
	 "A clockwrlock ? PROCESS_CPUTIME far, A clockwrlock ? minus-one far,"
	 "A clockwrlock ? unknown nsec-many, B trywrlock, B unlock"},
	{"read",
	 "A rdlock, B tryrdlock, B unlock, B rdlock, B unlock, B timedrdlock past, B unlock,"
	 "B trywrlock ?, B timedwrlock ? past, B timedwrlock ? before-1970,"
	 "B timedwrlock ? nsec-many, B clockwrlock ? MONOTONIC past,"
	 "B clockwrlock ? unknown past, B tryrdlock, A unlock, A trywrlock, B unlock,"
	 "A trywrlock, A unlock"},
	{"written",
	 "A wrlock, B tryrdlock ?, B trywrlock ?, B timedrdlock ? past, B timedwrlock ? past,"
	 "B timedrdlock ? before-1970, B timedwrlock ? before-1970,"
	 "B timedrdlock ? nsec-negative, B timedwrlock ? nsec-many,"
	 "B clockrdlock ? MONOTONIC past, B clockwrlock ? REALTIME past,"
	 "B clockrdlock ? unknown past, B clockwrlock ? PROCESS_CPUTIME far, A unlock,"
	 "B tryrdlock, B unlock, B trywrlock, B unlock"},
	{"expires-read",
	 "A wrlock, B timedrdlock ? +10, B clockrdlock ? REALTIME +10,"
	 "B clockrdlock ? MONOTONIC +10, A unlock, B rdlock, B unlock"},
	{"expires-write",
	 "A wrlock, B timedwrlock ? +10, B clockwrlock ? REALTIME +10,"
	 "B clockwrlock ? MONOTONIC +10, A unlock, B wrlock, B unlock"},
	{"expires-behind-reader",
	 "A rdlock, B timedwrlock ? +10, B clockwrlock ? REALTIME +10,"
	 "B clockwrlock ? MONOTONIC +10, B tryrdlock, B unlock, A unlock, B wrlock, B unlock"},
	{"freed",
	 "A wrlock, B timedrdlock far &, A pause MONOTONIC 3, A unlock, B done, B unlock,"
	 "A wrlock, B clockwrlock MONOTONIC far &, A pause MONOTONIC 3, A unlock, B done,"
	 "B unlock, A wrlock, B rdlock &, A pause MONOTONIC 3, A unlock, B done, B unlock,"
	 "A wrlock, B wrlock &, A pause MONOTONIC 3, A unlock, B done, B unlock, A rdlock,"
	 "B timedwrlock far &, A pause MONOTONIC 3, A unlock, B done, B unlock"},
	{"own-write",
	 "A wrlock, A rdlock, A wrlock, A tryrdlock, A trywrlock, A timedrdlock past,"
	 "A timedwrlock far, A clockrdlock MONOTONIC far, A clockwrlock MONOTONIC past,"
	 "A clockwrlock unknown far, A timedrdlock nsec-many, B tryrdlock, A unlock, B trywrlock,"
	 "B unlock"},
	{"own-read",
	 "A rdlock, A rdlock, A tryrdlock, A timedrdlock past, A trywrlock, A timedwrlock past,"
	 "A timedwrlock +5, A clockwrlock MONOTONIC +5, A unlock, A unlock, A unlock,"
	 "B trywrlock, A unlock, B trywrlock, B unlock"},
	{"writer-waits",
	 "A rdlock, B timedwrlock far &, A await-writer, C tryrdlock ?, C trywrlock,"
	 "C timedrdlock ? past, A unlock, B done, C tryrdlock, B unlock, C tryrdlock, C unlock"},
	{"writer-gives-up",
	 "A rdlock, B timedwrlock +10, C tryrdlock, C timedrdlock past, C unlock, C unlock,"
	 "A unlock, B trywrlock, B unlock"},
	{"dies",
	 "A wrlock, A exit, B tryrdlock ?, B trywrlock ?, B timedrdlock ? past,"
	 "B clockwrlock ? MONOTONIC +5"},
	{"turns",
	 "A rdlock, A real, B rdlock, B real, A unlock, B unlock, A wrlock, A real, A unlock,"
	 "B wrlock, B unlock, B rdlock, B unlock, A wrlock, A unlock, A destroy"},
};

static const struct {
	const char *name;
	int value;
} kinds[] = {
	{"prefer-reader", PTHREAD_RWLOCK_PREFER_READER_NP},
	{"prefer-writer", PTHREAD_RWLOCK_PREFER_WRITER_NP},
	{"prefer-writer-nonrecursive", PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP},
};

static void rwlock_case(int shared, unsigned int kind, const struct row *row)
{
	struct subject *s = new_subject(CLOCK_REALTIME, shared);
	pthread_rwlockattr_t a;
	char about[128];
	int err;

	pthread_rwlockattr_init(&a);
	err = pthread_rwlockattr_setpshared(&a, shared) |
	      pthread_rwlockattr_setkind_np(&a, kinds[kind].value) |
	      pthread_rwlock_init(&s->lock.rwlock, &a);
	pthread_rwlockattr_destroy(&a);
	snprintf(about, sizeof(about), "%s %s %s", shared ? "shared" : "private", kinds[kind].name,
		 row->name);
	if (err)
		printf("rwlock %s: init = %d\n", about, err);
	else
		script_run(&rwlocks, s, about, row->script);
}

void conform_rwlock(void)
{
	for (int shared = 0; shared < 2; shared++)
		for (size_t kind = 0; kind < ARRAY_SIZE(kinds); kind++)
			for (size_t row = 0; row < ARRAY_SIZE(rwlock_rows); row++)
				rwlock_case(shared, kind, &rwlock_rows[row]);
}

static int spin_lock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_spin_lock(&s->lock.spin);
}

static int spin_trylock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_spin_trylock(&s->lock.spin);
}

static int spin_unlock(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_spin_unlock(&s->lock.spin);
}

static int spin_destroy(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_spin_destroy(&s->lock.spin);
}

static int spin_init(struct subject *s, clockid_t clock, const struct timespec *until)
{
	return pthread_spin_init(&s->lock.spin, PTHREAD_PROCESS_PRIVATE);
}

static const struct call spin_calls[] = {
	{"lock", spin_lock}, {"trylock", spin_trylock}, {"unlock", spin_unlock},
	{"destroy", spin_destroy}, {"init", spin_init}, {NULL, NULL},
};

static int spin_acquire(struct subject *s)
{
	return pthread_spin_lock(&s->lock.spin);
}

static int spin_release(struct subject *s)
{
	return pthread_spin_unlock(&s->lock.spin);
}

static const struct family spins = {"spin", spin_calls, spin_acquire, spin_release, is_zero};

static const struct row spin_rows[] = {
	{"free",
	 "A lock, A unlock, A trylock, A unlock, B lock, B unlock, A destroy, A init, A lock,"
	 "A unlock"},
	{"held",
	 "A lock, B trylock ?, B trylock ?, A unlock, B trylock, A trylock, B unlock, A lock,"
	 "A unlock"},
	{"own", "A lock, A trylock, A unlock, A trylock, A trylock, A unlock, B trylock, B unlock"},
	{"real", "A lock, A real, A trylock, B trylock, A unlock, A trylock, A unlock"},
	{"freed",
	 "A lock, B lock &, A pause MONOTONIC 1, A unlock, B done, B unlock, A trylock,"
	 "A unlock"},
	{"foreign-unlock", "A lock, A real, B unlock, B trylock, B unlock, A trylock, A unlock"},
	{"dies", "A lock, A exit, B trylock, B unlock, B trylock, B unlock"},
};

void conform_spin(void)
{
	char about[128];

	for (int shared = 0; shared < 2; shared++)
		for (size_t row = 0; row < ARRAY_SIZE(spin_rows); row++) {
			struct subject *s = new_subject(CLOCK_REALTIME, shared);
			int err = pthread_spin_init(&s->lock.spin, shared);

			snprintf(about, sizeof(about), "%s %s", shared ? "shared" : "private",
				 spin_rows[row].name);
			if (err)
				printf("spin %s: init = %d\n", about, err);
			else
				script_run(&spins, s, about, spin_rows[row].script);
		}
}

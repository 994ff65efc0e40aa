/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waits.c - threads that wait for units of a semaphore in every way there is, for a lock made of a futex, and for each
 * other at a barrier; the units are counted under a mutex.
 */
#include <errno.h>
#include <linux/futex.h>
#include <semaphore.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "torture.h"

/* Units of the semaphore: fewer than threads, so that some wait. */
#define UNITS 2
/* Turns between two meetings at the barrier. */
#define MEETING 16
/* Microseconds after which a wake-up is lost; far more than a busy machine delays one. */
#define LOST_US 20000000

static struct {
	sem_t units;
	pthread_barrier_t barrier;
	pthread_mutex_t mutex;
	unsigned int out;
	unsigned long given;
	unsigned long serials;
	uint32_t futex;
	unsigned long in_futex;
	unsigned long meetings[MAX_THREADS];
} place = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct worker workers[MAX_THREADS];

/* Takes a unit in one of the ways there are. Nonzero: errno of a wait that should not have failed. */
static int take_unit(struct worker *w)
{
	clockid_t clock = one_in(&w->random, 2) ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	struct timespec until;
	int err;

	if (one_in(&w->random, 4) && !sem_trywait(&place.units))
		return 0;
	switch (random_below(&w->random, 3)) {
	case 0:
		err = sem_wait(&place.units);
		break;
	case 1:
		until = deadline(CLOCK_REALTIME, LOST_US);
		err = sem_timedwait(&place.units, &until);
		break;
	default:
		until = deadline(clock, LOST_US);
		err = sem_clockwait(&place.units, clock, &until);
	}
	return err ? errno : 0;
}

static void count_unit(struct worker *w, int change)
{
	pthread_mutex_lock(&place.mutex);
	place.out += change;
	place.given += change > 0;
	w->overlaps += place.out > UNITS;
	pthread_mutex_unlock(&place.mutex);
	w->acquired++;
}

/* 0: free; 1: locked; 2: locked, and others wait (U. Drepper, "Futexes are tricky", mutex 2). */
static void lock_futex(struct worker *w)
{
	struct timespec until = {0, 1000 * random_below(&w->random, 3)};
	uint32_t free = 0;

	if (__atomic_compare_exchange_n(&place.futex, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&place.futex, 2, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &place.futex, FUTEX_WAIT_PRIVATE, 2, until.tv_nsec ? &until : NULL, NULL, 0);
}

static void unlock_futex(void)
{
	if (__atomic_exchange_n(&place.futex, 0, __ATOMIC_RELEASE) == 2)
		syscall(SYS_futex, &place.futex, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void use_futex(struct worker *w)
{
	unsigned long before;

	lock_futex(w);
	before = place.in_futex++;
	if (one_in(&w->random, 32))
		usleep(50);
	w->overlaps += place.in_futex != before + 1;
	unlock_futex();
}

/* All threads have had as many meetings once they have met. */
static void meet(struct worker *w)
{
	int answer;

	place.meetings[w->me]++;
	answer = pthread_barrier_wait(&place.barrier);
	for (unsigned int i = 0; i < w->run->threads; i++)
		w->torn += place.meetings[i] != place.meetings[w->me];
	if (answer == PTHREAD_BARRIER_SERIAL_THREAD)
		__atomic_add_fetch(&place.serials, 1, __ATOMIC_RELAXED);
	else
		w->wrong += answer != 0;
	/* Or one would count the next meeting while another still compares. */
	pthread_barrier_wait(&place.barrier);
}

static void *use_units(void *arg)
{
	struct worker *w = arg;

	for (unsigned long i = 0; i < w->run->rounds; i++) {
		int err = take_unit(w);

		if (err) {
			w->wrong++;
			w->wrong_answer = err;
		} else {
			count_unit(w, 1);
			/* Long enough for others to find no unit left. */
			if (one_in(&w->random, 32))
				usleep(50);
			count_unit(w, -1);
			w->wrong += sem_post(&place.units) != 0;
		}
		use_futex(w);
		if (i % MEETING == 0)
			meet(w);
	}
	return NULL;
}

unsigned int run_waits(const struct run *run, unsigned long *acquired)
{
	unsigned long meetings = (run->rounds + MEETING - 1) / MEETING, given = 0;
	pthread_t threads[MAX_THREADS];
	unsigned int failed = 0;
	int left = -1;

	sem_init(&place.units, 0, UNITS);
	pthread_barrier_init(&place.barrier, NULL, run->threads);
	workers_make(workers, run);
	for (unsigned int i = 0; i < run->threads; i++)
		pthread_create(&threads[i], NULL, use_units, &workers[i]);
	for (unsigned int i = 0; i < run->threads; i++) {
		pthread_join(threads[i], NULL);
		*acquired += workers[i].acquired;
		given += workers[i].acquired / 2;
		if (workers[i].wrong || workers[i].overlaps || workers[i].torn)
			failed += say("thread %u: %lu wrong answers (%d), %lu units too many, "
				      "%lu left behind at the barrier", i, workers[i].wrong,
				      workers[i].wrong_answer, workers[i].overlaps,
				      workers[i].torn);
	}
	sem_getvalue(&place.units, &left);
	if (left != UNITS || place.out || place.given != given)
		failed += say("%d units left, %u out, %lu given of %lu", left, place.out,
			      place.given, given);
	if (place.in_futex != run->rounds * run->threads)
		failed += say("%lu sections of the futex of %lu", place.in_futex, run->rounds * run->threads);
	if (place.serials != meetings)
		failed += say("%lu meetings with %lu last ones", meetings, place.serials);
	return failed;
}

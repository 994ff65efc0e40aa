// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * locked-counter.c - a plain pthread program that counts under each kind of lock: locked-counter
 * THREADS ROUNDS. Its locks are elided only if a preloaded library does so.
 *
 * Prints the counts, which are the same in each correct run. Prints what is wrong and exits with 1
 * if a count is not exact, if a reader saw half of an update, or if a lock is not free at the end.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_THREADS 64
#define CELLS	    4 /* few, so that several threads write the same one */
#define START	    1000

/* A counter on a cache line of its own. */
struct cell {
	long value;
} __attribute__((aligned(64)));

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t tried = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t start; /* the first thread must not end before the last begins */

static struct cell by_mutex[CELLS], by_spin[CELLS], by_try[CELLS];
static struct cell twins[2];	      /* equal whenever the rwlock is free */
static struct cell accounts[CELLS];   /* their sum is constant whenever outer is free */
static struct cell torn[MAX_THREADS]; /* times that a reader saw unequal twins */

static long rounds;
static int failures;

/* Random numbers of a thread, as rand() has a lock. The constants are those of Knuth's MMIX. */
static unsigned int draw(unsigned long long *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

/* Loads and stores with a loop in between, in which other threads run if no lock excludes them. */
static void add(struct cell *cell, long n)
{
	long value = *(volatile long *)&cell->value;

	for (volatile int i = 0; i < 40; i++)
		;
	*(volatile long *)&cell->value = value + n;
}

static void add_by_try(unsigned int cell)
{
	while (pthread_mutex_trylock(&tried))
		;
	add(&by_try[cell], 1);
	pthread_mutex_unlock(&tried);
}

/* Changes accounts under the lock outer, in which it nests the lock inner. */
static void transfer(unsigned int from, unsigned int to)
{
	pthread_mutex_lock(&outer);
	add(&accounts[from], -1);
	pthread_mutex_lock(&inner);
	add(&accounts[to], 1);
	pthread_mutex_unlock(&inner);
	pthread_mutex_unlock(&outer);
}

static void read_or_write_twins(int write, struct cell *seen_torn)
{
	if (write) {
		pthread_rwlock_wrlock(&rwlock);
		add(&twins[0], 1);
		add(&twins[1], 1);
	} else {
		pthread_rwlock_rdlock(&rwlock);
		seen_torn->value += twins[0].value != twins[1].value;
	}
	pthread_rwlock_unlock(&rwlock);
}

static void *work(void *arg)
{
	unsigned long thread = (unsigned long)arg;
	unsigned long long random = thread + 1;

	pthread_barrier_wait(&start);
	for (long i = 0; i < rounds; i++) {
		unsigned int cell = draw(&random) % CELLS;

		pthread_mutex_lock(&mutex);
		add(&by_mutex[cell], 1);
		pthread_mutex_unlock(&mutex);

		pthread_spin_lock(&spin);
		add(&by_spin[cell], 1);
		pthread_spin_unlock(&spin);

		add_by_try(cell);
		transfer(cell, draw(&random) % CELLS);
		read_or_write_twins(i % 4 == 0, &torn[thread]);
	}
	return NULL;
}

static void expect(const char *what, long got, long want)
{
	printf("%s %ld\n", what, got);
	if (got == want)
		return;
	fprintf(stderr, "%s: %ld, not %ld\n", what, got, want);
	failures++;
}

static long sum(const struct cell *cells, int nr)
{
	long total = 0;

	for (int i = 0; i < nr; i++)
		total += cells[i].value;
	return total;
}

int main(int argc, char **argv)
{
	long nr_threads = argc == 3 ? atol(argv[1]) : 0;
	pthread_t threads[MAX_THREADS];

	rounds = argc == 3 ? atol(argv[2]) : 0;
	if (nr_threads < 1 || nr_threads > MAX_THREADS || rounds < 1) {
		fprintf(stderr, "usage: locked-counter THREADS(1-%d) ROUNDS\n", MAX_THREADS);
		return 2;
	}
	pthread_barrier_init(&start, NULL, nr_threads);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	for (int i = 0; i < CELLS; i++)
		accounts[i].value = START;

	for (long i = 0; i < nr_threads; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 2;
	for (long i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);

	expect("mutex", sum(by_mutex, CELLS), nr_threads * rounds);
	expect("spin", sum(by_spin, CELLS), nr_threads * rounds);
	expect("trylock", sum(by_try, CELLS), nr_threads * rounds);
	expect("nested", sum(accounts, CELLS), CELLS * START);
	expect("rwlock", twins[0].value, nr_threads * ((rounds + 3) / 4));
	expect("its twin", twins[1].value, twins[0].value);
	expect("torn", sum(torn, MAX_THREADS), 0);
	expect("held",
	       !!pthread_mutex_trylock(&mutex) + !!pthread_mutex_trylock(&outer) +
		       !!pthread_mutex_trylock(&inner) + !!pthread_mutex_trylock(&tried) +
		       !!pthread_rwlock_trywrlock(&rwlock) + !!pthread_spin_trylock(&spin),
	       0);
	return failures != 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * counter.c - threads add to shared counters under an elided spin lock.
 *
 * usage: counter THREADS ITERATIONS COUNTERS
 *
 * The sum must be exact whatever aborts. Prints commits and aborts, which are the same in each run
 * with the same seed.
 */
#include <pthread.h>
#include <string.h>

#include "emu.h"

#define BUSY 0xff
#define ATTEMPTS 5
#define MAX_COUNTERS 1024

static volatile int lock __cacheline_aligned;
static struct {
	volatile long value;
} __cacheline_aligned counters[MAX_COUNTERS];
static int nr_iterations, nr_counters;

struct tally {
	long commits;
	long conflicts;
	long others;
	long fallbacks;
};

static struct tally total;
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;

static void spin_lock(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		while (lock)
			cpu_relax();
}

static void add_two(int a, int b, struct tally *tally)
{
	int i;

	for (i = 0; i < ATTEMPTS; i++) {
		unsigned int status = rtm_begin();

		if (status == RTM_STARTED) {
			if (lock)
				rtm_abort(BUSY);
			counters[a].value++;
			counters[b].value++;
			rtm_end();
			tally->commits++;
			return;
		}
		if (status & RTM_CONFLICT)
			tally->conflicts++;
		else
			tally->others++;
		while (lock)
			cpu_relax();
	}
	spin_lock();
	counters[a].value++;
	counters[b].value++;
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	tally->fallbacks++;
}

static unsigned int next_random(unsigned int *state)
{
	*state = *state * 1103515245 + 12345;
	return *state >> 8;
}

static void *worker(void *arg)
{
	unsigned int random = (long)arg * 7919 + 1;
	struct tally tally = {0};
	int i;

	for (i = 0; i < nr_iterations; i++) {
		int a = next_random(&random) % nr_counters;

		add_two(a, next_random(&random) % nr_counters, &tally);
	}
	pthread_mutex_lock(&total_lock);
	total.commits += tally.commits;
	total.conflicts += tally.conflicts;
	total.others += tally.others;
	total.fallbacks += tally.fallbacks;
	pthread_mutex_unlock(&total_lock);
	return NULL;
}

int main(int argc, char **argv)
{
	long i, nr_threads, sum = 0;
	pthread_t *threads;
	long long begun;

	emu_require();
	if (argc != 4)
		return 2;
	nr_threads = atoi(argv[1]);
	nr_iterations = atoi(argv[2]);
	nr_counters = atoi(argv[3]);
	threads = calloc(nr_threads, sizeof(*threads));
	/* The library sends this request when its start-up probe is over. */
	rtmgrind_request(RTMGRIND_PROBE_DONE, 0, 0);

	begun = emu_ns();
	for (i = 0; i < nr_threads; i++)
		check("pthread_create", pthread_create(&threads[i], NULL, worker, (void *)i), 0);
	for (i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < nr_counters; i++)
		sum += counters[i].value;
	printf("commits %ld conflicts %ld others %ld fallbacks %ld ns %lld\n", total.commits,
	       total.conflicts, total.others, total.fallbacks, emu_ns() - begun);
	check("sum", sum, 2 * nr_threads * nr_iterations);
	check("every addition counted", total.commits + total.fallbacks,
	      nr_threads * nr_iterations);
	free(threads);
	return emu_status();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * queue.c - threads remove from a queue, under a spin lock, compare-and-swap
 * and RTM with unlimited retries: Goel et al. as quoted in thesis 4.6.4.
 *
 * usage: queue THREADS
 *
 * The quotation names neither the queue nor the levels of contention. Here it
 * is an array and the index of its first element; none is added meanwhile.
 * Alone: one thread. High contention: THREADS threads do nothing but remove.
 * Low: each also works for itself as long as ten removals take.
 */
#include "fidelity.h"

/* Removals of all threads together. */
#define ELEMENTS 12000

/* Cycles of work between two removals at low contention. */
#define OWN_WORK 600

#define EMPTY (-1)

static int64_t elements[ELEMENTS] __cacheline_aligned;
static int64_t first __cacheline_aligned;
static int lock __cacheline_aligned;

static int64_t remove_spin(void)
{
	int64_t element = EMPTY;

	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		while (READ_ONCE(lock))
			cpu_relax();
	if (first < ELEMENTS)
		element = elements[first++];
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	return element;
}

static int64_t remove_cas(void)
{
	int64_t at = READ_ONCE(first);

	while (at < ELEMENTS && !__atomic_compare_exchange_n(&first, &at, at + 1, false,
							     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	return at < ELEMENTS ? elements[at] : EMPTY;
}

static int64_t remove_rtm(void)
{
	int64_t element = EMPTY;

	while (rtm_begin() != RTM_STARTED)
		;
	if (first < ELEMENTS)
		element = elements[first++];
	rtm_end();
	return element;
}

static int64_t (*const ways[])(void) = {remove_spin, remove_cas, remove_rtm};
enum { SPIN, CAS, RTM, NR_WAYS };

struct job {
	int64_t (*remove)(void);
	int own_work;
	uint64_t sum;
};

static void removing(int thread, void *arg)
{
	struct job *job = arg;
	uint64_t sum = 0;
	int64_t element;

	while ((element = job->remove()) != EMPTY) {
		sum += element;
		if (job->own_work) {
			uint64_t end = cycles_now() + job->own_work;

			while (cycles_now() < end)
				;
		}
	}
	__atomic_fetch_add(&job->sum, sum, __ATOMIC_RELAXED);
}

/* Cycles until the queue is empty; every element must have been removed once. */
static double timed(int way, int threads, int own_work)
{
	struct job job = {.remove = ways[way], .own_work = own_work};
	uint64_t cycles;

	first = 0;
	cycles = in_threads(threads, removing, &job);
	if (job.sum != (uint64_t)ELEMENTS * (ELEMENTS - 1) / 2) {
		fprintf(stderr, "elements were lost or removed twice\n");
		exit(1);
	}
	return cycles;
}

int main(int argc, char **argv)
{
	double alone[NR_WAYS], low[NR_WAYS], high[NR_WAYS];
	int threads, way;

	if (argc != 2)
		return 2;
	threads = atoi(argv[1]);
	fidelity_begin(true);
	for (int i = 0; i < ELEMENTS; i++)
		elements[i] = i;
	fidelity_measure();
	/* So that nothing measured finds the array in memory. */
	timed(SPIN, threads, 0);
	for (way = 0; way < NR_WAYS; way++) {
		alone[way] = timed(way, 1, 0);
		low[way] = timed(way, threads, OWN_WORK);
		high[way] = timed(way, threads, 0);
		curve("alone", way, alone[way] / ELEMENTS);
		curve("low", way, low[way] / ELEMENTS);
		curve("high", way, high[way] / ELEMENTS);
	}
	figure("rtm_overhead", 100 * (alone[RTM] / alone[SPIN] - 1));
	figure("low_benefit", 100 * (1 - low[RTM] / low[SPIN]));
	figure("high_benefit", 100 * (1 - high[RTM] / high[SPIN]));
	figure("high_beats_cas", high[CAS] / high[RTM]);
	return 0;
}

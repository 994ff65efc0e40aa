// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * slices.c - laws that must hold however far a thread runs ahead of the others.
 *
 * slices LAW [SLACK]: the name of the law, and the cycles by which RDTSC may be behind that of
 * another thread; the system's clock must never be.
 *
 *   spin ticket mcs optimistic mutex   sections under one lock do not overlap in virtual time
 *   broken                             a lock that excludes nothing: fails if no sections overlap
 *   flag                               a loop of plain loads sees a plain store within SLACK
 *   meet                               transactions that write one line conflict
 *   alone                              four threads that share nothing take as long as one
 *   signals                            a signal for a thread is handled by that thread
 *   crash                              a thread's fault ends the process by its signal
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "emu.h"

#define NR_THREADS 4
#define NR_SECTIONS 60
/* Iterations inside a section and outside: from much less than a slice to much more. */
#define SHORTEST 10
#define LONGEST 3000

/* When a section began and ended, and whether it only reads: such sections may overlap. */
struct section {
	long long begin, end;
	int writes;
};

struct node {
	struct node *volatile next;
	volatile int waits;
};

static struct section sections[NR_THREADS * NR_SECTIONS];
static volatile long word;
static struct {
	volatile unsigned int next, serving;
} ticket __attribute__((aligned(64)));
static struct node *volatile tail;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int by_clock;
static const char *law;

static long long now(void)
{
	return by_clock ? emu_ns() : (long long)__rdtsc();
}

static void work(long iterations)
{
	for (; iterations; iterations--)
		__asm__ volatile("");
}

static void acquire(struct node *node)
{
	if (!strcmp(law, "spin")) {
		while (__atomic_exchange_n(&word, 1, __ATOMIC_ACQUIRE))
			while (word)
				;
	} else if (!strcmp(law, "broken")) {
		while (word)
			;
		work(LONGEST);
		word = 1;
	} else if (!strcmp(law, "ticket")) {
		unsigned int mine = __atomic_fetch_add(&ticket.next, 1, __ATOMIC_RELAXED);

		while (ticket.serving != mine)
			;
	} else if (!strcmp(law, "mcs")) {
		struct node *before;

		node->next = NULL;
		node->waits = 1;
		before = __atomic_exchange_n(&tail, node, __ATOMIC_ACQ_REL);
		if (before) {
			before->next = node;
			while (node->waits)
				;
		}
	} else if (!strcmp(law, "optimistic")) {
		long seen;

		do {
			while ((seen = word) & 1)
				;
		} while (!__atomic_compare_exchange_n(&word, &seen, seen + 1, 0, __ATOMIC_ACQUIRE,
						      __ATOMIC_RELAXED));
	} else {
		pthread_mutex_lock(&mutex);
	}
}

static void release(struct node *node)
{
	if (!strcmp(law, "spin") || !strcmp(law, "broken")) {
		word = 0;
	} else if (!strcmp(law, "ticket")) {
		ticket.serving++;
	} else if (!strcmp(law, "mcs")) {
		struct node *last = node;

		if (!node->next && __atomic_compare_exchange_n(&tail, &last, NULL, 0,
							       __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return;
		while (!node->next)
			;
		node->next->waits = 0;
	} else if (!strcmp(law, "optimistic")) {
		word++;
	} else {
		pthread_mutex_unlock(&mutex);
	}
}

/* A read section of the optimistic lock, which counts if no thread has written meanwhile. */
static void read_section(struct section *s, long length)
{
	long seen;

	do {
		while ((seen = word) & 1)
			;
		s->begin = now();
		work(length);
		s->end = now();
	} while (word != seen);
}

static void *lock_often(void *arg)
{
	struct section *mine = &sections[(long)arg * NR_SECTIONS];
	unsigned int seed = (long)arg + 1;
	struct node node;
	int i;

	pthread_barrier_wait(&barrier);
	for (i = 0; i < NR_SECTIONS; i++) {
		long length = SHORTEST + rand_r(&seed) % (LONGEST - SHORTEST);

		work(rand_r(&seed) % LONGEST);
		mine[i].writes = strcmp(law, "optimistic") != 0 || rand_r(&seed) % 2;
		if (!mine[i].writes) {
			read_section(&mine[i], length);
			continue;
		}
		acquire(&node);
		mine[i].begin = now();
		work(length);
		mine[i].end = now();
		release(&node);
	}
	return NULL;
}

static void run_threads(void *(*body)(void *), int nr)
{
	pthread_t threads[NR_THREADS];
	long i;

	pthread_barrier_init(&barrier, NULL, nr);
	for (i = 0; i < nr; i++)
		check("create", pthread_create(&threads[i], NULL, body, (void *)i), 0);
	for (i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
}

static long overlaps(long long slack)
{
	long i, j, nr = 0;

	for (i = 0; i < NR_THREADS * NR_SECTIONS; i++)
		for (j = 0; j < i; j++)
			nr += (sections[i].writes || sections[j].writes) &&
			      sections[i].begin + slack < sections[j].end &&
			      sections[j].begin + slack < sections[i].end;
	return nr;
}

static void test_lock(long long slack)
{
	for (by_clock = 0; by_clock < 2; by_clock++) {
		long nr;

		run_threads(lock_often, NR_THREADS);
		nr = overlaps(by_clock ? 0 : slack);
		if (!strcmp(law, "broken"))
			check("a broken lock is caught", nr > 0, 1);
		else
			check(by_clock ? "overlaps by the clock" : "overlaps by RDTSC", nr, 0);
	}
}

static long long stored_at, seen_at;

static void *store_or_poll(void *arg)
{
	pthread_barrier_wait(&barrier);
	if (!arg) {
		work(100 * LONGEST);
		stored_at = __rdtsc();
		word = 1;
		/* The store must become visible although this thread makes no further access. */
		work(100 * LONGEST);
	} else {
		while (!word)
			;
		seen_at = __rdtsc();
	}
	return NULL;
}

static void test_flag(long long slack)
{
	run_threads(store_or_poll, 2);
	check("seen too early", seen_at + slack < stored_at, 0);
	check("seen too late", seen_at > stored_at + slack, 0);
}

static volatile long nr_conflicts, counter;

static void *transact(void *arg)
{
	long done = 0;

	pthread_barrier_wait(&barrier);
	while (done < NR_SECTIONS) {
		unsigned int status = rtm_begin();

		if (status == RTM_STARTED) {
			counter++;
			work(LONGEST);
			rtm_end();
			done++;
		} else if (status & RTM_CONFLICT) {
			__atomic_fetch_add(&nr_conflicts, 1, __ATOMIC_RELAXED);
			/* A random pause, without which both could abort each other for ever. */
			work(rand() % (8 * LONGEST));
		}
	}
	return NULL;
}

static void test_meet(void)
{
	run_threads(transact, NR_THREADS);
	check("committed", counter, NR_THREADS * NR_SECTIONS);
	check("transactions met", nr_conflicts > NR_SECTIONS, 1);
}

static long long first_begin, last_end;

static void *compute(void *arg)
{
	long long begin, end;

	pthread_barrier_wait(&barrier);
	begin = __rdtsc();
	work(1000 * LONGEST);
	end = __rdtsc();
	pthread_mutex_lock(&mutex);
	if (!first_begin || begin < first_begin)
		first_begin = begin;
	if (end > last_end)
		last_end = end;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void test_alone(void)
{
	long long one;

	run_threads(compute, 1);
	one = last_end - first_begin;
	first_begin = last_end = 0;
	run_threads(compute, NR_THREADS);
	check("one per cent longer than one thread", last_end - first_begin > one + one / 100, 0);
}

static volatile int tids[NR_THREADS];
static volatile int nr_signals[NR_THREADS];
static volatile int nr_strays, nr_handled;
static __thread long self = -1;

static void count_signal(int signal)
{
	if (self < 0)
		nr_strays++;
	else
		nr_signals[self]++;
	__atomic_fetch_add(&nr_handled, 1, __ATOMIC_RELAXED);
}

static void *compute_until(void *arg)
{
	self = (long)arg;
	tids[self] = syscall(SYS_gettid);
	pthread_barrier_wait(&barrier);
	while (nr_handled < 2 * NR_THREADS)
		work(LONGEST);
	return NULL;
}

/* One signal from this process, and one from another, whose sending rtmgrind does not see. */
static void test_signals(void)
{
	pthread_t threads[NR_THREADS];
	pid_t child, parent = getpid();
	long i;

	signal(SIGUSR1, count_signal);
	pthread_barrier_init(&barrier, NULL, NR_THREADS + 1);
	for (i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, compute_until, (void *)i);
	pthread_barrier_wait(&barrier);
	for (i = NR_THREADS - 1; i >= 0; i--)
		pthread_kill(threads[i], SIGUSR1);
	while (nr_handled < NR_THREADS)
		work(LONGEST);
	child = fork();
	if (!child) {
		for (i = 0; i < NR_THREADS; i++)
			syscall(SYS_tgkill, parent, tids[i], SIGUSR1);
		_exit(0);
	}
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	waitpid(child, NULL, 0);
	check("signals of other threads", nr_strays, 0);
	for (i = 0; i < NR_THREADS; i++)
		check("signals of a thread", nr_signals[i], 2);
}

static volatile char *volatile nowhere;

/* The last thread writes to memory that is not mapped, while the others compute. */
static void *crash(void *arg)
{
	pthread_barrier_wait(&barrier);
	for (;;) {
		work(10 * LONGEST);
		if ((long)arg == NR_THREADS - 1)
			*nowhere = 0;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long long slack = argc > 2 ? atoll(argv[2]) : 0;

	emu_require();
	law = argc > 1 ? argv[1] : "";
	if (!strcmp(law, "flag"))
		test_flag(slack);
	else if (!strcmp(law, "meet"))
		test_meet();
	else if (!strcmp(law, "alone"))
		test_alone();
	else if (!strcmp(law, "signals"))
		test_signals();
	else if (!strcmp(law, "crash"))
		run_threads(crash, NR_THREADS);
	else
		test_lock(slack);
	return emu_status();
}

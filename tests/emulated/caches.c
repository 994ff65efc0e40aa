// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * caches.c - the latency of accesses on the simulated machine, and which transactions fit into its
 * first-level cache.
 *
 * usage: caches latency L2 LLC MEMORY
 *        caches unused MEMORY
 *        caches transfer CLEAN DIRTY
 *        caches contended DIRTY
 *        caches replacement SETS WAYS L2 LEAST MOST
 *        caches writes SETS WAYS
 *        caches reads SETS WAYS BEYOND
 *        caches lost SETS WAYS
 *        caches siblings SETS WAYS commits|capacity
 *
 * The arguments are numbers of the machine: SETS and WAYS of the first level; latencies in cycles;
 * BEYOND, the lines that a read set may have beyond the first level; and the LEAST and MOST misses
 * of a round. For latency the first level has 32 KiB, the second 64, the last 512. Prints only what
 * is wrong.
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "emu.h"

#define LINE 64
#define PAGE 4096
#define MANY 16384 /* lines: more than the last level has */

/*
 * Cycles by which an average may differ: for the loop around the accesses, and the few lines of the
 * stack.
 */
#define SLACK 4

static char *memory;
static long sets, ways;

static char *lines_of(size_t nr)
{
	char *p = mmap(NULL, nr * LINE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(2);
	return p;
}

/* Reads or writes @nr bytes that are @stride apart. Return: cycles. */
static long walk(char *first, long nr, long stride, int write)
{
	unsigned long long begun = __builtin_ia32_rdtsc();
	volatile char *at = first;
	long i;

	for (i = 0; i < nr; i++, at += stride) {
		if (write)
			*at = 1;
		else
			(void)*at;
	}
	return __builtin_ia32_rdtsc() - begun;
}

/* Makes @nr accesses to one line. Return: cycles, those of a walk() without a cache miss. */
static long walk_free(long nr, int write)
{
	static char here[LINE];

	walk(here, nr, 0, write);
	return walk(here, nr, 0, write);
}

static void check_cycles(const char *name, long got, long want)
{
	if (got < want - SLACK || got > want + SLACK) {
		printf("%s: %ld cycles instead of %ld\n", name, got, want);
		emu_failed = 1;
	}
}

/* Reads @nr lines three times. Return: average cycles beyond a first-level hit, the last time. */
static long round_cost(long nr, long stride)
{
	int i;
	long cycles = 0;

	for (i = 0; i < 3; i++) {
		cycles = walk(memory, nr, stride, 0);
	}
	return (cycles - walk_free(nr, 0)) / nr;
}

static void latency(char **argv)
{
	check_cycles("first level", round_cost(64, LINE), 0);
	check_cycles("second level", round_cost(768, LINE), atol(argv[0]));
	check_cycles("last level", round_cost(4096, LINE), atol(argv[1]));
	check_cycles("memory", round_cost(MANY, LINE), atol(argv[2]));
}

/* Reads @nr lines, a multiple of 4, each into the same register, which nothing reads. */
static long read_unused(char *first, long nr)
{
	unsigned long long begun = __builtin_ia32_rdtsc();
	long i;

	for (i = 0; i < nr; i += 4)
		__asm__ volatile("movb (%0), %%cl\n\t"
				 "movb 64(%0), %%cl\n\t"
				 "movb 128(%0), %%cl\n\t"
				 "movb 192(%0), %%cl\n\t"
				 "xorl %%ecx, %%ecx"
				 : : "r"(first + i * LINE) : "rcx", "memory");
	return __builtin_ia32_rdtsc() - begun;
}

/* VEX leaves out such loads. They are accesses all the same. */
static void unused(char **argv)
{
	read_unused(memory, MANY);
	check_cycles("loads whose values are not used", read_unused(memory, MANY) / MANY,
		     atol(argv[0]));
}

/* The number of the thread whose turn it is. */
static volatile int turn __cacheline_aligned;

static void wait_for(int which)
{
	while (turn != which)
		;
}

#define MOVED 128

static void *other_core(void *arg)
{
	(void)arg;
	wait_for(1);
	walk(memory, MOVED, LINE, 1);
	walk(memory + MOVED * LINE, 2 * MOVED, LINE, 0);
	turn = 2;
	wait_for(3);
	return NULL;
}

static void transfer(char **argv)
{
	long clean = atol(argv[0]), dirty = atol(argv[1]);
	char *modified = memory, *unmodified = memory + MOVED * LINE;
	pthread_t thread;

	pthread_create(&thread, NULL, other_core, NULL);
	turn = 1;
	wait_for(2);
	check_cycles("modified, read",
		     (walk(modified, MOVED, LINE, 0) - walk_free(MOVED, 0)) / MOVED, dirty);
	check_cycles("unmodified, read",
		     (walk(unmodified, MOVED, LINE, 0) - walk_free(MOVED, 0)) / MOVED, clean);
	check_cycles("unmodified, written",
		     (walk(unmodified + MOVED * LINE, MOVED, LINE, 1) - walk_free(MOVED, 1)) / MOVED,
		     clean);
	check_cycles("shared, read again",
		     (walk(modified, MOVED, LINE, 0) - walk_free(MOVED, 0)) / MOVED, 0);
	turn = 3;
	pthread_join(thread, NULL);
}

#define ROUNDS 1000
#define THREADS 4

/* Cycles between two increments: more than the latency of a line, so that others get it. */
static unsigned long long work;

static long counters[THREADS][LINE / sizeof(long)] __cacheline_aligned;
static long stride;

static void *increment(void *arg)
{
	long *word = counters[(long)arg * stride];
	int i;

	for (i = 0; i < ROUNDS; i++) {
		unsigned long long begun;

		__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
		/* Behind the wait for the line: else the next increment could follow at once. */
		begun = __builtin_ia32_rdtsc();
		while (__builtin_ia32_rdtsc() - begun < work)
			;
	}
	return NULL;
}

/* Lets all threads increment. Return: cycles from one increment to the next. */
static long increment_all(void)
{
	unsigned long long begun = __builtin_ia32_rdtsc();
	pthread_t threads[THREADS];
	long i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, increment, (void *)i);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return (__builtin_ia32_rdtsc() - begun) / ROUNDS;
}

/*
 * A line moves to one core at a time, and only the second half of its latency keeps others from it.
 * The average may differ by a fifth, as not all threads run at the beginning and at the end.
 */
static void contended(char **argv)
{
	long dirty = atol(argv[0]), shared, own;

	work = dirty;
	shared = increment_all();
	stride = 1;
	own = increment_all();
	if (shared < THREADS * dirty * 2 / 5 || own > shared * 2 / 3) {
		printf("%ld cycles a round on one line, %ld on lines of their own\n", shared, own);
		emu_failed = 1;
	}
	check("increments", counters[0][0], THREADS * ROUNDS + ROUNDS);
}

/* The first line of a set of the first level, which is not the set of this thread's stack. */
static char *lines_of_set(void)
{
	char on_stack;

	return memory + ((unsigned long)&on_stack / LINE + sets / 2) % sets * LINE;
}

#define NEW_LINES 16

/*
 * Reads new lines of a set, each a second time after three others, and one fixed line in front of
 * each new one. Return: cycles.
 */
static long read_twice(char *first, long distance)
{
	unsigned long long begun = __builtin_ia32_rdtsc();
	volatile char *at = first;
	char used = 0;
	long i;

	/* VEX may leave out a load whose value is not used. */
	for (i = 0; i < NEW_LINES; i++) {
		used += *at;
		used += at[(1 + i) * distance];
		used += *at;
		used += at[(1 + (i + NEW_LINES - 3) % NEW_LINES) * distance];
	}
	__asm__ volatile("" : : "r"(used));
	return __builtin_ia32_rdtsc() - begun;
}

/*
 * With exact LRU, eight ways keep each line until its second read. A tree of bits does not: it
 * protects the half of the set that has the line that is read all the time, and all others share
 * the other half.
 */
static void replacement(char **argv)
{
	char *set = lines_of_set();
	long miss = atol(argv[2]), cycles = 0;
	int i;

	read_twice(set, sets * LINE);
	for (i = 0; i < 200; i++)
		cycles += read_twice(set, sets * LINE) - read_twice(set, 0);
	cycles /= 200;
	if (cycles < miss * atol(argv[3]) - miss / 2 || cycles > miss * atol(argv[4]) + miss / 2) {
		printf("%ld cycles, a miss costs %ld\n", cycles, miss);
		emu_failed = 1;
	}
}

/* Reads or writes lines in a transaction. Return: 0 if it commits, else the status word. */
static unsigned int transaction(char *first, long nr, long distance, int write)
{
	unsigned int status = rtm_begin();
	volatile char *at = first;
	long i;

	if (status != RTM_STARTED)
		return status;
	for (i = 0; i < nr; i++, at += distance) {
		if (write)
			*at = 1;
		else
			(void)*at;
	}
	rtm_end();
	return 0;
}

static void expect_capacity(const char *name, unsigned int status)
{
	struct rtmgrind_abort abort;

	check(name, !!(status & RTM_CAPACITY), 1);
	abort = emu_last_abort(name);
	check(name, abort.cause, RTMGRIND_CAUSE_CAPACITY);
}

static void writes(char **argv)
{
	char *set = lines_of_set();

	(void)argv;
	check("a set", transaction(set, ways, sets * LINE, 1), 0);
	expect_capacity("a line more than a set", transaction(set, ways + 1, sets * LINE, 1));
	check("all sets but one way", transaction(memory, sets * (ways - 1), LINE, 1), 0);
	expect_capacity("all sets and more", transaction(memory, sets * ways + 1, LINE, 1));
}

static void reads(char **argv)
{
	long beyond = atol(argv[2]);
	char *set = lines_of_set();

	check("reads beyond the first level", transaction(set, ways + beyond, sets * LINE, 0), 0);
	expect_capacity("reads beyond that", transaction(set, ways + beyond + 1, sets * LINE, 0));
}

/* On this machine each line of a read set that leaves the first level is lost. */
static void lost(char **argv)
{
	char *set = lines_of_set();

	(void)argv;
	check("reads within a set", transaction(set, ways, sets * LINE, 0), 0);
	expect_capacity("a read line is lost", transaction(set, ways + 1, sets * LINE, 0));
}

static void *use_set(void *arg)
{
	wait_for(1);
	while (turn == 1)
		walk(arg, ways, sets * LINE, 0);
	return NULL;
}

/* A thread reads lines of the set of which another thread's transaction writes lines. */
static void siblings(char **argv)
{
	/* Half of a set, whose other half may have what the C library uses. */
	long nr = ways / 2, distance = sets * LINE;
	char *set = lines_of_set();
	unsigned int status;
	volatile int i;
	pthread_t thread;

	pthread_create(&thread, NULL, use_set, set + 2 * ways * sets * LINE);
	turn = 1;
	for (i = 0; i < 10000; i++)
		;
	/* A tree of bits needs some rounds until it evicts none of the lines of a round. */
	for (i = 0; i < 8; i++)
		walk(set, nr, distance, 0);
	status = rtm_begin();
	if (status == RTM_STARTED) {
		walk(set, nr, distance, 1);
		for (i = 0; i < 1000; i++)
			;
		rtm_end();
		status = 0;
	}
	turn = 2;
	pthread_join(thread, NULL);
	if (!strcmp(argv[2], "commits"))
		check("beside another core", status, 0);
	else
		expect_capacity("beside a sibling", status);
}

static const struct subject {
	const char *name;
	int nr_args;
	int has_geometry; /* its arguments begin with SETS WAYS */
	void (*run)(char **argv);
} subjects[] = {
	{"latency", 3, 0, latency},
	{"unused", 1, 0, unused},
	{"transfer", 2, 0, transfer},
	{"contended", 1, 0, contended},
	{"replacement", 5, 1, replacement},
	{"writes", 2, 1, writes},
	{"reads", 3, 1, reads},
	{"lost", 2, 1, lost},
	{"siblings", 3, 1, siblings},
};

int main(int argc, char **argv)
{
	size_t i;

	emu_require();
	memory = lines_of(MANY);
	for (i = 0; i < ARRAY_SIZE(subjects); i++) {
		const struct subject *s = &subjects[i];

		if (argc < 2 || strcmp(argv[1], s->name) || argc != s->nr_args + 2)
			continue;
		if (s->has_geometry) {
			sets = atol(argv[2]);
			ways = atol(argv[3]);
			/* Touches all pages: the first touch of one would abort a transaction. */
			walk(memory, MANY * LINE / PAGE, PAGE, 1);
		}
		s->run(argv + 2);
		return emu_status();
	}
	return 2;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * truth.h - accounts of a program that times its own lock calls, and the lines "truth ..." that run.sh
 * compares with the report.
 *
 * The thread may lose its processor between the program's reading of the clock and the library's, for
 * longer than the section lasts. So each time is a pair of bounds, between which lies every time that the
 * library can have measured: the thread holds a lock at least from the return of the lock call to the call
 * that unlocks, and at most from the lock call, or the end of the previous section if that is later, to
 * the return of the unlock call, or the begin of the next section if that is earlier. It waits at most
 * from the call to the return, and at least until the end of the previous section.
 *
 * The lines, times in seconds; judge.jq has all of them, and what NAME may be:
 *	truth hold NAME LOW HIGH
 *	truth wait NAME LOW HIGH OPEN	OPEN threads still wait at the time "at"
 *	truth acquired NAME COUNT	and failed, contended
 *	truth run TIME			from main() to the time "at"
 *	truth at TIME			CLOCK_REALTIME
 * Must never lock anything itself: its locks would have rows.
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Sections whose successor is known: a thread that is preempted in its unlock call is overtaken by some. */
#define RING 256

#define US 1000LL
#define MS 1000000LL

static inline int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000 * MS + t.tv_nsec;
}

static inline int64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* Holds what it holds without a processor: as long on a busy machine as on an idle one. */
static inline void nap(int64_t ns)
{
	struct timespec t = { ns / (1000 * MS), ns % (1000 * MS) };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static inline void compute(int64_t ns)
{
	int64_t end = now() + ns;

	while (now() < end)
		;
}

static inline int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline void wait_for(const atomic_int *value, int least)
{
	while (atomic_load(value) < least)
		nap(20 * US);
}

/**
 * struct truth - what is true of one lock, or of a call that waits for another thread.
 * @name:     of the lock in the report, with /KIND if the account is of one kind of calls
 * @after:    those whose sections must end before one of this account can begin: a mutex itself; those whose
 *            call ends a wait
 * @waits:    account for the waits, too: a system call of 0.3 us before and after each lock call
 * @ended:    CLOCK_MONOTONIC just before the last section ended, or before the last call that ends a wait
 * @sections: sections that have ended, counted by the holders
 * @next:     by the number of a section, CLOCK_MONOTONIC just after the next one began; 0 if none has
 */
struct truth {
	const char *name;
	struct truth *after[2];
	bool waits;
	_Atomic int64_t ended;
	atomic_uint sections;
	_Atomic int64_t next[RING];
	_Atomic int64_t hold_low;
	_Atomic int64_t hold_high;
	_Atomic int64_t wait_low;
	_Atomic int64_t wait_high;
	atomic_long acquired;
	atomic_long failed;
};

/* One lock call and its section. */
struct section {
	int64_t called;   /* just before the call */
	int64_t earliest; /* the lock cannot have been acquired before */
	int64_t begun;    /* just after the call */
	int64_t ended;    /* just before the unlock call */
	unsigned int number;
	long switches;
};

static inline long switches(void)
{
	struct rusage r;

	getrusage(RUSAGE_THREAD, &r);
	return r.ru_nivcsw;
}

static inline void moment(_Atomic int64_t *last, int64_t at)
{
	int64_t seen = atomic_load(last);

	while (seen < at && !atomic_compare_exchange_weak(last, &seen, at))
		;
}

static inline void section_call(struct truth *t, struct section *s)
{
	s->switches = t->waits ? switches() : 0;
	s->called = now();
}

/*
 * A wait that cannot have ended before @end, and ended at @back at the latest. If the thread was
 * preempted, that may have been before the library began to measure.
 */
static inline void wait_over(struct truth *t, struct section *s, int64_t end, int64_t back)
{
	if (end > s->called && switches() == s->switches)
		t->wait_low += (end < back ? end : back) - s->called;
	t->wait_high += back - s->called;
}

static inline void section_begun(struct truth *t, struct section *s)
{
	s->begun = now();
	s->earliest = s->called;
	for (int i = 0; i < 2 && t->after[i]; i++)
		s->earliest = later(s->earliest, t->after[i]->ended);
	if (t->waits)
		wait_over(t, s, s->earliest, s->begun);
	atomic_compare_exchange_strong(&t->next[t->sections % RING], &(int64_t){ 0 }, s->begun);
	t->acquired++;
}

static inline void section_end(struct truth *t, struct section *s)
{
	s->ended = now();
	moment(&t->ended, s->ended);
	s->number = t->sections + 1;
	t->next[s->number % RING] = 0;
	t->sections = s->number;
}

/* @end: the lock cannot have been released later */
static inline void section_over(struct truth *t, struct section *s, int64_t end)
{
	int64_t next = t->next[s->number % RING];

	if (next && next < end && t->after[0] == t)
		end = next;
	t->hold_low += s->ended - s->begun;
	t->hold_high += end - s->earliest;
}

#define LOCKED(t, s, lock) (section_call(t, s), (lock), section_begun(t, s))
#define UNLOCKED(t, s, unlock) (section_end(t, s), (unlock), section_over(t, s, now()))
#define SECTION(t, lock, work, unlock)               \
	do {                                         \
		struct section section_;             \
		LOCKED(t, &section_, lock);          \
		work;                                \
		UNLOCKED(t, &section_, unlock);      \
	} while (0)

/*
 * A wait for a condition variable in a section: the first part of the section ends, and another one
 * begins. The time from the call to the unlocking of the mutex is not known, but it is processor time
 * unless the thread was preempted. Who signals calls moment(&c->ended, now()) before.
 */
#define SECTION_WAIT(t, s, c, wait)                                                     \
	do {                                                                            \
		int64_t used_ = clock_ns(CLOCK_THREAD_CPUTIME_ID);                      \
		struct section wait_;                                                   \
											\
		section_call(c, &wait_);                                                \
		section_end(t, s);                                                      \
		wait;                                                                   \
		section_waited(t, s, c, &wait_, used_);                                 \
	} while (0)

/* @used: processor time of the thread before the wait */
static inline void section_waited(struct truth *t, struct section *s, struct truth *c, struct section *wait,
				  int64_t used)
{
	int64_t back = now(), end = back;

	if (switches() == wait->switches)
		end = s->ended + clock_ns(CLOCK_THREAD_CPUTIME_ID) - used;
	wait_over(c, wait, c->ended, back);
	c->acquired++;
	section_over(t, s, end);
	s->earliest = later(s->ended, t->ended);
	s->begun = back;
}

/* Binds the calling thread, and those that it creates, to one processor. */
static inline void one_processor(void)
{
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static int64_t program_begun;

static inline double seconds(int64_t ns)
{
	return (double)ns / 1e9;
}

/* Prints what is true by now; @open threads still wait. */
static inline void truth_print_open(struct truth *t, int open)
{
	if (t->hold_high)
		printf("truth hold %s %.9f %.9f\n", t->name, seconds(t->hold_low), seconds(t->hold_high));
	if (t->waits)
		printf("truth wait %s %.9f %.9f %d\n", t->name, seconds(t->wait_low),
		       seconds(t->wait_high), open);
	if (t->acquired)
		printf("truth acquired %s %ld\n", t->name, t->acquired);
	if (t->failed)
		printf("truth failed %s %ld\n", t->name, t->failed);
}

static inline void truth_print(struct truth *t)
{
	truth_print_open(t, 0);
}

static inline void truth_at(void)
{
	printf("truth run %.9f\ntruth at %.9f\n", seconds(now() - program_begun),
	       seconds(clock_ns(CLOCK_REALTIME)));
	fflush(stdout);
}

/* Starts @n threads, the ith with the argument i, and waits for their end. */
static inline void run_threads(long n, void *(*start)(void *))
{
	pthread_t thread[64];

	for (long i = 0; i < n; i++)
		pthread_create(&thread[i], NULL, start, (void *)i);
	for (long i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

struct scenario {
	const char *name;
	void (*run)(void);
};

/* The numbers after the name of the scenario, 0 if absent. */
static long args[2];

/* Runs the scenario that the first argument names. */
static inline int scenario_main(int argc, char **argv, const struct scenario *s)
{
	program_begun = now();
	for (int i = 0; i < 2 && i + 2 < argc; i++)
		args[i] = atol(argv[i + 2]);
	for (; s->name; s++) {
		if (argc > 1 && !strcmp(s->name, argv[1])) {
			s->run();
			truth_at();
			return 0;
		}
	}
	fprintf(stderr, "%s: no such scenario\n", argv[0]);
	return 2;
}

#endif

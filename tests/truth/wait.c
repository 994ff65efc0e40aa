// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wait.c - for how long threads wait, and for whom: wait SCENARIO.
 */
#include <pthread.h>
#include <semaphore.h>

#define LOCK   pthread_mutex_lock(&m)
#define UNLOCK pthread_mutex_unlock(&m)
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

#include "contended.h"

static pthread_cond_t c = PTHREAD_COND_INITIALIZER, d = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem;

static struct truth truth_c = { .name = "c/cond", .after = { &truth_c }, .waits = true };
static struct truth truth_d = { .name = "d/cond", .after = { &truth_d }, .waits = true };
static struct truth truth_sem = { .name = "sem/sem", .after = { &truth_sem }, .waits = true };
static struct truth truth_barrier = { .name = "barrier/barrier", .waits = true };

/* A thread that waits for a semaphore, and one that posts it 1 ms later. */
static atomic_int waiting;

static __attribute__((noinline)) void poster(void)
{
	moment(&truth_sem.ended, now());
	sem_post(&sem);
}

static void *semaphore_thread(void *arg)
{
	for (int i = 1; i <= 200; i++) {
		struct section s;

		if (arg) {
			waiting = i;
			section_call(&truth_sem, &s);
			sem_wait(&sem);
			wait_over(&truth_sem, &s, truth_sem.ended, now());
			truth_sem.acquired++;
		} else {
			wait_for(&waiting, i);
			nap(MS);
			poster();
		}
	}
	return NULL;
}

static void semaphore(void)
{
	sem_init(&sem, 0, 0);
	run_threads(2, semaphore_thread);
	truth_print(&truth_sem);
	printf("truth blocker sem/sem poster\n");
}

/* Four threads that meet, of which one is 2 ms late. The last one to arrive ends the wait of the others. */
static _Atomic int64_t arrived[2];

static __attribute__((noinline)) void straggler(void)
{
	pthread_barrier_wait(&barrier);
}

static void *barrier_thread(void *arg)
{
	for (int i = 0; i < 150; i++) {
		struct section s;

		if (!arg)
			nap(2 * MS);
		section_call(&truth_barrier, &s);
		moment(&arrived[i & 1], s.called);
		if (arg)
			pthread_barrier_wait(&barrier);
		else
			straggler();
		wait_over(&truth_barrier, &s, arrived[i & 1], now());
		truth_barrier.acquired++;
	}
	return NULL;
}

static void meeting(void)
{
	pthread_barrier_init(&barrier, NULL, 4);
	run_threads(4, barrier_thread);
	truth_print(&truth_barrier);
	printf("truth blocker barrier/barrier straggler\n");
}

/*
 * A producer and a consumer take turns, and signal after they have unlocked. Nearly no lock call finds the
 * mutex held, so nearly no unlock call was waited for.
 */
static atomic_long may_have_waited;
static int full;

static void turn(int mine, struct truth *t, pthread_cond_t *wait, struct truth *other, pthread_cond_t *signal)
{
	struct section s;

	LOCKED(&truth, &s, pthread_mutex_lock(&m));
	if (s.earliest > s.called || s.begun - s.called > 20 * US)
		may_have_waited++;
	while (full != mine)
		SECTION_WAIT(&truth, &s, t, pthread_cond_wait(wait, &m));
	full = !mine;
	UNLOCKED(&truth, &s, pthread_mutex_unlock(&m));
	moment(&other->ended, now());
	pthread_cond_signal(signal);
}

static void *turns_thread(void *arg)
{
	for (int i = 0; i < 10000; i++) {
		if (arg)
			turn(1, &truth_c, &c, &truth_d, &d);
		else
			turn(0, &truth_d, &d, &truth_c, &c);
	}
	return NULL;
}

static void turns(void)
{
	run_threads(2, turns_thread);
	truth_c.waits = truth_d.waits = truth.waits = false;
	truth_print(&truth);
	printf("truth blocked m 0 %ld\n", may_have_waited + 1000);
}

/*
 * A lock that hands itself over to the thread that waited longest, which waits for a condition variable of
 * its own, as in many run-time libraries: these waits are for a lock, not for work.
 */
struct parker {
	pthread_mutex_t lock;
	pthread_cond_t permitted;
	bool permit;
	struct parker *next;
};

static atomic_flag queue_busy = ATOMIC_FLAG_INIT;
static struct parker *first, *last;
static bool held;

static void queue_lock(void)
{
	while (atomic_flag_test_and_set(&queue_busy))
		sched_yield();
}

static void parking_lock(struct parker *p)
{
	bool got;

	queue_lock();
	got = !held;
	held = true;
	if (!got) {
		p->next = NULL;
		if (first)
			last->next = p;
		else
			first = p;
		last = p;
	}
	atomic_flag_clear(&queue_busy);
	if (got)
		return;
	pthread_mutex_lock(&p->lock);
	while (!p->permit)
		pthread_cond_wait(&p->permitted, &p->lock);
	p->permit = false;
	pthread_mutex_unlock(&p->lock);
}

static __attribute__((noinline)) void parking_unlock(void)
{
	struct parker *p;

	queue_lock();
	p = first;
	held = p;
	first = p ? p->next : NULL;
	atomic_flag_clear(&queue_busy);
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->permit = true;
	pthread_cond_signal(&p->permitted);
	pthread_mutex_unlock(&p->lock);
}

static void *parker_thread(void *arg)
{
	struct parker own = { 0 };

	pthread_mutex_init(&own.lock, NULL);
	pthread_cond_init(&own.permitted, NULL);
	for (int i = 0; i < 500; i++) {
		parking_lock(&own);
		compute(50 * US);
		parking_unlock();
	}
	pthread_cond_destroy(&own.permitted);
	pthread_mutex_destroy(&own.lock);
	return NULL;
}

static void parking(void)
{
	run_threads(4, parker_thread);
	printf("truth verdict */cond bottleneck,contended\ntruth blocker */cond parking_unlock\n");
}

/* Two pools, each with a mutex and a condition variable that are initialised by functions of one line. */
struct pool {
	pthread_mutex_t lock;
	pthread_cond_t filled;
	int tasks;
};

static __attribute__((noinline)) void own_mutex_init(pthread_mutex_t *lock)
{
	pthread_mutex_init(lock, NULL);
	__asm__ volatile("");
}

static __attribute__((noinline)) void own_cond_init(pthread_cond_t *cond)
{
	pthread_cond_init(cond, NULL);
	__asm__ volatile("");
}

static struct pool *pools[2];

static __attribute__((noinline)) void readers_begin(void)
{
	pools[0] = calloc(1, sizeof(*pools[0]));
	own_mutex_init(&pools[0]->lock);
	own_cond_init(&pools[0]->filled);
}

static __attribute__((noinline)) void writers_begin(void)
{
	pools[1] = calloc(1, sizeof(*pools[1]));
	own_mutex_init(&pools[1]->lock);
	own_cond_init(&pools[1]->filled);
}

static void *pool_thread(void *arg)
{
	struct pool *p = pools[(long)arg & 1];

	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&p->lock);
		if (arg > (void *)1) {
			p->tasks++;
			pthread_cond_signal(&p->filled);
		} else {
			while (!p->tasks)
				pthread_cond_wait(&p->filled, &p->lock);
			p->tasks--;
		}
		pthread_mutex_unlock(&p->lock);
		if (arg > (void *)1)
			nap(100 * US);
	}
	return NULL;
}

static void wrapped(void)
{
	readers_begin();
	writers_begin();
	run_threads(4, pool_thread);
	printf("truth distinct * 2\ntruth distinct */cond 2\n");
}

/*
 * Six threads on one processor. A thread that is signalled waits for the processor, on which others
 * compute, and the mutex, which is held for microseconds, is free meanwhile: at most five threads wait
 * while somebody holds it.
 */
static int tokens = 3;
static bool done;

static void *processor_thread(void *arg)
{
	while (!done) {
		struct section s;
		int64_t used;

		LOCKED(&truth, &s, pthread_mutex_lock(&m));
		while (!tokens && !done)
			SECTION_WAIT(&truth, &s, &truth_c, pthread_cond_wait(&c, &m));
		tokens--;
		UNLOCKED(&truth, &s, pthread_mutex_unlock(&m));
		used = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < used + 3 * MS)
			;
		LOCKED(&truth, &s, pthread_mutex_lock(&m));
		tokens++;
		done = now() > program_begun + 400 * MS;
		UNLOCKED(&truth, &s, pthread_mutex_unlock(&m));
		pthread_cond_broadcast(&c);
	}
	return NULL;
}

static void processor(void)
{
	one_processor();
	run_threads(6, processor_thread);
	/* 10 ms for a thread that loses its processor between the clock and the unlocking. */
	printf("truth blamed m 0 %.9f\n", seconds(5 * truth.hold_low + 10 * MS));
}

static const struct scenario scenarios[] = {
	{ "asleep", asleep },
	{ "short", short_sections },
	{ "semaphore", semaphore },
	{ "barrier", meeting },
	{ "turns", turns },
	{ "parking", parking },
	{ "wrapped", wrapped },
	{ "processor", processor },
	{ NULL, NULL }
};

int main(int argc, char **argv)
{
	return scenario_main(argc, argv, scenarios);
}

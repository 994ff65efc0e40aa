/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events.c - what happens to threads that hold locks: they wait for each
 * other, are forked, interrupted and cancelled.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "torture.h"

/* Microseconds after which a wake-up is lost; far more than a busy machine delays one. */
#define LOST_US 20000000

static struct cell cells[NR_CELLS];
static struct worker workers[MAX_THREADS];
static volatile bool stop;

/* Threads that keep the cells busy until @stop. */
static void *keep_busy(void *arg)
{
	struct worker *w = arg;

	while (!stop)
		section(w, cells);
	return NULL;
}

static void start_workers(const struct run *run, pthread_t *threads)
{
	stop = false;
	cells_make(cells, run->subject ? run->subject : subject_find("mutex"));
	workers_make(workers, run);
	for (unsigned int i = 0; i < run->threads; i++)
		pthread_create(&threads[i], NULL, keep_busy, &workers[i]);
}

static unsigned int stop_workers(const struct run *run, pthread_t *threads)
{
	stop = true;
	for (unsigned int i = 0; i < run->threads; i++)
		pthread_join(threads[i], NULL);
	return cells_check(cells, workers, run->threads);
}

/*
 * Ping-pong: a pair of threads that wait for each other's turn, at the same
 * condition variable and mutex as all other pairs, with mutexes and C11's.
 */
static struct table {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	mtx_t mtx;
	cnd_t cnd;
	pthread_mutex_t outer;
	unsigned int turn[MAX_THREADS];
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER,
	   .outer = PTHREAD_MUTEX_INITIALIZER,
	   .cond = PTHREAD_COND_INITIALIZER};

/* Waits in one of the ways there are. Nonzero: nobody has woken us for far too long. */
static int wait_for_turn(struct worker *w, unsigned int pair, unsigned int side)
{
	struct timespec until = deadline(CLOCK_REALTIME, LOST_US);

	while (table.turn[pair] != side) {
		int err;

		if (pair & 1)
			err = cnd_timedwait(&table.cnd, &table.mtx, &until);
		else if (one_in(&w->random, 3))
			err = pthread_cond_clockwait(&table.cond, &table.mutex, CLOCK_REALTIME,
						     &until);
		else
			err = pthread_cond_timedwait(&table.cond, &table.mutex, &until);
		if (err)
			return err;
	}
	return 0;
}

static void table_lock(unsigned int pair)
{
	if (pair & 1)
		mtx_lock(&table.mtx);
	else
		pthread_mutex_lock(&table.mutex);
}

static void table_unlock(unsigned int pair)
{
	if (pair & 1)
		mtx_unlock(&table.mtx);
	else
		pthread_mutex_unlock(&table.mutex);
}

static void table_wake(unsigned int pair)
{
	if (pair & 1)
		cnd_broadcast(&table.cnd);
	else
		pthread_cond_broadcast(&table.cond);
}

static void *play(void *arg)
{
	struct worker *w = arg;
	unsigned int pair = w->me / 2, side = w->me % 2;

	for (unsigned long i = 0; i < w->run->rounds; i++) {
		/* Held over the wait, by elision if it can. The other side never takes it. */
		bool nested = !w->me && one_in(&w->random, 4);
		bool inside = one_in(&w->random, 2);
		int err;

		if (nested)
			pthread_mutex_lock(&table.outer);
		table_lock(pair);
		err = wait_for_turn(w, pair, side);
		table.turn[pair] = !side;
		if (inside)
			table_wake(pair);
		table_unlock(pair);
		if (nested)
			pthread_mutex_unlock(&table.outer);
		if (!inside)
			table_wake(pair);
		w->acquired += 1 + nested;
		w->written[0]++;
		if (err) {
			w->wrong++;
			w->wrong_answer = err;
			break;
		}
	}
	return NULL;
}

unsigned int run_cond(const struct run *run, unsigned long *acquired)
{
	struct run even = *run;
	pthread_t threads[MAX_THREADS];
	unsigned int failed = 0;

	even.threads = (run->threads + 1) & ~1u;
	mtx_init(&table.mtx, mtx_timed);
	cnd_init(&table.cnd);
	workers_make(workers, &even);
	for (unsigned int i = 0; i < even.threads; i++)
		pthread_create(&threads[i], NULL, play, &workers[i]);
	for (unsigned int i = 0; i < even.threads; i++) {
		pthread_join(threads[i], NULL);
		*acquired += workers[i].acquired;
		if (workers[i].wrong)
			failed += say("thread %u was not woken: %d after %lu turns", i,
				      workers[i].wrong_answer, workers[i].written[0]);
	}
	return failed;
}

/* Around a fork all cells are held, so that the child finds none in the middle of a change. */
static void before_fork(void)
{
	for (unsigned int c = 0; c < NR_CELLS; c++)
		cells[c].subject->write[WAY_ON].lock(&cells[c].lock);
}

static void after_fork(void)
{
	for (unsigned int c = NR_CELLS; c--;)
		cells[c].subject->write[WAY_ON].unlock(&cells[c].lock);
}

/* The child's life: the words hold together, its locks work, those it inherited and new ones. */
static int child(struct worker *w)
{
	struct cell *fresh = calloc(1, sizeof(*fresh));
	unsigned long before[NR_CELLS];

	alarm(30); /* a lock that nobody will release */
	for (unsigned int c = 0; c < NR_CELLS; c++) {
		before[c] = cells[c].words[0].value;
		for (int i = 1; i < NR_WORDS; i++)
			w->torn += cells[c].words[i].value != before[c];
	}
	memset(w->written, 0, sizeof(w->written));
	for (int i = 0; i < 20; i++)
		section(w, cells);
	for (unsigned int c = 0; c < NR_CELLS; c++)
		w->torn += cells[c].words[0].value != before[c] + w->written[c];
	fresh->subject = cells[0].subject;
	fresh->subject->init(&fresh->lock);
	fresh->subject->write[WAY_ON].lock(&fresh->lock);
	write_cell(w, fresh, 0);
	fresh->subject->write[WAY_ON].unlock(&fresh->lock);
	return w->torn || w->overlaps || w->wrong;
}

unsigned int run_fork(const struct run *run, unsigned long *acquired)
{
	pthread_t threads[MAX_THREADS];
	unsigned int failed = 0;
	struct worker own = {.run = run, .me = run->threads};

	random_seed(&own.random, run->seed, run->threads);
	start_workers(run, threads);
	pthread_atfork(before_fork, after_fork, after_fork);
	for (unsigned long i = 0; i < run->rounds && !failed; i++) {
		pid_t pid = fork();
		int status;

		if (!pid)
			_exit(child(&own));
		random_below(&own.random, 2);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			failed += say("fork %lu failed: %s", i, strerror(errno));
		else if (status)
			failed += say("child %lu ended with status %#x", i, status);
	}
	return failed + stop_workers(run, threads);
}

/* What the handler locks, and nobody else: more locks than a thread's cache has entries for. */
#define NR_HANDLER_LOCKS 3000

static pthread_mutex_t *handler_locks;
static unsigned long handler_values[NR_HANDLER_LOCKS];
static unsigned long handled;

/* Once, so that handlers that take longer than this leave the program time to go on. */
static void arm_timer(void)
{
	const struct itimerval soon = {{0, 0}, {0, 200}};

	if (!stop)
		setitimer(ITIMER_REAL, &soon, NULL);
}

static void on_timer(int sig)
{
	unsigned long n = __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED) * 97;
	int saved = errno;

	for (int i = 0; i < 64; i++, n++) {
		pthread_mutex_lock(&handler_locks[n % NR_HANDLER_LOCKS]);
		handler_values[n % NR_HANDLER_LOCKS]++;
		pthread_mutex_unlock(&handler_locks[n % NR_HANDLER_LOCKS]);
	}
	arm_timer();
	errno = saved;
}

/* A storm of timer signals; whichever thread gets one takes locks in the middle of anything. */
unsigned int run_signals(const struct run *run, unsigned long *acquired)
{
	struct sigaction action = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
	pthread_t threads[MAX_THREADS];
	unsigned long sum = 0;
	unsigned int failed;

	handler_locks = calloc(NR_HANDLER_LOCKS, sizeof(*handler_locks));
	for (int i = 0; i < NR_HANDLER_LOCKS; i++)
		pthread_mutex_init(&handler_locks[i], NULL);
	sigaction(SIGALRM, &action, NULL);
	start_workers(run, threads);
	arm_timer();
	while (__atomic_load_n(&handled, __ATOMIC_RELAXED) < run->rounds)
		usleep(1000);
	failed = stop_workers(run, threads);
	signal(SIGALRM, SIG_IGN);
	for (int i = 0; i < NR_HANDLER_LOCKS; i++)
		sum += handler_values[i];
	if (sum != handled * 64)
		failed += say("%lu sections of handlers are %lu", handled * 64, sum);
	*acquired = sum;
	for (unsigned int i = 0; i < run->threads; i++)
		*acquired += workers[i].acquired;
	return failed;
}

/* Threads that are ended inside sections. */
struct victim {
	struct worker w;
	struct cell *cell;
	const struct calls *calls;
};

static void let_go(void *arg)
{
	struct victim *v = arg;

	v->calls->unlock(&v->cell->lock);
}

static void *suffer(void *arg)
{
	struct victim *v = arg;
	struct worker *w = &v->w;

	/* Lock calls are no cancellation points, whatever the library does in the first one. */
	if (one_in(&w->random, 4))
		pthread_cancel(pthread_self());
	for (;;) {
		unsigned int index = random_below(&w->random, NR_CELLS);

		v->cell = &cells[index];
		v->calls = &v->cell->subject->write[random_below(&w->random, NR_WAYS)];
		v->calls->lock(&v->cell->lock);
		pthread_cleanup_push(let_go, v);
		write_cell(w, v->cell, index);
		if (one_in(&w->random, 8))
			pthread_testcancel();
		if (one_in(&w->random, 64))
			usleep(50);
		if (one_in(&w->random, 256))
			pthread_exit(PTHREAD_CANCELED);
		pthread_cleanup_pop(1);
	}
	return NULL;
}

unsigned int run_cancel(const struct run *run, unsigned long *acquired)
{
	static struct victim victims[MAX_THREADS];
	struct worker all = {.run = run};
	pthread_t threads[MAX_THREADS];
	struct random random;

	random_seed(&random, run->seed, MAX_THREADS);
	cells_make(cells, run->subject ? run->subject : subject_find("mutex"));
	for (unsigned long round = 0; round < run->rounds; round++) {
		for (unsigned int i = 0; i < run->threads; i++) {
			victims[i] = (struct victim){.w = {.run = run, .me = i}};
			random_seed(&victims[i].w.random, run->seed, round * MAX_THREADS + i);
			pthread_create(&threads[i], NULL, suffer, &victims[i]);
		}
		usleep(random_below(&random, 1000));
		for (unsigned int i = 0; i < run->threads; i++)
			pthread_cancel(threads[i]);
		for (unsigned int i = 0; i < run->threads; i++) {
			const struct worker *w = &victims[i].w;

			pthread_join(threads[i], NULL);
			for (int c = 0; c < NR_CELLS; c++)
				all.written[c] += w->written[c];
			all.overlaps += w->overlaps;
			all.torn += w->torn;
		}
	}
	return cells_check(cells, &all, 1);
}

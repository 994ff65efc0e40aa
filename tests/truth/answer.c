// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * answer.c - what a report says first: answer SCENARIO.
 *
 * Prints "truth finding N LOCK ADVICE CAUSE": the Nth finding is about that lock and gives that advice, and
 * is a consequence of the finding about the lock CAUSE, or of none (0); "truth findings COUNT"; "truth chain
 * GROUP,GROUP...".
 */
#include <signal.h>

#include "truth.h"

static pthread_mutex_t logger = PTHREAD_MUTEX_INITIALIZER, queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t index_lock = PTHREAD_RWLOCK_INITIALIZER;

static int queued, submitted, wanted;
static bool stopped;

static void run(int64_t ns)
{
	int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

/* A queue of 8 jobs. */
static __attribute__((noinline)) void submit(void)
{
	pthread_mutex_lock(&queue);
	while (queued == 8)
		pthread_cond_wait(&room, &queue);
	queued++;
	pthread_mutex_unlock(&queue);
	pthread_cond_signal(&work);
}

static bool take(void)
{
	bool taken;

	pthread_mutex_lock(&queue);
	while (!queued && !stopped)
		pthread_cond_wait(&work, &queue);
	taken = queued > 0;
	queued -= taken;
	pthread_mutex_unlock(&queue);
	pthread_cond_signal(&room);
	return taken;
}

static __attribute__((noinline)) void log_line(void)
{
	pthread_mutex_lock(&logger);
	nap(300 * US);
	pthread_mutex_unlock(&logger);
}

static __attribute__((noinline)) void *log_worker(void *arg)
{
	while (take()) {
		run(20 * US);
		log_line();
	}
	return arg;
}

static __attribute__((noinline)) void *computing_worker(void *arg)
{
	while (take())
		run(400 * US);
	return arg;
}

/* Submits @wanted jobs, @pause apart, to @n workers. */
static void pool(long n, void *(*worker)(void *), int64_t pause)
{
	pthread_t threads[8];

	for (long i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (submitted = 0; submitted < wanted; submitted++) {
		submit();
		if (pause)
			nap(pause);
	}
	pthread_mutex_lock(&queue);
	stopped = true;
	pthread_cond_broadcast(&work);
	pthread_mutex_unlock(&queue);
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* Eight workers wait for a logger that sleeps, and the main thread for a free place in the queue. */
static void sleeping_logger(void)
{
	wanted = 1500;
	pool(8, log_worker, 0);
	printf("truth finding 1 logger asleep 0\ntruth finding 2 room consequence logger\ntruth findings 2\n");
	printf("truth chain main,log_worker\n");
}

/* The main thread waits for workers that compute: more of them would help. */
static void full_queue(void)
{
	wanted = 1000;
	pool(1, computing_worker, 0);
	printf("truth finding 1 room supply 0\ntruth findings 1\ntruth chain main,computing_worker\n");
}

/* Workers that have next to nothing to do. */
static void idle_pool(void)
{
	wanted = 60;
	pool(4, computing_worker, 5 * MS);
	printf("truth findings 0\n");
}

/* Eight readers, each of which holds the lock for 5 ms, begin before the last one has ended. */
static void *reader(void *arg)
{
	int64_t end = program_begun + 700 * MS;

	nap((long)arg * 700 * US);
	while (now() < end) {
		pthread_rwlock_rdlock(&index_lock);
		nap(5 * MS);
		pthread_rwlock_unlock(&index_lock);
	}
	return NULL;
}

/* Begins once all readers do. */
static void *writer(void *arg)
{
	nap(50 * MS);
	pthread_rwlock_wrlock(&index_lock);
	pthread_rwlock_unlock(&index_lock);
	return arg;
}

static void starving_writer(void)
{
	pthread_t threads[9];

	for (long i = 0; i < 9; i++)
		pthread_create(&threads[i], NULL, i < 8 ? reader : writer, (void *)i);
	for (int i = 0; i < 9; i++)
		pthread_join(threads[i], NULL);
	printf("truth finding 1 index_lock prefer_writers 0\ntruth findings 1\n");
}

/* Short sections that compute, one after another without a pause. */
static void *busy_thread(void *arg)
{
	for (int i = 0; i < 20000; i++) {
		pthread_mutex_lock(&queue);
		compute(4 * US);
		pthread_mutex_unlock(&queue);
	}
	return arg;
}

static void short_sections(void)
{
	run_threads(4, busy_thread);
	printf("truth finding 1 queue divide 0\ntruth findings 1\n");
}

/* Sections of 1 ms that compute. */
static void *long_thread(void *arg)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&queue);
		run(MS);
		pthread_mutex_unlock(&queue);
	}
	return arg;
}

static void long_sections(void)
{
	run_threads(3, long_thread);
	printf("truth finding 1 queue long_hold 0\ntruth findings 1\n");
}

/* A thread locks and never unlocks; the program is killed. */
static atomic_int locked;

static void *holder(void *arg)
{
	pthread_mutex_lock(&logger);
	locked = 1;
	pause();
	return arg;
}

static void *waiter(void *arg)
{
	wait_for(&locked, 1);
	pthread_mutex_lock(&logger);
	return arg;
}

static void hang(void)
{
	pthread_t thread;

	for (int i = 0; i < 5; i++)
		pthread_create(&thread, NULL, i ? waiter : holder, NULL);
	nap(400 * MS);
	printf("truth finding 1 logger never_released 0\ntruth findings 1\n");
	truth_at();
	kill(getpid(), SIGKILL);
}

/* Two threads that hand a token to each other, and compute in between. */
static void *turn_thread(void *arg)
{
	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&queue);
		while (queued != (arg ? 1 : 0))
			pthread_cond_wait(arg ? &work : &room, &queue);
		pthread_mutex_unlock(&queue);
		run((arg ? 400 : 800) * US);
		pthread_mutex_lock(&queue);
		queued = !arg;
		pthread_mutex_unlock(&queue);
		pthread_cond_signal(arg ? &room : &work);
	}
	return NULL;
}

static void turns(void)
{
	run_threads(2, turn_thread);
	printf("truth finding 1 work turns 0\ntruth finding 2 room consequence work\ntruth findings 2\n");
}

/* Six threads that compute on one processor. */
static void *computing_thread(void *arg)
{
	for (int i = 0; i < 50; i++) {
		run(2 * MS);
		pthread_mutex_lock(&queue);
		pthread_mutex_unlock(&queue);
	}
	return arg;
}

static void crowded(void)
{
	one_processor();
	run_threads(6, computing_thread);
	printf("truth finding 1 null processors 0\ntruth findings 1\n");
}

static const struct scenario scenarios[] = {
	{ "sleeping-logger", sleeping_logger },
	{ "full-queue", full_queue },
	{ "idle-pool", idle_pool },
	{ "starving-writer", starving_writer },
	{ "short-sections", short_sections },
	{ "long-sections", long_sections },
	{ "hang", hang },
	{ "turns", turns },
	{ "crowded", crowded },
	{ NULL, NULL }
};

int main(int argc, char **argv)
{
	return scenario_main(argc, argv, scenarios);
}

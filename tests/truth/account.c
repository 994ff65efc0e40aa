// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * account.c - what the threads of a program do in their time: account SCENARIO.
 *
 * Prints "truth time STATE LOW HIGH": seconds of all threads together, and "truth time total LOW HIGH". A
 * thread knows its processor time, and from its schedstat how long it was ready to run without a processor.
 */
#include "truth.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static struct truth truth = { .name = "m", .after = { &truth }, .waits = true };

/* Sums over all threads, in nanoseconds; @created from pthread_create() until they ran. */
static _Atomic int64_t all, created, late, others;

/* When the thread was created, by its number. */
static int64_t creation[8];

static int64_t own_late(void)
{
	unsigned long long ran, waited = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", (int)gettid());
	f = fopen(path, "r");
	if (f && fscanf(f, "%llu %llu", &ran, &waited) != 2)
		waited = 0;
	if (f)
		fclose(f);
	return (int64_t)waited;
}

/* Each thread runs its part in this. */
static void live(long number, void (*part)(void))
{
	int64_t begin = now();

	created += begin - creation[number];
	part();
	late += own_late();
	all += now() - begin;
}

static void run(int64_t ns)
{
	int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void print_time(const char *state, int64_t low, int64_t high)
{
	printf("truth time %s %.9f %.9f\n", state, seconds(low), seconds(high));
}

/*
 * The main thread has waited for the others, for @joined. Threads that live for a short time may not be
 * sampled.
 */
static void print_account(int64_t joined, bool are_brief)
{
	struct rusage usage;
	int64_t ran;

	all += now() - program_begun;
	late += own_late();
	getrusage(RUSAGE_SELF, &usage);
	ran = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 * MS +
	      (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * US;
	print_time("total", all, all + created);
	print_time("running", ran, ran);
	if (!are_brief)
		print_time("late", late, late);
	/* At the latest the waits ended when the thread had a processor again. */
	print_time("waiting_for_locks", truth.wait_low - late < 0 ? 0 : truth.wait_low - late, truth.wait_high);
	print_time("waiting_for_others", others + joined > late ? others + joined - late : 0, others + joined);
}

static void create(long n, void *(*thread)(void *))
{
	pthread_t threads[8];

	for (long i = 0; i < n; i++) {
		creation[i] = now();
		pthread_create(&threads[i], NULL, thread, (void *)i);
	}
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void start(long n, void *(*thread)(void *))
{
	int64_t begin = now();

	create(n, thread);
	print_account(now() - begin, false);
}

/* One thread computes, one sleeps, two wait for a lock that a sleeping thread holds, one for a signal. */
static void compute_part(void)
{
	run(200 * MS);
}

static void sleep_part(void)
{
	nap(400 * MS);
}

static void lock_part(void)
{
	for (int i = 0; i < 20; i++)
		SECTION(&truth, pthread_mutex_lock(&m), nap(7 * MS), pthread_mutex_unlock(&m));
}

static void wait_part(void)
{
	struct timespec t;
	int64_t begin;

	pthread_mutex_lock(&m);
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec++;
	begin = now();
	pthread_cond_timedwait(&c, &m, &t);
	others += now() - begin;
	pthread_mutex_unlock(&m);
}

static void wake_part(void)
{
	nap(300 * MS);
	pthread_cond_signal(&c);
}

static void *mixed_thread(void *arg)
{
	static void (*const parts[])(void) = { compute_part, sleep_part, lock_part, lock_part, wait_part, wake_part };

	live((long)arg, parts[(long)arg]);
	return NULL;
}

static void mixed(void)
{
	start(6, mixed_thread);
}

/* Six threads on one processor compute. */
static void *crowded_thread(void *arg)
{
	live((long)arg, compute_part);
	return NULL;
}

static void crowded(void)
{
	one_processor();
	start(6, crowded_thread);
}

/* Threads that live for 2 ms, four at a time, which call no lock function. */
static void brief_part(void)
{
	nap(2 * MS);
}

static void *brief_thread(void *arg)
{
	live((long)arg, brief_part);
	return NULL;
}

static void brief(void)
{
	int64_t joined = now();

	for (int i = 0; i < 200; i++)
		create(4, brief_thread);
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	print_account(now() - joined, true);
}

static const struct scenario scenarios[] = {
	{ "mixed", mixed },
	{ "crowded", crowded },
	{ "brief", brief },
	{ NULL, NULL }
};

int main(int argc, char **argv)
{
	return scenario_main(argc, argv, scenarios);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * machine.c - the self-test of the simulated machine: threads, time, costs, processes.
 *
 * Must never look at a clock other than those of the simulated machine.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../../lib/emulator.h"
#include "../../lib/rtm.h"
#include "selftest.h"

#define MS 1000000LL
#define ROUNDS 400

static volatile long pair __cacheline_aligned;
static volatile long foreign __cacheline_aligned;
static volatile int turn __cacheline_aligned;
static long nr_commits, nr_foreign, nr_odd, nr_unstable;

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static void delay(int n)
{
	for (volatile int i = 0; i < n; i++)
		;
}

/* Is a number within 1/@part of another one? */
static int near(long long got, long long want, long part)
{
	return got >= want - want / part && got <= want + want / part;
}

static void *transactions(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (rtm_begin() == RTM_STARTED) {
			long before = foreign, unstable;

			pair++;
			delay(10);
			pair++;
			unstable = foreign != before;
			rtm_end();
			nr_commits++;
			nr_unstable += unstable;
		}
	}
	turn = 1;
	return unused;
}

static void *plain_accesses(void *unused)
{
	while (!turn) {
		nr_odd += pair & 1;
		__atomic_fetch_add(&foreign, 1, __ATOMIC_SEQ_CST);
		nr_foreign++;
		delay(100);
	}
	return unused;
}

/* Runs each function in a thread. */
static void run_both(void *(*one)(void *), void *(*other)(void *))
{
	pthread_t a, b;

	turn = 0;
	if (pthread_create(&a, NULL, one, NULL) || pthread_create(&b, NULL, other, NULL))
		abort();
	pthread_join(a, NULL);
	pthread_join(b, NULL);
}

void test_isolation(void)
{
	pair = foreign = nr_commits = nr_foreign = nr_odd = nr_unstable = 0;
	run_both(transactions, plain_accesses);
	expect("loads of half a transaction", nr_odd, 0);
	expect("words that change in a transaction", nr_unstable, 0);
	expect("increments that committed", pair, 2 * nr_commits);
	expect("increments by atomic instructions", foreign, nr_foreign);
	expect("some transactions commit", nr_commits > 0, 1);
	expect("some transactions abort", nr_commits < ROUNDS, 1);
}

static unsigned int status_of_reader;
static volatile long read_line[8] __cacheline_aligned;

/* Reads two lines into one register, the first of which the other thread writes. */
static void *read_unused(void *unused)
{
	unsigned int status = rtm_begin();

	if (status == RTM_STARTED) {
		__asm__ volatile("movq (%0), %%rcx\n\tmovq (%1), %%rcx\n\txorl %%ecx, %%ecx"
				 :
				 : "r"(read_line), "r"(&pair)
				 : "rcx", "memory");
		delay(20000);
		rtm_end();
	}
	status_of_reader = status;
	turn = 1;
	return unused;
}

static void *write_line(void *unused)
{
	while (!turn) {
		read_line[0]++;
		delay(50);
	}
	return unused;
}

void test_loads(void)
{
	run_both(read_unused, write_line);
	expect("status of a reader", status_of_reader, RTM_CONFLICT | RTM_RETRY);
}

void test_clocks(void)
{
	struct timespec pause = {.tv_nsec = 5 * MS}, real;
	struct rtmgrind_machine machine = {0};
	long long begun, took, cycles;

	expect("the machine is told",
	       rtmgrind_request(RTMGRIND_MACHINE, (unsigned long)&machine, sizeof(machine)), 1);
	begun = now();
	nanosleep(&pause, NULL);
	took = now() - begun;
	expect("us of a sleep of 5 ms", near(took, 5 * MS, 20) ? 5000 : took / 1000, 5000);
	cycles = __builtin_ia32_rdtsc();
	begun = now();
	delay(100000);
	took = now() - begun;
	cycles = __builtin_ia32_rdtsc() - cycles;
	expect("cycles a us, by the time-stamp counter",
	       near(cycles * 1000, took * machine.mhz, 20) ? machine.mhz : cycles * 1000 / took,
	       machine.mhz);
	clock_gettime(CLOCK_REALTIME, &real);
	expect("the date is the simulated one", real.tv_sec >= 1700000000 &&
						real.tv_sec < 1700100000, 1);
}

#define NR_THREADS 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long counter, whose;

static void *compute(void *unused)
{
	delay(200000);
	return unused;
}

/* The threads add in turn, so that each sleeps and wakes another. */
static void *add_in_turn(void *arg)
{
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&mutex);
		while (whose != (long)arg)
			pthread_cond_wait(&changed, &mutex);
		counter++;
		whose = (whose + 1) % NR_THREADS;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

/* Runs @nr threads. Return: ns. */
static long long run_threads(int nr, void *(*body)(void *))
{
	pthread_t threads[NR_THREADS];
	long long begun = now();

	for (long i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, body, (void *)i))
			abort();
	for (int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	return now() - begun;
}

void test_threads(void)
{
	long long one, all;

	/* The first thread of a process takes longer to start. */
	run_threads(1, compute);
	one = run_threads(1, compute);
	all = run_threads(NR_THREADS, compute);
	expect("four threads take at most 1.5 times the time of one", all <= one + one / 2, 1);
	run_threads(NR_THREADS, add_in_turn);
	expect("increments under a mutex", counter, 20 * NR_THREADS);
}

/* Cycles by which an average may differ, because of the loop around the accesses. */
#define SLACK 6
#define NR_MOVED 128
/* More lines than fit into the machine's last level of 512 KiB. */
#define NR_LINES 16384

static char *memory;

/* Reads @nr lines. Return: cycles of a line. */
static long read_lines(long nr)
{
	unsigned long long begun = __builtin_ia32_rdtsc();
	volatile char *at = memory;
	char sum = 0;

	for (long i = 0; i < nr; i++, at += CACHE_LINE)
		sum += *at;
	__asm__ volatile("" : : "r"(sum));
	return (__builtin_ia32_rdtsc() - begun) / nr;
}

static void *write_lines(void *unused)
{
	while (!turn)
		;
	for (long i = 0; i < NR_MOVED; i++)
		((volatile char *)memory)[i * CACHE_LINE] = 1;
	turn = 2;
	while (turn != 3)
		;
	return unused;
}

static void expect_cycles(const char *what, long got, long want)
{
	expect(what, got >= want - SLACK && got <= want + SLACK ? want : got, want);
}

static void costs_of_caches(void)
{
	pthread_t thread;
	long hit;

	memory = mmap(NULL, NR_LINES * CACHE_LINE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		abort();
	read_lines(64);
	hit = read_lines(64);
	read_lines(768);
	expect_cycles("cycles of a second-level hit", read_lines(768) - hit, cost_l2);
	read_lines(NR_LINES);
	expect_cycles("cycles of a memory access", read_lines(NR_LINES) - hit, cost_memory);
	turn = 0;
	if (pthread_create(&thread, NULL, write_lines, NULL))
		abort();
	turn = 1;
	while (turn != 2)
		;
	expect_cycles("cycles of a line that another core has written", read_lines(NR_MOVED) - hit,
		      cost_dirty);
	turn = 3;
	pthread_join(thread, NULL);
	munmap(memory, NR_LINES * CACHE_LINE);
}

void test_costs(void)
{
	unsigned long long begun;
	long cycles;

	for (int i = 0; i < 2; i++) {
		begun = __builtin_ia32_rdtsc();
		__asm__ volatile(".rept 2000\n\taddl $1, %%ecx\n\t.endr" : : : "rcx", "cc");
		cycles = __builtin_ia32_rdtsc() - begun;
	}
	expect("cycles of 2000 additions",
	       cycles >= 500 && cycles <= 2100 ? 2000 : cycles, 2000);
	if (costs_given)
		costs_of_caches();
}

#define SECOND "second image"
#define VARIABLE "ELIDE_SELFTEST"
/* Exit status of a second image that got its arguments and environment unchanged. */
#define ALL_THERE 7

void second_image(int argc, char **argv)
{
	const char *value = getenv(VARIABLE), *preload = getenv("LD_PRELOAD");
	unsigned int status;

	if (argc != 3 || strcmp(argv[1], SECOND))
		return;
	status = rtm_begin();
	if (status == RTM_STARTED)
		rtm_end();
	/* The exit status says what is wrong. */
	if (strcmp(argv[2], "its argument"))
		_exit(1);
	if (!value || strcmp(value, "its environment"))
		_exit(2);
	if (preload && strstr(preload, "vgpreload"))
		_exit(3);
	_exit(status == RTM_STARTED ? ALL_THERE : 4);
}

void test_processes(void)
{
	static char *const args[] = {"selftest", SECOND, "its argument", NULL};
	int status = -1, in_child = 0;
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	pid_t pid;

	self[len > 0 ? len : 0] = '\0';
	setenv(VARIABLE, "its environment", 1);
	pid = fork();
	if (!pid) {
		if (rtm_begin() == RTM_STARTED) {
			in_child = 1;
			rtm_end();
		}
		if (in_child)
			execv(self, args);
		_exit(5);
	}
	expect("waitpid", waitpid(pid, &status, 0), pid);
	expect("exit status of a program that fork and exec have started",
	       WIFEXITED(status) ? WEXITSTATUS(status) : -1, ALL_THERE);
	unsetenv(VARIABLE);
}

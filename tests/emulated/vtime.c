// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vtime.c - timeouts pass in virtual time, exact to the nanosecond, and take no real time if no
 * event from outside the process can come first: vtime MHZ, the machine's clock.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <unistd.h>

#include "emu.h"

#define MS 1000000LL
#define HOUR (3600 * 1000 * MS)
/* Largest time of a wake-up and of the calls themselves, ns. */
#define SLACK 20000

static int pipe_fds[2];

/* Checks that @statement takes @ns of virtual time, at most SLACK more or less. */
#define takes(name, ns, statement)                                            \
	do {                                                                  \
		long long begun_ = emu_ns(), took_;                           \
		statement;                                                    \
		took_ = emu_ns() - begun_;                                    \
		if (llabs(took_ - (ns)) > SLACK)                              \
			check(name, took_, ns);                               \
	} while (0)

static struct timespec in_ns(clockid_t clock, long long ns)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	ns += ts.tv_nsec;
	ts.tv_sec += ns / (1000 * MS);
	ts.tv_nsec = ns % (1000 * MS);
	return ts;
}

static void test_sleeps(void)
{
	struct timespec hour = {3600, 0}, until;

	takes("nanosleep", HOUR, nanosleep(&hour, NULL));
	takes("clock_nanosleep", HOUR, clock_nanosleep(CLOCK_MONOTONIC, 0, &hour, NULL));
	until = in_ns(CLOCK_REALTIME, HOUR);
	takes("clock_nanosleep until", HOUR,
	      clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL));
	takes("poll of nothing", 5000 * MS, poll(NULL, 0, 5000));
}

static void test_condition(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	struct timespec until = in_ns(CLOCK_REALTIME, HOUR);
	int result = 0;

	pthread_mutex_lock(&mutex);
	takes("cond_timedwait", HOUR, result = pthread_cond_timedwait(&cond, &mutex, &until));
	check("cond_timedwait result", result, ETIMEDOUT);
	pthread_mutex_unlock(&mutex);
}

/* Another process could write to the descriptors, so these timeouts pass in real time, too. */
static void test_descriptors(void)
{
	struct pollfd fd = {.fd = pipe_fds[0], .events = POLLIN};
	struct timespec ts = {0, 10 * MS};
	struct timeval tv = {0, 10000};
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(0), result = -1;
	fd_set set;

	epoll_ctl(epoll, EPOLL_CTL_ADD, pipe_fds[0], &event);
	takes("poll", 10 * MS, result = poll(&fd, 1, 10));
	check("poll result", result, 0);
	takes("ppoll", 10 * MS, result = ppoll(&fd, 1, &ts, NULL));
	check("ppoll result", result, 0);
	FD_ZERO(&set);
	FD_SET(pipe_fds[0], &set);
	takes("select", 10 * MS, result = select(pipe_fds[0] + 1, &set, NULL, NULL, &tv));
	check("select result", result, 0);
	check("select clears the set", FD_ISSET(pipe_fds[0], &set) != 0, 0);
	check("select clears the timeout", tv.tv_usec, 0);
	FD_SET(pipe_fds[0], &set);
	takes("pselect", 10 * MS,
	      result = pselect(pipe_fds[0] + 1, &set, NULL, NULL, &ts, NULL));
	check("pselect result", result, 0);
	takes("epoll_wait", 10 * MS, result = epoll_wait(epoll, &event, 1, 10));
	check("epoll_wait result", result, 0);
	close(epoll);
}

static void *write_later(void *arg)
{
	usleep(5000);
	if (write(pipe_fds[1], "x", 1) != 1)
		abort();
	return NULL;
}

static void test_ready(void)
{
	struct pollfd fd = {.fd = pipe_fds[0], .events = POLLIN};
	struct timeval tv = {3600, 0};
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(0), result = -1, round;
	pthread_t thread;
	fd_set set;
	char byte;

	epoll_ctl(epoll, EPOLL_CTL_ADD, pipe_fds[0], &event);
	for (round = 0; round < 4; round++) {
		/* The writer may begin to sleep before the clock is read. */
		pthread_create(&thread, NULL, write_later, NULL);
		switch (round) {
		case 0:
			takes("poll, ready", 5 * MS, result = poll(&fd, 1, 3600000));
			break;
		case 1:
			FD_ZERO(&set);
			FD_SET(pipe_fds[0], &set);
			takes("select, ready", 5 * MS,
			      result = select(pipe_fds[0] + 1, &set, NULL, NULL, &tv));
			check("select leaves the rest", tv.tv_sec, 3599);
			break;
		case 2:
			takes("epoll_wait, ready", 5 * MS,
			      result = epoll_wait(epoll, &event, 1, -1));
			break;
		case 3:
			takes("read, ready", 5 * MS, result = read(pipe_fds[0], &byte, 1));
			break;
		}
		check("one is ready", result, 1);
		if (round < 3)
			check("and readable", read(pipe_fds[0], &byte, 1), 1);
		pthread_join(thread, NULL);
	}
	close(epoll);
}

#define NR_READERS 4

static pthread_spinlock_t spinlock;
static long long latest;
static int nr_backwards;

static void *read_clock(void *unused)
{
	for (int i = 0; i < 500; i++) {
		long long now;

		pthread_spin_lock(&spinlock);
		now = emu_ns();
		nr_backwards += now < latest;
		latest = now;
		pthread_spin_unlock(&spinlock);
	}
	return unused;
}

/* A thread that reads the clock after another one, ordered by a lock, reads no earlier time. */
static void test_monotonic(void)
{
	pthread_t threads[NR_READERS];
	int i;

	pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
	for (i = 0; i < NR_READERS; i++)
		pthread_create(&threads[i], NULL, read_clock, NULL);
	for (i = 0; i < NR_READERS; i++)
		pthread_join(threads[i], NULL);
	check("times that went back", nr_backwards, 0);
}

static void test_counters(long long mhz)
{
	unsigned int core;
	unsigned long long before = __builtin_ia32_rdtsc();
	long long clock = emu_ns();
	unsigned long long after;

	usleep(1000);
	after = __builtin_ia32_rdtscp(&core);
	clock = emu_ns() - clock;
	check("rdtsc against the clock",
	      llabs((long long)(after - before) * 1000 / mhz - clock) < SLACK, 1);
	check("rdtscp core", core < 8, 1);
}

int main(int argc, char **argv)
{
	struct timeval begun, ended;

	emu_require();
	if (pipe(pipe_fds))
		return 1;
	gettimeofday(&begun, NULL);
	test_sleeps();
	test_condition();
	test_descriptors();
	test_ready();
	test_monotonic();
	test_counters(argc > 1 ? atoi(argv[1]) : 1000);
	gettimeofday(&ended, NULL);
	check("gettimeofday saw the hours", (ended.tv_sec - begun.tv_sec) / 3600, 4);
	return emu_status();
}

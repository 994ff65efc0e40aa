// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * timers.c - timers expire in virtual time, exact to the nanosecond, and interrupt calls that wait.
 *
 * Prints the times that it measured, for comparison between runs. Fails if one is wrong.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu.h"

#define US 1000LL
#define MS 1000000LL
#define SECOND (1000 * MS)
#define HOUR (3600 * SECOND)
/* Largest time of a wake-up, of the calls around it and of a quantum at 700 MHz, ns. */
#define SLACK 40000

static volatile sig_atomic_t nr_signals, last_signal, last_code, last_value, last_overrun;

static void count(int signal, siginfo_t *info, void *context)
{
	(void)context;
	nr_signals++;
	last_signal = signal;
	last_code = info->si_code;
	last_value = info->si_value.sival_int;
	last_overrun = info->si_overrun;
}

static void handle(int signal, int flags)
{
	struct sigaction action = {.sa_sigaction = count, .sa_flags = flags | SA_SIGINFO};

	sigaction(signal, &action, NULL);
	nr_signals = 0;
}

/* Prints the time since @begun, and checks that it is at least @want ns and at most SLACK more. */
static void took(const char *name, long long begun, long long want)
{
	long long ns = emu_ns() - begun;

	printf("%s %lld\n", name, ns);
	if (ns < want || ns > want + SLACK)
		check(name, ns, want);
}

static struct itimerspec every(long long first, long long then)
{
	struct itimerspec spec = {
		.it_value = {first / SECOND, first % SECOND},
		.it_interval = {then / SECOND, then % SECOND},
	};

	return spec;
}

static void test_alarm(void)
{
	struct timespec hour = {3600, 0}, left;
	long long begun = emu_ns();

	handle(SIGALRM, 0);
	check("alarm, none before", alarm(100), 0);
	check("alarm, what was left", alarm(10), 100);
	check("sleep is interrupted", nanosleep(&hour, &left), -1);
	took("alarm", begun, 10 * SECOND);
	check("by EINTR", errno, EINTR);
	check("and says what is left", llabs(left.tv_sec * SECOND + left.tv_nsec - 3590 * SECOND) <
					       SLACK, 1);
	check("alarm's signal", last_signal, SIGALRM);
	check("alarm's code", last_code, SI_KERNEL);
	begun = emu_ns();
	alarm(3600);
	check("pause", pause(), -1);
	took("pause", begun, HOUR);
	alarm(1);
	alarm(0);
	usleep(2000000);
	check("alarms", nr_signals, 2);
}

static void test_itimer(void)
{
	struct itimerval value = {{0, 500}, {0, 250}}, left;
	long long begun;

	handle(SIGALRM, 0);
	begun = emu_ns();
	setitimer(ITIMER_REAL, &value, NULL);
	getitimer(ITIMER_REAL, &left);
	check("getitimer, interval", left.it_interval.tv_usec, 500);
	check("getitimer, value", left.it_value.tv_usec > 200 && left.it_value.tv_usec <= 250, 1);
	while (nr_signals < 4)
		pause();
	took("itimer", begun, 1750 * US);
	memset(&value, 0, sizeof(value));
	setitimer(ITIMER_REAL, &value, &left);
	check("setitimer, old", left.it_value.tv_usec > 400, 1);
	value.it_value.tv_usec = 1000000;
	check("setitimer, too many microseconds", setitimer(ITIMER_REAL, &value, NULL), -1);
}

static long long cpu_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * SECOND + ts.tv_nsec;
}

static void test_processor_time(int which, int signal, const char *name)
{
	struct itimerval value = {{0, 0}, {0, 2000}};
	long long begun, ns;

	handle(signal, SA_RESTART);
	begun = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
	setitimer(which, &value, NULL);
	usleep(100000);
	check("not while it sleeps", nr_signals, 0);
	while (!nr_signals)
		;
	ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - begun;
	printf("%s %lld\n", name, ns);
	check(name, ns >= 2 * MS && ns < 2 * MS + SLACK, 1);
	check("its signal", last_signal, signal);
}

static void test_thread_clock(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec spec = every(3 * MS, 0);
	clockid_t clock;
	timer_t timer;
	long long begun;

	handle(SIGUSR1, 0);
	check("pthread_getcpuclockid", pthread_getcpuclockid(pthread_self(), &clock), 0);
	check("timer of a thread's clock", timer_create(clock, &event, &timer), 0);
	begun = cpu_ns(clock);
	timer_settime(timer, 0, &spec, NULL);
	while (!nr_signals)
		;
	begun = cpu_ns(clock) - begun;
	check("thread's processor time", begun >= 3 * MS && begun < 3 * MS + SLACK, 1);
	timer_delete(timer);
}

static void test_posix_signal(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1};
	struct itimerspec spec = every(HOUR, 3 * MS), left;
	sigset_t set, old;
	long long begun;
	timer_t timer;

	event.sigev_value.sival_int = 4711;
	handle(SIGRTMIN + 1, SA_RESTART);
	check("timer_create", timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	begun = emu_ns();
	timer_settime(timer, 0, &spec, NULL);
	timer_gettime(timer, &left);
	check("timer_gettime", left.it_value.tv_sec, 3599);
	pause();
	took("timer", begun, HOUR);
	check("its value", last_value, 4711);
	check("its code", last_code, SI_TIMER);
	/* The signal is blocked for ten intervals: one signal comes, with an overrun of nine. */
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 1);
	sigprocmask(SIG_BLOCK, &set, &old);
	usleep(10 * 3000);
	nr_signals = 0;
	sigprocmask(SIG_SETMASK, &old, NULL);
	check("one signal", nr_signals, 1);
	check("overrun", last_overrun, 9);
	check("timer_getoverrun", timer_getoverrun(timer), 9);
	check("timer_delete", timer_delete(timer), 0);
	check("timer_delete again", timer_delete(timer), -1);
	nr_signals = 0;
	usleep(10000);
	check("no more", nr_signals, 0);
}

static void test_posix_absolute(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec spec = {0};
	long long begun = emu_ns();
	timer_t timer;

	handle(SIGUSR1, 0);
	timer_create(CLOCK_REALTIME, &event, &timer);
	clock_gettime(CLOCK_REALTIME, &spec.it_value);
	spec.it_value.tv_sec += 5;
	timer_settime(timer, TIMER_ABSTIME, &spec, NULL);
	pause();
	took("absolute timer", begun, 5 * SECOND);
	timer_delete(timer);
	event.sigev_notify = SIGEV_NONE;
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	spec = every(2 * SECOND, 0);
	nr_signals = 0;
	timer_settime(timer, 0, &spec, NULL);
	usleep(500000);
	timer_gettime(timer, &spec);
	check("silent timer", spec.it_value.tv_nsec / (100 * MS), 14 % 10);
	usleep(2000000);
	timer_gettime(timer, &spec);
	check("silent timer, over", spec.it_value.tv_sec + spec.it_value.tv_nsec, 0);
	check("silent", nr_signals, 0);
	timer_delete(timer);
}

static sem_t semaphore;

static void notify(union sigval value)
{
	last_value = value.sival_int;
	sem_post(&semaphore);
}

static void test_posix_thread(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD,
				 .sigev_notify_function = notify};
	struct itimerspec spec = every(HOUR, 0);
	timer_t timer;
	long long begun;

	sem_init(&semaphore, 0, 0);
	event.sigev_value.sival_int = 815;
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	begun = emu_ns();
	timer_settime(timer, 0, &spec, NULL);
	sem_wait(&semaphore);
	took("timer with a thread", begun, HOUR);
	check("its value", last_value, 815);
	timer_delete(timer);
}

static void test_timerfd(void)
{
	struct itimerspec spec = every(HOUR, 10 * MS);
	struct epoll_event event = {.events = EPOLLIN}, got;
	int fd = timerfd_create(CLOCK_MONOTONIC, 0), epoll = epoll_create1(0), other;
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	unsigned long long ticks;
	fd_set set;
	long long begun = emu_ns();

	timerfd_settime(fd, 0, &spec, NULL);
	check("not yet", poll(&poll_fd, 1, 0), 0);
	check("timerfd poll", poll(&poll_fd, 1, -1), 1);
	took("timerfd", begun, HOUR);
	check("timerfd read", read(fd, &ticks, sizeof(ticks)), sizeof(ticks));
	check("once", ticks, 1);
	check("read again", read(fd, &ticks, sizeof(ticks)), sizeof(ticks));
	took("timerfd interval", begun, HOUR + 10 * MS);
	usleep(95 * 1000);
	check("read late", read(fd, &ticks, sizeof(ticks)), sizeof(ticks));
	check("nine", ticks, 9);
	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
	check("epoll", epoll_wait(epoll, &got, 1, -1), 1);
	took("timerfd epoll", begun, HOUR + 110 * MS);
	check("read", read(fd, &ticks, sizeof(ticks)), sizeof(ticks));
	FD_ZERO(&set);
	FD_SET(fd, &set);
	other = dup(fd);
	close(fd);
	FD_CLR(fd, &set);
	FD_SET(other, &set);
	check("select of a duplicate", select(other + 1, &set, NULL, NULL, NULL), 1);
	took("timerfd select", begun, HOUR + 120 * MS);
	timerfd_gettime(other, &spec);
	check("timerfd_gettime", spec.it_interval.tv_nsec, 10 * MS);
	spec = every(0, 0);
	timerfd_settime(other, 0, &spec, NULL);
	poll_fd.fd = other;
	check("disarmed", poll(&poll_fd, 1, 100), 0);
	close(other);
	close(epoll);
}

static void test_masks(void)
{
	struct timespec hour = {3600, 0};
	struct pollfd fd = {.fd = 0, .events = 0};
	sigset_t none, blocked, old;
	siginfo_t info;
	long long begun;

	handle(SIGALRM, SA_RESTART);
	sigemptyset(&none);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGALRM);
	sigprocmask(SIG_BLOCK, &blocked, &old);
	begun = emu_ns();
	alarm(1);
	check("ppoll", ppoll(&fd, 0, NULL, &none), -1);
	took("ppoll, alarm", begun, SECOND);
	check("ppoll's signal", nr_signals, 1);
	alarm(1);
	check("pselect", pselect(0, NULL, NULL, NULL, &hour, &none), -1);
	took("pselect, alarm", begun, 2 * SECOND);
	alarm(1);
	check("sigsuspend", sigsuspend(&none), -1);
	took("sigsuspend, alarm", begun, 3 * SECOND);
	check("signals so far", nr_signals, 3);
	sigprocmask(SIG_BLOCK, NULL, &none);
	check("the mask is back", sigismember(&none, SIGALRM), 1);
	sigemptyset(&none);
	alarm(1);
	check("sigtimedwait", sigtimedwait(&blocked, &info, &hour), SIGALRM);
	took("sigtimedwait, alarm", begun, 4 * SECOND);
	hour.tv_sec = 1;
	check("sigtimedwait, nothing", sigtimedwait(&blocked, &info, &hour), -1);
	check("EAGAIN", errno, EAGAIN);
	took("sigtimedwait, timeout", begun, 5 * SECOND);
	/* A signal that is pending already interrupts the call, even if its timeout is 0. */
	raise(SIGALRM);
	hour.tv_sec = 0;
	check("ppoll of no time", ppoll(&fd, 0, &hour, &none), -1);
	check("EINTR", errno, EINTR);
	raise(SIGALRM);
	check("sigsuspend, at once", sigsuspend(&none), -1);
	took("at once", begun, 5 * SECOND);
	check("signals in all", nr_signals, 5);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static void *lock_later(void *mutex)
{
	usleep(3000000);
	pthread_mutex_unlock(mutex);
	return NULL;
}

/* SA_RESTART restarts the wait for a lock, but not a timed wait for a semaphore or a sleep. */
static void test_restart(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	struct timespec until;
	long long begun;
	pthread_t thread;
	int fds[2];
	char byte;

	handle(SIGALRM, SA_RESTART);
	pthread_mutex_lock(&mutex);
	pthread_create(&thread, NULL, lock_later, &mutex);
	begun = emu_ns();
	alarm(1);
	pthread_mutex_lock(&mutex);
	check("a lock is waited for again", emu_ns() - begun > 2900 * MS, 1);
	check("signal meanwhile", nr_signals, 1);
	pthread_join(thread, NULL);
	sem_init(&semaphore, 0, 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10;
	alarm(2);
	check("sem_timedwait", sem_timedwait(&semaphore, &until), -1);
	check("is interrupted", errno, EINTR);
	if (pipe(fds))
		abort();
	handle(SIGALRM, 0);
	ualarm(20000, 0);
	check("read", read(fds[0], &byte, 1), -1);
	check("read is interrupted", errno, EINTR);
}

/* The alarm interrupts the wait for a child, which does not inherit the alarm. */
static void test_child(void)
{
	int fds[2], status;
	char byte;
	pid_t child;

	handle(SIGALRM, 0);
	if (pipe(fds))
		abort();
	ualarm(50000, 0);
	child = fork();
	if (!child) {
		close(fds[1]);
		_exit(read(fds[0], &byte, 1) || alarm(0));
	}
	check("waitpid", waitpid(child, &status, 0), -1);
	check("is interrupted", errno, EINTR);
	close(fds[1]);
	check("the child ends", waitpid(child, &status, 0), child);
	check("without an alarm", status, 0);
}

/* A timeout that is too long to be counted never comes, and does not overflow. */
static void test_far(void)
{
	struct timespec far = {0x7fffffffffffffffLL, 999999999}, old;
	struct timeval far_tv = {0x7fffffffffffffffLL, 999999};
	struct itimerspec spec = {.it_value = far, .it_interval = far};
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	sem_t never;
	long long begun;

	handle(SIGALRM, 0);
	sem_init(&never, 0, 0);
	timerfd_settime(fd, 0, &spec, NULL);
	begun = emu_ns();
	alarm(1);
	check("far sleep", nanosleep(&far, &old), -1);
	took("far sleep", begun, SECOND);
	alarm(1);
	check("far sem_timedwait", sem_timedwait(&never, &far), -1);
	took("far futex", begun, 2 * SECOND);
	alarm(1);
	check("far select", select(0, NULL, NULL, NULL, &far_tv), -1);
	took("far select", begun, 3 * SECOND);
	alarm(1);
	check("far ppoll", ppoll(NULL, 0, &far, NULL), -1);
	took("far ppoll", begun, 4 * SECOND);
	close(fd);
}

int main(void)
{
	emu_require();
	test_alarm();
	test_itimer();
	test_processor_time(ITIMER_VIRTUAL, SIGVTALRM, "ITIMER_VIRTUAL");
	test_processor_time(ITIMER_PROF, SIGPROF, "ITIMER_PROF");
	test_thread_clock();
	test_posix_signal();
	test_posix_absolute();
	test_posix_thread();
	test_timerfd();
	test_masks();
	test_restart();
	test_child();
	test_far();
	return emu_status();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * answers.c - what calls answer that the emulator makes, or makes a thread wait for, are the
 * kernel's answers: wrong clocks, a date that is set, overruns of timers, and writes to
 * connections that poll(2) does not call ready.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu.h"

#define NOT_A_CLOCK 30
#define SECONDS     2

static void test_clocks(void)
{
	const struct timespec soon = {0, 1000}, bad = {0, 2000000000};
	struct timex adjust = {.modes = ADJ_OFFSET};
	struct timespec ts;

	check("clock -1", clock_gettime(-1, &ts), -1);
	check("its error", errno, EINVAL);
	check("a sleep on no clock", clock_nanosleep(NOT_A_CLOCK, 0, &soon, NULL), EINVAL);
	check("on the own processor time",
	      clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &soon, NULL), EINVAL);
	check("the processor time", clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts), 0);
	check("setting another clock", clock_settime(CLOCK_MONOTONIC, &soon), -1);
	check("its error", errno, EINVAL);
	check("setting to no time", clock_settime(CLOCK_REALTIME, &bad), -1);
	check("its error", errno, EINVAL);
	check("adjtimex", adjtimex(&adjust), -1);
	check("its error", errno, EPERM);
}

static long long date_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static void *set_later(void *date)
{
	usleep(100000);
	check("setting", clock_settime(CLOCK_REALTIME, date), 0);
	return NULL;
}

/* The host's date is later than this. */
static int host_is_later_than(time_t seconds)
{
	struct stat stat;
	int fd = memfd_create("answers", 0);

	fstat(fd, &stat);
	close(fd);
	return stat.st_mtime > seconds;
}

/*
 * The program's date can be set, by root. A sleep and a timer until a date end when the date comes,
 * others do not care, and a child has the same date.
 */
static void test_date(void)
{
	const struct timeval early = {1000, 500000};
	const struct timespec late = {2000, 0}, until = {1999, 0};
	struct itimerspec spec = {.it_value = {1999, 0}};
	long long began = emu_ns();
	pthread_t thread;
	timer_t timer;
	int status;
	pid_t pid;

	if (geteuid()) {
		check("setting, as a user", clock_settime(CLOCK_REALTIME, &late), -1);
		check("its error", errno, EPERM);
		return;
	}
	check("settimeofday", settimeofday(&early, NULL), 0);
	check("the date", date_ms(), 1000500);
	check("the host's date", host_is_later_than(late.tv_sec), 1);
	timer_create(CLOCK_REALTIME, NULL, &timer);
	timer_settime(timer, TIMER_ABSTIME, &spec, NULL);
	signal(SIGALRM, SIG_IGN);
	pthread_create(&thread, NULL, set_later, (void *)&late);
	check("a sleep until a date",
	      clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL), 0);
	check("is over when that is set", (emu_ns() - began) / 1000000, 100);
	check("the date", date_ms(), 2000000);
	pthread_join(thread, NULL);
	timer_gettime(timer, &spec);
	check("the timer has expired", spec.it_value.tv_sec + spec.it_value.tv_nsec, 0);
	timer_delete(timer);

	pid = fork();
	if (!pid)
		_exit(settimeofday(&early, NULL) || date_ms() != 1000500);
	waitpid(pid, &status, 0);
	check("a child", status, 0);
	check("sets its parent's date", date_ms(), 1000500);
}

/* Each expiry of a timer is counted while its signal is pending, however many there are. */
static void test_overruns(long interval_ns)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec spec = {{0, interval_ns}, {0, interval_ns}};
	long long expiries = SECONDS * 1000000000LL / interval_ns;
	siginfo_t info = {0};
	timer_t timer;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &spec, NULL);
	sleep(SECONDS);
	check("the timer's signal", sigwaitinfo(&set, &info), SIGUSR1);
	check("overruns", info.si_overrun >= expiries - 1, 1);
	check("and no more", info.si_overrun <= expiries + expiries / 100, 1);
	check("timer_getoverrun", timer_getoverrun(timer), info.si_overrun);
	timer_delete(timer);
	/* A signal that came behind that one. */
	while (sigtimedwait(&set, NULL, &(struct timespec){0, 0}) > 0)
		;
}

static volatile int nr_written;

/* Fills a quarter of the room and more, in pieces, of which the last one has to wait. */
static void *fill(void *arg)
{
	static char piece[1 << 20];
	int *fds = arg;
	socklen_t size = sizeof(int);
	int room;

	getsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &room, &size);
	for (nr_written = 0; nr_written < 3; nr_written++)
		if (write(fds[0], piece, room / 2) != room / 2)
			break;
	return NULL;
}

static void test_room(int type)
{
	static char buffer[1 << 20];
	pthread_t thread;
	int fds[2], i;

	if (socketpair(AF_UNIX, type, 0, fds))
		abort();
	pthread_create(&thread, NULL, fill, fds);
	for (i = 0; i < 100 && nr_written < 2; i++)
		usleep(1000);
	check("pieces that have room", nr_written, 2);
	while (nr_written < 3 && read(fds[1], buffer, sizeof(buffer)) > 0)
		usleep(1000);
	pthread_join(thread, NULL);
	check("all pieces", nr_written, 3);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	emu_require();
	test_clocks();
	test_date();
	test_overruns(1000000);
	test_overruns(1000);
	test_room(SOCK_DGRAM);
	return emu_status();
}

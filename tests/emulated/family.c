// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * family.c - the clocks of several processes: what a process gets from another one costs the time
 * that the other one took, and signals between them come in the order of virtual time.
 *
 * family [MS]: MS is for the program that exec begins, which sleeps.
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu.h"

#define MS 1000000LL
/* How long a child sleeps, and what its other instructions take at most, ms. */
#define NAP 300
#define SLACK 10

static volatile int nr_signals;
static long long began;

/* Memory of all processes. */
static struct shared {
	sem_t sem;
	volatile long long times[4];
} *shared;

static void on_signal(int signal)
{
	nr_signals++;
}

static long long since(void)
{
	return (emu_ns() - began) / MS;
}

static void check_time(const char *name, long long ms, long long want)
{
	if (ms < want || ms > want + SLACK) {
		printf("%s: after %lld ms instead of %lld\n", name, ms, want);
		emu_failed = 1;
	}
}

static void nap(int ms)
{
	usleep(ms * 1000);
}

static pid_t start(void)
{
	pid_t pid;

	fflush(stdout);
	began = emu_ns();
	nr_signals = 0;
	pid = fork();
	if (pid < 0)
		abort();
	return pid;
}

static int status_of(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void test_wait(void)
{
	siginfo_t info;
	pid_t pid = start();

	if (!pid) {
		nap(NAP);
		_exit(0);
	}
	check("waitpid", status_of(pid), 0);
	check_time("waitpid", since(), NAP);

	pid = start();
	if (!pid) {
		/* The end of a grandchild counts, too. */
		pid = fork();
		nap(NAP);
		_exit(pid ? status_of(pid) : 0);
	}
	check("waitid", waitid(P_PID, pid, &info, WEXITED), 0);
	check_time("waitid", since(), NAP);

	pid = start();
	if (!pid) {
		nap(NAP);
		_exit(0);
	}
	while (!waitpid(pid, NULL, WNOHANG))
		nap(1);
	check_time("waitpid in a loop", since(), NAP);
}

/* The child's signal interrupts a long sleep, and the parent's one of the child. */
static void test_signals(void)
{
	pid_t pid = start();

	if (!pid) {
		nap(NAP);
		kill(getppid(), SIGUSR1);
		nap(NAP);
		_exit(0);
	}
	check("a sleep", usleep(10000 * 1000), -1);
	check_time("the child's signal", since(), NAP);
	check("the child", status_of(pid), 0);
	check_time("the child's end", since(), 2 * NAP);

	pid = start();
	if (!pid) {
		if (!usleep(10000 * 1000))
			_exit(1);
		shared->times[0] = since();
		_exit(nr_signals != 1);
	}
	nap(NAP);
	kill(pid, SIGUSR1);
	check("the child's sleep", status_of(pid), 0);
	check_time("the parent's signal", shared->times[0], NAP);
	check_time("its end", since(), NAP);
}

/* A child that computes must not be overtaken. */
static void test_busy_child(void)
{
	pid_t pid = start();

	if (!pid) {
		while (!nr_signals)
			;
		shared->times[0] = since();
		_exit(0);
	}
	nap(10);
	kill(pid, SIGUSR1);
	check("the busy child", status_of(pid), 0);
	check("has run until its signal", shared->times[0] >= 10, 1);
	check("and its parent is behind that", since() >= shared->times[0], 1);
}

/* Two children and their parent sleep in turn: the order is that of their times. */
static void test_order(void)
{
	pid_t pids[2];
	int i, fds[2];
	char order[4] = "";

	if (pipe(fds))
		abort();
	for (i = 0; i < 2; i++) {
		pids[i] = i ? fork() : start();
		if (!pids[i]) {
			nap(i ? 100 : 300);
			_exit(write(fds[1], i ? "1" : "3", 1) != 1);
		}
	}
	nap(200);
	check("write", write(fds[1], "2", 1), 1);
	for (i = 0; i < 2; i++)
		check("a child", status_of(pids[i]), 0);
	check("read", read(fds[0], order, 3), 3);
	check("order", atoi(order), 123);
}

static void wait_pipe(int *fds)
{
	char byte;

	check("read", read(fds[0], &byte, 1), 1);
}

/* A queue's timeout is later than what comes. */
static void wait_queue(mqd_t queue)
{
	char byte;

	check("mq_receive", mq_receive(queue, &byte, 1, NULL), 1);
}

static void test_messages(void)
{
	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 1};
	struct sembuf up = {0, 1, 0}, down = {0, -1, 0};
	int fds[2], set = semget(IPC_PRIVATE, 1, 0600), i;
	char name[32];
	mqd_t queue;

	snprintf(name, sizeof(name), "/elide-family-%d", getpid());
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
	mq_unlink(name);
	sem_init(&shared->sem, 1, 0);
	if (set < 0 || pipe(fds))
		abort();
	for (i = 0; i < 4; i++) {
		static const char *const names[] = {"a pipe", "a semaphore", "a set", "a queue"};
		pid_t pid;

		/* Not every kernel has message queues. */
		if (i == 3 && queue == (mqd_t)-1)
			break;
		pid = start();
		if (!pid) {
			nap(NAP);
			if (i == 0 && write(fds[1], "", 1) != 1)
				_exit(1);
			if (i == 1)
				sem_post(&shared->sem);
			if (i == 2)
				semop(set, &up, 1);
			if (i == 3)
				mq_send(queue, "", 1, 0);
			nap(NAP);
			_exit(0);
		}
		if (i == 0)
			wait_pipe(fds);
		if (i == 1)
			check("sem_wait", sem_wait(&shared->sem), 0);
		if (i == 2)
			check("semop", semop(set, &down, 1), 0);
		if (i == 3)
			wait_queue(queue);
		check_time(names[i], since(), NAP);
		check(names[i], status_of(pid), 0);
		check_time(names[i], since(), 2 * NAP);
	}
	semctl(set, 0, IPC_RMID);
}

/* Timers expire while the process waits for its child, in order and not later. */
static void test_timers(void)
{
	struct itimerval every = {{0, 50 * 1000}, {0, 50 * 1000}}, off = {{0, 0}, {0, 0}};
	int i, status;
	pid_t pid;

	pid = start();
	if (!pid) {
		nap(NAP - 20);
		_exit(0);
	}
	setitimer(ITIMER_REAL, &every, NULL);
	for (i = 1; waitpid(pid, &status, 0) < 0 && errno == EINTR; i++)
		check_time("a timer", since(), 50 * i);
	setitimer(ITIMER_REAL, &off, NULL);
	check("its expiries", nr_signals, (NAP - 20) / 50);
	check_time("the child", since(), NAP - 20);
}

static void *sleep_on(void *unused)
{
	nap(2 * NAP);
	shared->times[1] = since();
	return unused;
}

static void act(int signal, int flags)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};

	sigaction(signal, &action, NULL);
}

/* What a call waits for ends it before a signal interrupts it. */
static void test_events_first(void)
{
	siginfo_t info;
	sigset_t set;
	int fds[2];
	pid_t pid;
	char byte;

	act(SIGCHLD, 0);
	pid = start();
	if (!pid) {
		nap(NAP);
		_exit(0);
	}
	check("the child, not its signal", waitpid(pid, NULL, 0), pid);
	check("which comes, too", nr_signals, 1);
	act(SIGCHLD, SA_NOCLDWAIT);
	pid = start();
	if (!pid) {
		nap(NAP);
		_exit(0);
	}
	check("a child that leaves nothing", waitpid(pid, NULL, 0), -1);
	check("its error", errno, ECHILD);
	signal(SIGCHLD, SIG_DFL);

	if (pipe(fds))
		abort();
	pid = start();
	if (!pid) {
		nap(NAP);
		_exit(write(fds[1], "", 1) != 1 || kill(getppid(), SIGUSR1));
	}
	check("a byte, not a signal behind it", read(fds[0], &byte, 1), 1);
	check("the child", status_of(pid), 0);

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pid = start();
	if (!pid) {
		nap(NAP);
		_exit(kill(getppid(), SIGUSR1));
	}
	check("a signal that is not blocked", sigwaitinfo(&set, &info), SIGUSR1);
	check("its sender", info.si_pid, pid);
	check("its handler has not run", nr_signals, 0);
	check("the child", status_of(pid), 0);
	check_time("its end", since(), NAP);

	act(SIGSYS, 0);
	pid = start();
	if (!pid)
		_exit(!pause() || nr_signals != 1);
	nap(NAP);
	kill(pid, SIGSYS);
	check("a child that gets SIGSYS", status_of(pid), 0);
}

/* A process of two threads, one of which waits. */
static void test_threads(void)
{
	pthread_t thread;
	pid_t pid;

	pid = start();
	if (!pid) {
		nap(NAP);
		_exit(0);
	}
	pthread_create(&thread, NULL, sleep_on, NULL);
	check("the child", status_of(pid), 0);
	check_time("beside a thread", since(), NAP);
	pthread_join(thread, NULL);
	check_time("and the thread", shared->times[1], 2 * NAP);
}

/* The program that exec begins may be emulated or not: it takes 100 ms, then. */
static void test_exec(const char *self)
{
	pid_t pid = start();
	long long ms;

	if (!pid) {
		execl(self, self, "100", (char *)NULL);
		_exit(1);
	}
	check("another program", status_of(pid), 0);
	ms = since();
	check("takes time", ms >= 100, 1);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};

	if (argc > 1) {
		nap(atoi(argv[1]));
		return 0;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	test_wait();
	test_signals();
	test_busy_child();
	test_order();
	test_messages();
	test_timers();
	test_events_first();
	test_threads();
	test_exec(argv[0]);
	return emu_status();
}

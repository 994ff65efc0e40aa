// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * outside.c - waits that another process ends, while a timer of virtual time is armed.
 *
 * A child process ends each wait long before an alarm, which would end the program; and an alarm
 * interrupts each wait that no child ends. This is done first with a single thread, and then with
 * a second one that waits for an event that never comes.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu.h"

/* Real time that a child waits before it ends a wait, us. */
#define CHILD_US 10000
/* The alarm that must not come, s. */
#define LATE_SECONDS 60
/* The alarm that interrupts a wait, us. */
#define SOON_US 20000

struct message {
	long type;
	char text[8];
};

static int fds[2], listener, sems, msgs, file;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static sem_t *sem;
static sigset_t user_signals;

static void end(void)
{
	_exit(0);
}

static void pause_for_ever(void)
{
	for (;;)
		pause();
}

static void write_byte(void)
{
	if (write(fds[1], "x", 1) != 1)
		_exit(1);
}

static void connect_once(void)
{
	if (connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address,
		    sizeof(address)))
		_exit(1);
}

static void send_signal(void)
{
	kill(getppid(), SIGUSR1);
}

static void post(void)
{
	sem_post(sem);
}

static void give(void)
{
	struct sembuf op = {.sem_op = 1};

	semop(sems, &op, 1);
}

static void send_message(void)
{
	struct message message = {1, "message"};

	msgsnd(msgs, &message, sizeof(message.text), 0);
}

/* The child acquires locks at its start, which are released when it ends. */
static void take_flock(void)
{
	char path[32];

	/* Opened a second time, as flock() locks belong to the open file. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	flock(open(path, O_RDWR), LOCK_EX);
}

static void take_fcntl(void)
{
	struct flock lock = {.l_type = F_WRLCK};

	fcntl(file, F_SETLK, &lock);
}

static int do_waitpid(void)
{
	int status;

	return waitpid(-1, &status, 0) > 0 ? 0 : -1;
}

static int do_waitid(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED);
}

static int do_read(void)
{
	char byte;

	return read(fds[0], &byte, 1) == 1 ? 0 : -1;
}

static int do_poll(void)
{
	struct pollfd fd = {.fd = fds[0], .events = POLLIN};

	return poll(&fd, 1, -1) == 1 ? do_read() : -1;
}

static int do_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fds[0], &set);
	return select(fds[0] + 1, &set, NULL, NULL, NULL) == 1 ? do_read() : -1;
}

static int do_epoll(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(0), nr;

	epoll_ctl(epoll, EPOLL_CTL_ADD, fds[0], &event);
	nr = epoll_wait(epoll, &event, 1, -1);
	close(epoll);
	return nr == 1 ? do_read() : -1;
}

static int do_accept(void)
{
	int fd = accept(listener, NULL, NULL);

	return fd < 0 ? -1 : close(fd);
}

static int do_sigwaitinfo(void)
{
	return sigwaitinfo(&user_signals, NULL) == SIGUSR1 ? 0 : -1;
}

static int do_sem_wait(void)
{
	return sem_wait(sem);
}

static int do_semop(void)
{
	struct sembuf op = {.sem_op = -1};

	return semop(sems, &op, 1);
}

static int do_msgrcv(void)
{
	struct message message;

	return msgrcv(msgs, &message, sizeof(message.text), 0, 0) == sizeof(message.text) ? 0 : -1;
}

static int do_flock(void)
{
	return flock(file, LOCK_EX) || flock(file, LOCK_UN);
}

static int do_fcntl(void)
{
	struct flock lock = {.l_type = F_WRLCK};

	if (fcntl(file, F_SETLKW, &lock))
		return -1;
	lock.l_type = F_UNLCK;
	return fcntl(file, F_SETLK, &lock);
}

static const struct {
	const char *name;
	int (*wait)(void);
	void (*begin)(void);	/* called by the child at its start */
	void (*wake)(void);	/* called by the child after CHILD_US */
} waits[] = {
	{"waitpid", do_waitpid, NULL, end},
	{"waitid", do_waitid, NULL, end},
	{"read", do_read, NULL, write_byte},
	{"poll", do_poll, NULL, write_byte},
	{"select", do_select, NULL, write_byte},
	{"epoll_wait", do_epoll, NULL, write_byte},
	{"accept", do_accept, NULL, connect_once},
	{"sigwaitinfo", do_sigwaitinfo, NULL, send_signal},
	{"sem_wait", do_sem_wait, NULL, post},
	{"semop", do_semop, NULL, give},
	{"msgrcv", do_msgrcv, NULL, send_message},
	{"flock", do_flock, take_flock, end},
	{"fcntl", do_fcntl, take_fcntl, end},
};

/* Starts a child that calls @begin before this returns, and @wake after CHILD_US. */
static pid_t start_child(void (*begin)(void), void (*wake)(void))
{
	int begun[2];
	pid_t pid;
	char byte;

	if (pipe(begun))
		abort();
	pid = fork();
	if (!pid) {
		if (begin)
			begin();
		close(begun[0]);
		close(begun[1]);
		usleep(CHILD_US);
		wake();
		_exit(0);
	}
	close(begun[1]);
	if (read(begun[0], &byte, 1) != 0)
		abort();
	close(begun[0]);
	return pid;
}

static void test_woken(size_t i)
{
	pid_t pid = start_child(waits[i].begin, waits[i].wake);
	int result;

	alarm(LATE_SECONDS);
	result = waits[i].wait();
	check(waits[i].name, result ? errno : 0, 0);
	alarm(0);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static volatile sig_atomic_t nr_alarms;

static void count(int signal)
{
	(void)signal;
	nr_alarms++;
}

/* The child lives until after the alarm. */
static void test_interrupted(size_t i)
{
	pid_t pid = start_child(waits[i].begin, pause_for_ever);
	struct sigaction action = {.sa_handler = count};
	int result;

	nr_alarms = 0;
	sigaction(SIGALRM, &action, NULL);
	ualarm(SOON_US, 0);
	result = waits[i].wait();
	check(waits[i].name, result ? errno : 0, EINTR);
	check(waits[i].name, nr_alarms, 1);
	signal(SIGALRM, SIG_DFL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_all(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
		test_woken(i);
		test_interrupted(i);
	}
}

static void *wait_for_ever(void *unused)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&mutex);
	for (;;)
		pthread_cond_wait(&never, &mutex);
	return unused;
}

static void *arm(void *unused)
{
	ualarm(SOON_US, 0);
	return unused;
}

/* The thread that sets the alarm ends while another thread waits already. */
static void test_timer_of_another(void)
{
	pid_t pid = start_child(NULL, pause_for_ever);
	struct sigaction action = {.sa_handler = count};
	pthread_t thread;

	nr_alarms = 0;
	sigaction(SIGALRM, &action, NULL);
	pthread_create(&thread, NULL, arm, NULL);
	check("waitpid", do_waitpid() ? errno : 0, EINTR);
	check("alarms", nr_alarms, 1);
	pthread_join(thread, NULL);
	signal(SIGALRM, SIG_DFL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#define NR_SIGNALS 50

static volatile int *nr_user_signals;

static void count_shared(int signal)
{
	(void)signal;
	++*nr_user_signals;
}

/* Sends each signal when the one before was handled. */
static void send_signals(void)
{
	int sent;

	for (sent = 0; sent < NR_SIGNALS; sent++) {
		kill(getppid(), SIGUSR2);
		while (*nr_user_signals == sent)
			sched_yield();
	}
}

static void test_signals(void)
{
	struct sigaction action = {.sa_handler = count_shared};
	sigset_t blocked, old;
	pid_t pid;

	nr_user_signals = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sigaction(SIGUSR2, &action, NULL);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR2);
	sigprocmask(SIG_BLOCK, &blocked, &old);
	pid = start_child(NULL, send_signals);
	alarm(LATE_SECONDS);
	while (*nr_user_signals < NR_SIGNALS)
		sigsuspend(&old);
	alarm(0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	check("signals", *nr_user_signals, NR_SIGNALS);
	waitpid(pid, NULL, 0);
}

static void set_up(void)
{
	sigemptyset(&user_signals);
	sigaddset(&user_signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &user_signals, NULL);
	sems = semget(IPC_PRIVATE, 1, 0600);
	msgs = msgget(IPC_PRIVATE, 0600);
	file = memfd_create("elide-outside", 0);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	/* An abstract address: the name of no file. */
	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "elide-outside-%d", getpid());
	sem = mmap(NULL, sizeof(*sem), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sems < 0 || msgs < 0 || file < 0 || pipe(fds) || sem_init(sem, 1, 0) ||
	    bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 1))
		abort();
}

int main(void)
{
	pthread_t thread;
	sigset_t all, old;

	emu_require();
	set_up();
	test_timer_of_another();
	test_signals();
	test_all();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	pthread_create(&thread, NULL, wait_for_ever, NULL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	test_all();
	semctl(sems, 0, IPC_RMID);
	msgctl(msgs, IPC_RMID, NULL);
	return emu_status();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * process.c - several processes: fork with transactions open in other threads, vfork, posix_spawn,
 * shared memory, and transactions that write to it, which abort.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu.h"

extern char **environ;

static volatile long pair __cacheline_aligned;
static volatile int stop;
static volatile int nr_signals;

static void *transactions(void *arg)
{
	volatile int i;

	while (!stop) {
		if (rtm_begin() == RTM_STARTED) {
			pair++;
			for (i = 0; i < 200; i++)
				;
			pair++;
			rtm_end();
		}
	}
	return NULL;
}

static int status_of(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void test_fork(void)
{
	pthread_t thread;
	int i;

	pthread_create(&thread, NULL, transactions, NULL);
	for (i = 0; i < 20; i++) {
		pid_t pid;

		usleep(20 + 13 * i);
		pid = fork();
		/* The child has no such thread, and must not have its transaction's writes. */
		if (!pid)
			_exit(pair & 1 ? 1 : 42);
		check("fork sees whole transactions", WEXITSTATUS(status_of(pid)), 42);
	}
	stop = 1;
	pthread_join(thread, NULL);
}

static unsigned int word;

static void *wait_for_word(void *unused)
{
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return unused;
}

/* A wake-up in the child goes to a thread of the child, not to one of its parent's. */
static void test_fork_with_waiters(void)
{
	pthread_t thread, waiters[2];
	pid_t pid;
	int i;

	for (i = 0; i < 2; i++)
		pthread_create(&waiters[i], NULL, wait_for_word, NULL);
	usleep(1000);
	pid = fork();
	if (!pid) {
		pthread_create(&thread, NULL, wait_for_word, NULL);
		usleep(1000);
		if (syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) != 1)
			_exit(1);
		_exit(pthread_join(thread, NULL));
	}
	check("a waiter of the child", status_of(pid), 0);
	check("its parent's", syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 9, NULL, NULL, 0), 2);
	for (i = 0; i < 2; i++)
		pthread_join(waiters[i], NULL);
}

static void test_spawn(void)
{
	char *argv[] = {"sh", "-c", "exit 5", NULL};
	pid_t pid;

	check("posix_spawn", posix_spawnp(&pid, "sh", NULL, NULL, argv, environ), 0);
	check("its status", WEXITSTATUS(status_of(pid)), 5);
	pid = vfork();
	if (!pid)
		_exit(6);
	check("vfork", WEXITSTATUS(status_of(pid)), 6);
}

static void on_signal(int signal)
{
	nr_signals++;
}

static void test_interrupted_wait(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	pid_t pid;
	char byte;
	int fds[2];

	sigaction(SIGUSR1, &action, NULL);
	if (pipe(fds))
		return;
	pid = fork();
	/* Repeated, as the first signal may come before the read. */
	while (!pid)
		kill(getppid(), SIGUSR1);
	check("read is interrupted", read(fds[0], &byte, 1) < 0 && errno == EINTR, 1);
	check("by a signal", nr_signals > 0, 1);
	kill(pid, SIGKILL);
	status_of(pid);
}

static void test_shared_memory(void)
{
	volatile long *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct rtmgrind_abort abort;
	unsigned int status;

	status = rtm_begin();
	if (status == RTM_STARTED) {
		memory[3] = 1;
		rtm_end();
	}
	check("a write to shared memory aborts", status, 0);
	abort = emu_last_abort("with a record");
	check("cause of that", abort.cause, RTMGRIND_CAUSE_INSTRUCTION);
	check("address of that", abort.own_addr, (long)&memory[3]);
	check("and undoes", memory[3], 0);
	status = rtm_begin();
	if (status == RTM_STARTED) {
		(void)memory[3];
		rtm_end();
	}
	check("a read does not", status, RTM_STARTED);

	munmap((void *)memory, 4096);
	memory = mmap((void *)memory, 4096, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	status = rtm_begin();
	if (status == RTM_STARTED) {
		memory[3] = 1;
		rtm_end();
	}
	check("nor a write to private memory at that place", status, RTM_STARTED);
}

static void test_shared_semaphore(sem_t *sem)
{
	pid_t pid;

	sem_init(&sem[0], 1, 0);
	sem_init(&sem[1], 1, 0);
	pid = fork();
	/* The child lives until the parent was woken, as its end would wake the parent, too. */
	if (!pid) {
		usleep(50000);
		sem_post(&sem[0]);
		_exit(sem_wait(&sem[1]));
	}
	check("a semaphore between processes", sem_wait(&sem[0]), 0);
	sem_post(&sem[1]);
	status_of(pid);
}

int main(void)
{
	int segment;

	emu_require();
	test_fork();
	test_fork_with_waiters();
	test_spawn();
	test_interrupted_wait();
	test_shared_memory();
	test_shared_semaphore(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				   -1, 0));
	segment = shmget(IPC_PRIVATE, 4096, 0600);
	test_shared_semaphore(shmat(segment, NULL, 0));
	shmctl(segment, IPC_RMID, NULL);
	return emu_status();
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fatal.c - a signal of another process that ends a program whose threads run, read, sleep, wait for
 * a lock and are in a transaction.
 *
 * Such a signal comes to one of the threads that run, which waits for the end of all others.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu.h"

/* Time after which a child that has not ended is killed, s. */
#define LATE_SECONDS 60

static volatile sig_atomic_t child;
static int fds[2], ready[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long steps;

static void kill_child(int signal)
{
	(void)signal;
	kill(child, SIGKILL);
}

static void *spin(void *unused)
{
	for (;;)
		steps++;
	return unused;
}

static void *transact(void *unused)
{
	for (;;)
		if (rtm_begin() == RTM_STARTED) {
			for (int i = 0; i < 100; i++)
				steps++;
			rtm_end();
		}
	return unused;
}

static void *wait_for_lock(void *unused)
{
	pthread_mutex_lock(&lock);
	return unused;
}

static void *rest(void *unused)
{
	sleep(10 * LATE_SECONDS);
	return unused;
}

static void read_byte(void)
{
	char c;

	if (read(fds[0], &c, 1) != 1)
		_exit(2);
	_exit(3);
}

/* The main thread reads, or does what the last of @threads does. */
static void live(void *(*const *threads)(void *), bool reads)
{
	pthread_t thread;

	pthread_mutex_lock(&lock);
	for (; *threads; threads++)
		if (reads || threads[1])
			pthread_create(&thread, NULL, *threads, NULL);
		else
			break;
	if (write(ready[1], "", 1) != 1)
		_exit(4);
	if (reads)
		read_byte();
	(*threads)(NULL);
}

static void end_by(const char *name, int signal, void *(*const *threads)(void *), bool reads)
{
	int status = 0;
	char c;

	child = fork();
	if (!child) {
		live(threads, reads);
		_exit(5);
	}
	check("ready", read(ready[0], &c, 1), 1);
	usleep(20000);
	kill(child, signal);
	alarm(LATE_SECONDS);
	check("wait", waitpid(child, &status, 0), child);
	alarm(0);
	check(name, status, signal);
}

int main(void)
{
	static void *(*const all[])(void *) = {spin, rest, wait_for_lock, transact, NULL};
	static void *(*const runs[])(void *) = {rest, spin, NULL};
	static void *(*const commits[])(void *) = {wait_for_lock, transact, NULL};
	struct sigaction action = {.sa_handler = kill_child, .sa_flags = SA_RESTART};

	emu_require();
	sigaction(SIGALRM, &action, NULL);
	if (pipe(fds) || pipe(ready))
		return 1;
	end_by("all, main reads", SIGTERM, all, true);
	end_by("one runs, main reads", SIGHUP, runs, true);
	end_by("one sleeps, main runs", SIGTERM, runs, false);
	end_by("transactions, main reads", SIGINT, commits, true);
	end_by("main in transactions", SIGTERM, commits, false);
	return emu_status();
}

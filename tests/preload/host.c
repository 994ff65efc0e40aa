/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host.c - host handler|waits|ignores: a program that would notice a child that it has not made.
 *
 * It acquires a lock once and ends. Standard output has one word of its own, which is not flushed before
 * the end, and a line for each thing that it notices.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void notice(const char *what)
{
	if (write(STDOUT_FILENO, what, strlen(what)) < 0)
		_exit(1);
}

static void on_child(int sig)
{
	notice("SIGCHLD\n");
}

static void on_fork(void)
{
	notice("atfork\n");
}

static void *wait_for_any(void *arg)
{
	for (;;) {
		if (waitpid(-1, NULL, 0) > 0)
			notice("reaped\n");
		usleep(100);
	}
	return arg;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;

	pthread_atfork(on_fork, on_fork, on_fork);
	if (!strcmp(how, "handler"))
		signal(SIGCHLD, on_child);
	else if (!strcmp(how, "ignores"))
		signal(SIGCHLD, SIG_IGN);
	else if (strcmp(how, "waits") || pthread_create(&thread, NULL, wait_for_any, NULL))
		return 2;
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	printf("once ");
	return 0;
}

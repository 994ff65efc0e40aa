// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * served.c - a server and its clients as threads of one process: usage: served REQUESTS
 *
 * Each client has a socket pair; the server, two threads, waits for all of them with poll(2)
 * and counts under a mutex. Prints the counts, and the time at the end.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SERVERS 2
#define CLIENTS 4
#define KEYS    32

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counts[KEYS];
static int ends[CLIENTS][2];
static int nr_requests;

/* Serves half of the clients until they have hung up. */
static void *serve(void *arg)
{
	struct pollfd fds[CLIENTS / SERVERS];
	int i, left = CLIENTS / SERVERS;

	for (i = 0; i < left; i++)
		fds[i] = (struct pollfd){.fd = ends[i * SERVERS + (long)arg][0], .events = POLLIN};
	while (left) {
		poll(fds, CLIENTS / SERVERS, -1);
		for (i = 0; i < CLIENTS / SERVERS; i++) {
			unsigned char key;

			if (!(fds[i].revents & (POLLIN | POLLHUP)))
				continue;
			if (read(fds[i].fd, &key, 1) != 1) {
				fds[i].fd = -1;
				left--;
				continue;
			}
			pthread_mutex_lock(&lock);
			counts[key % KEYS]++;
			pthread_mutex_unlock(&lock);
			if (write(fds[i].fd, &key, 1) != 1)
				exit(1);
		}
	}
	return NULL;
}

static void *ask(void *arg)
{
	long client = (long)arg;
	int i;

	for (i = 0; i < nr_requests; i++) {
		unsigned char key = i * 7 + client;

		if (write(ends[client][1], &key, 1) != 1 || read(ends[client][1], &key, 1) != 1)
			exit(1);
		pthread_mutex_lock(&lock);
		counts[0]++;
		pthread_mutex_unlock(&lock);
	}
	close(ends[client][1]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[SERVERS + CLIENTS];
	struct timespec now;
	long i, sum = 0;

	nr_requests = argc > 1 ? atoi(argv[1]) : 100;
	for (i = 0; i < CLIENTS; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]))
			return 1;
	for (i = 0; i < CLIENTS; i++)
		pthread_create(&threads[SERVERS + i], NULL, ask, (void *)i);
	for (i = 0; i < SERVERS; i++)
		pthread_create(&threads[i], NULL, serve, (void *)i);
	for (i = 0; i < SERVERS + CLIENTS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < KEYS; i++)
		sum += counts[i];
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%ld counted, %ld of the first, at %ld.%09ld\n", sum, counts[0], (long)now.tv_sec,
	       now.tv_nsec);
	return sum != 2L * CLIENTS * nr_requests;
}

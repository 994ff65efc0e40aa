/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * altstack.c - a handler on an alternate stack waits for mutexes that another thread holds.
 *
 * altstack BYTES: prints how many of the alternate stack were used. The page below it faults.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096
#define ROUNDS 12
#define PATTERN 0xa5

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int held, go;
static volatile long nr;

static void handler(int signal)
{
	pthread_mutex_lock(&mutex);
	nr++;
	pthread_mutex_unlock(&mutex);
}

static void *holder(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		while (!go)
			usleep(100);
		go = 0;
		pthread_mutex_lock(&mutex);
		held = 1;
		usleep(2000);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

/* @size bytes that end at the end of a page, the page below the first of them faults. */
static unsigned char *make_stack(size_t size)
{
	size_t pages = (size + PAGE - 1) / PAGE * PAGE;
	char *p = mmap(NULL, PAGE + pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p, PAGE, PROT_NONE))
		exit(2);
	memset(p + PAGE, PATTERN, pages);
	return (unsigned char *)p + PAGE;
}

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? strtoul(argv[1], NULL, 10) : 16384, unused = 0;
	unsigned char *stack = make_stack(size);
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	pthread_t thread;

	if (sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = size}, NULL) ||
	    sigaction(SIGUSR1, &action, NULL) || pthread_create(&thread, NULL, holder, NULL))
		return 2;
	for (int i = 0; i < ROUNDS; i++) {
		held = 0;
		go = 1;
		while (!held)
			usleep(100);
		raise(SIGUSR1);
	}
	pthread_join(thread, NULL);
	while (unused < size && stack[unused] == PATTERN)
		unused++;
	printf("%zu\n", size - unused);
	return nr != ROUNDS;
}

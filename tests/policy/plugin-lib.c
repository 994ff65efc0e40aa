// SPDX-License-Identifier: GPL-2.0-or-later
/* plugin-lib.c - a library that a program loads later: a mutex whose sections cannot be elided. */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUNDS 4000

void plugin_work(void);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long sections;

void plugin_work(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&mutex);
		sections++;
		syscall(SYS_getppid);
		pthread_mutex_unlock(&mutex);
	}
}

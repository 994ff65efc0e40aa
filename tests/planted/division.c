// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * division.c - a section divides by zero and leaves it to a handler of SIGFPE to go
 * on. Repaired: it looks before it divides.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#include "planted.h"

static pthread_mutex_t rates_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct rate {
	long bytes;
	volatile long seconds;
	long per_second;
	long nr;
} APART rates[PLANTED_THREADS];
static __thread sigjmp_buf undivided;

static void on_division(int signal)
{
	siglongjmp(undivided, 1);
}

PLACE long divide(const struct rate *rate)
{
	return rate->bytes / rate->seconds;
}

PLACE void update_rate(struct rate *rate)
{
	pthread_mutex_lock(&rates_lock);
	rate->nr++;
	if (IS_REPAIRED)
		rate->per_second = rate->seconds ? divide(rate) : 0;
	else if (!sigsetjmp(undivided, 0))
		rate->per_second = divide(rate);
	else
		rate->per_second = 0;
	pthread_mutex_unlock(&rates_lock);
}

static void work(struct worker *w)
{
	struct rate *own = &rates[w->thread];

	for (long i = 0; i < w->rounds; i++) {
		own->bytes = 1000;
		own->seconds = i % 2;
		update_rate(own);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	/* The handler is left by a jump that does not unblock the signal. */
	struct sigaction action = {.sa_handler = on_division, .sa_flags = SA_NODEFER};
	long rounds, nr = 0;

	sigaction(SIGFPE, &action, NULL);
	rounds = planted_run(argc, argv, work);
	for (int i = 0; i < PLANTED_THREADS; i++)
		nr += rates[i].nr;
	return planted_end("updates", nr, rounds);
}

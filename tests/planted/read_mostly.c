// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_mostly.c - a setting that all sections read shares its line with a counter that
 * one thread writes. Repaired: a line for each.
 */
#include <pthread.h>
#include <stdio.h>

#include "planted.h"

static pthread_mutex_t device_lock APART = PTHREAD_MUTEX_INITIALIZER;

/* As in false_globals.c. */
#define STATISTICS __attribute__((section("statistics"), aligned(IS_REPAIRED ? 64 : 32)))
#define HALF_LINE  4

STATISTICS static volatile long verbose[HALF_LINE];
STATISTICS static volatile long packets[HALF_LINE];
STATISTICS static long __attribute__((used)) reserved[2 * HALF_LINE] APART;

static struct {
	long nr;
} APART sent[PLANTED_THREADS];

PLACE long read_setting(void)
{
	return verbose[0];
}

PLACE void count_packet(void)
{
	packets[0]++;
	planted_dwell(20);
}

PLACE void send_packet(int thread)
{
	pthread_mutex_lock(&device_lock);
	if (thread) {
		sent[thread].nr += 1 + read_setting();
		planted_dwell(40);
	} else {
		count_packet();
	}
	pthread_mutex_unlock(&device_lock);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		send_packet(w->thread);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds, nr;

	if (planted_same_line(verbose, packets) == IS_REPAIRED) {
		fputs("verbose and packets do not lie as they should\n", stderr);
		return 2;
	}
	rounds = planted_run(argc, argv, work);
	nr = packets[0];
	for (int i = 0; i < PLANTED_THREADS; i++)
		nr += sent[i].nr;
	return planted_end("packets", nr, rounds);
}

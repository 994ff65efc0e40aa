// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cpuid.c - a section executes CPUID. Repaired: it is executed once before.
 */
#include <cpuid.h>
#include <pthread.h>

#include "planted.h"

static pthread_mutex_t samples_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct sample {
	unsigned int processor;
	long nr;
} APART samples[PLANTED_THREADS];

PLACE unsigned int read_processor(void)
{
	unsigned int a, b, c, d;

	/* The initial APIC id. */
	__cpuid(1, a, b, c, d);
	return b >> 24;
}

PLACE void take_sample(struct sample *sample, unsigned int processor)
{
	pthread_mutex_lock(&samples_lock);
	sample->processor = IS_REPAIRED ? processor : read_processor();
	sample->nr++;
	pthread_mutex_unlock(&samples_lock);
}

static void work(struct worker *w)
{
	unsigned int processor = read_processor();

	for (long i = 0; i < w->rounds; i++) {
		take_sample(&samples[w->thread], processor);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work), nr = 0;

	for (int i = 0; i < PLANTED_THREADS; i++)
		nr += samples[i].nr;
	return planted_end("samples", nr, rounds);
}

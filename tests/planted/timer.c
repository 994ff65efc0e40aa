// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * timer.c - a section lasts longer than the time between two timer interrupts.
 * Repaired: the work is done in small steps, each a section.
 */
#include <pthread.h>

#include "planted.h"

/* Of planted_dwell(); the machine it runs on is interrupted 2500 times a second. */
#define STEPS 150000
#define STEP  (IS_REPAIRED ? STEPS / 1000 : STEPS)

static pthread_mutex_t model_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct model {
	long steps;
} APART models[PLANTED_THREADS];

PLACE void compute(struct model *model)
{
	planted_dwell(STEP);
	model->steps += STEP;
}

PLACE void advance(struct model *model)
{
	pthread_mutex_lock(&model_lock);
	compute(model);
	pthread_mutex_unlock(&model_lock);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		for (long done = 0; done < STEPS; done += STEP)
			advance(&models[w->thread]);
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work), steps = 0;

	for (int i = 0; i < PLANTED_THREADS; i++)
		steps += models[i].steps;
	return planted_end("steps", steps, rounds * STEPS);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * overflow.c - how likely a transaction that writes random lines overflows the
 * first level cache: HPCA'14 5.1.1, figure 7.
 *
 * usage: overflow WAYS TRIALS
 *
 * Beside what the machine does stands what the paper's model says: lines are
 * balls, the 64 sets are bins of WAYS places, and one ball too many overflows.
 * The paper draws the balls at random; here the probability is computed, so
 * that all of the noise is the machine's.
 */
#include <math.h>

#include "fidelity.h"

/* Of every first-level data cache of x86: what a page offset can tell apart. */
#define SETS 64

/* Random lines of 32 MiB: the chance that 200 of them meet is 4 %. */
#define LINES (512 * KIB)

/* Most lines a transaction writes here. */
#define BALLS_MAX 1024

/* Nothing happens, or everything: a tenth of the trials will do. */
#define TAIL 0.5

static char *data;
static uint64_t nr_trials;

/* Aborts that no capacity explains are tried again: the model knows of no interrupts. */
static bool overflows(int nr)
{
	unsigned int status;

	do {
		/* In a register: memory for it would be one more line. */
		uint64_t state = random_start(++nr_trials);
		int i;

		status = rtm_begin();
		if (status == RTM_STARTED) {
			for (i = 0; i < nr; i++)
				*(volatile char *)(data + random_below(&state, LINES) *
								  CACHE_LINE) = 1;
			rtm_end();
			return false;
		}
	} while (!(status & RTM_CAPACITY));
	return true;
}

static double observed(int nr, int trials)
{
	int i, overflown = 0;

	for (i = 0; i < trials; i++)
		overflown += overflows(nr);
	return 100.0 * overflown / trials;
}

/*
 * The number of balls in a bin is a Poisson variable, given that those of all
 * bins add up: the probability that no bin has more than WAYS is the sum's
 * with the bins cut off there, over the sum's without.
 */
static double predicted(int nr, int ways)
{
	static double sum[BALLS_MAX + 1], next[BALLS_MAX + 1];
	double mean = (double)nr / SETS, bin[64];
	int i, j, set;

	bin[0] = exp(-mean);
	for (i = 1; i <= ways; i++)
		bin[i] = bin[i - 1] * mean / i;
	memset(sum, 0, sizeof(sum));
	sum[0] = 1;
	for (set = 0; set < SETS; set++) {
		for (i = 0; i <= nr; i++) {
			next[i] = 0;
			for (j = 0; j <= ways && j <= i; j++)
				next[i] += sum[i - j] * bin[j];
		}
		memcpy(sum, next, sizeof(sum));
	}
	return 100 * (1 - sum[nr] / exp(nr * log(nr) - nr - lgamma(nr + 1.0)));
}

int main(int argc, char **argv)
{
	/* Where the paper reads its curves. */
	static const int readings[] = {53, 93, 213};
	double gap = 0, half = 0, last_rate = 0;
	int ways, trials, nr, last = 0;
	unsigned int i;

	if (argc != 3)
		return 2;
	ways = atoi(argv[1]);
	trials = atoi(argv[2]);
	if (ways < 1 || ways > 32 || trials < 10)
		return 2;
	fidelity_begin(true);
	data = lines_alloc((size_t)LINES * CACHE_LINE);
	fidelity_measure();
	for (nr = 2 * ways; nr <= 40 * ways; nr += 2 * ways) {
		double model = predicted(nr, ways);
		bool tail = model < TAIL || model > 100 - TAIL;
		double rate = observed(nr, tail ? trials / 10 : trials);

		curve("overflow", nr, rate);
		curve("balls_in_bins", nr, model);
		if (fabs(rate - model) > gap)
			gap = fabs(rate - model);
		if (!half && rate >= 50)
			half = last + (nr - last) * (50 - last_rate) / (rate - last_rate);
		last = nr;
		last_rate = rate;
	}
	figure("curve_gap", gap);
	figure("half", half);
	for (i = 0; i < ARRAY_SIZE(readings); i++) {
		char name[16];

		snprintf(name, sizeof(name), "at_%d", readings[i]);
		figure(name, observed(readings[i], trials));
	}
	return 0;
}

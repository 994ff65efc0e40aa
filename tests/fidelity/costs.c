// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * costs.c - cycles of what the machine model has as inputs.
 *
 * Natively in cycles of the core: the time-stamp counter ticks at another
 * rate, which a chain of multiplications of three cycles each tells. Under
 * rtmgrind the counter is the core's clock.
 */
#include "fidelity.h"

#define REPEATS 101
#define TIMES   200

/* Lines for the transfer: a quarter of a first level, one in three, so that no neighbour helps. */
#define CHAIN        128
#define CHAIN_STRIDE (3 * CACHE_LINE)

/* Latency of IMUL r64 on every Intel core since Nehalem: Agner Fog, instruction tables. */
#define IMUL_CYCLES 3

static uint64_t word __cacheline_aligned;
static double per_tick = 1;

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double median(uint64_t *samples)
{
	qsort(samples, REPEATS, sizeof(*samples), ascending);
	return samples[REPEATS / 2];
}

/* The median of the time of TIMES times, for one. */
#define TIMED(statement)                                                                           \
	({                                                                                         \
		uint64_t samples_[REPEATS];                                                        \
		for (int r_ = 0; r_ < REPEATS; r_++) {                                             \
			uint64_t begun_ = cycles_now();                                            \
			for (int i_ = 0; i_ < TIMES; i_++) {                                       \
				statement;                                                         \
				barrier();                                                         \
			}                                                                          \
			samples_[r_] = cycles_now() - begun_;                                      \
		}                                                                                  \
		median(samples_) / TIMES *per_tick;                                                \
	})

static void empty_transaction(void)
{
	if (rtm_begin() == RTM_STARTED)
		rtm_end();
}

static void aborted_transaction(void)
{
	if (rtm_begin() == RTM_STARTED)
		rtm_abort(1);
}

static void compare_and_swap(void)
{
	uint64_t old = 0;

	__atomic_compare_exchange_n(&word, &old, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

struct chain {
	char *lines;
	int order[CHAIN];
	int turn;
	double cycles;
};

/* Writes every line: from here on this core has them modified. */
static void *chain_write(struct chain *c)
{
	for (int i = 0; i < CHAIN; i++)
		*(void **)(c->lines + c->order[i] * CHAIN_STRIDE) =
			c->lines + c->order[(i + 1) % CHAIN] * CHAIN_STRIDE;
	return c->lines + c->order[0] * CHAIN_STRIDE;
}

/* Each load needs the one before. */
static uint64_t chain_read(void *first)
{
	uint64_t begun = cycles_now();
	void *at = first;

	for (int i = 0; i < CHAIN; i++)
		at = *(void *volatile *)at;
	__asm__ volatile("" : : "r"(at));
	return cycles_now() - begun;
}

static void wait_turn(struct chain *c, int turn)
{
	while (__atomic_load_n(&c->turn, __ATOMIC_ACQUIRE) != turn)
		cpu_relax();
}

/* Thread 1 writes, then thread 0 reads. */
static void transfer(int thread, void *arg)
{
	struct chain *c = arg;
	uint64_t samples[REPEATS];

	for (int r = 0; r < REPEATS; r++) {
		wait_turn(c, 2 * r + !thread);
		if (thread)
			chain_write(c);
		else
			samples[r] = chain_read(c->lines + c->order[0] * CHAIN_STRIDE);
		__atomic_store_n(&c->turn, 2 * r + 1 + !thread, __ATOMIC_RELEASE);
	}
	if (!thread)
		c->cycles = median(samples) / CHAIN * per_tick;
}

static double chain_alone(struct chain *c)
{
	uint64_t samples[REPEATS];

	for (int r = 0; r < REPEATS; r++)
		samples[r] = chain_read(chain_write(c));
	return median(samples) / CHAIN * per_tick;
}

static void chain_init(struct chain *c)
{
	uint64_t state = 1;

	c->lines = lines_alloc(CHAIN * CHAIN_STRIDE);
	for (int i = 0; i < CHAIN; i++) {
		int other = random_below(&state, i + 1);

		c->order[i] = c->order[other];
		c->order[other] = i;
	}
}

int main(void)
{
	static struct chain chain;
	uint64_t product = 3;
	double loop;

	fidelity_begin(true);
	chain_init(&chain);
	fidelity_measure();
	if (!fidelity_emulated()) {
		double ticks = TIMED(__asm__ volatile("imulq %0, %0\n\timulq %0, %0\n\t"
						      "imulq %0, %0\n\timulq %0, %0\n\t"
						      "imulq %0, %0\n\timulq %0, %0\n\t"
						      "imulq %0, %0\n\timulq %0, %0"
						      : "+r"(product)));

		per_tick = 8 * IMUL_CYCLES / ticks;
		figure("cycles_per_tick", per_tick);
	}
	loop = TIMED();
	figure("xbegin_xend", TIMED(empty_transaction()) - loop);
	figure("abort", TIMED(aborted_transaction()) - loop);
	figure("cmpxchg", TIMED(compare_and_swap()) - loop);
	figure("pause", TIMED(cpu_relax()) - loop);
	figure("mfence", TIMED(__builtin_ia32_mfence()) - loop);
	figure("load", chain_alone(&chain));
	in_threads(2, transfer, &chain);
	figure("transfer", chain.cycles);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * order.c - in which order locks without an initialisation are locked: order SCENARIO.
 */
#include "truth.h"

static struct account {
	pthread_mutex_t lock;
	long balance;
} *accounts;

static atomic_int turn;

/* Two lock calls: a lock without an initialisation gets its class from the one that first locks it. */
static void transfer(struct account *from, struct account *to)
{
	pthread_mutex_lock(&from->lock);
	pthread_mutex_lock(&to->lock);
	from->balance--;
	to->balance++;
	pthread_mutex_unlock(&to->lock);
	pthread_mutex_unlock(&from->lock);
}

/* Always in the order of addresses. */
static void *ordered_thread(void *arg)
{
	unsigned int seed = (long)arg + 1;

	for (int i = 0; i < 2000; i++) {
		int a = rand_r(&seed) % 10, b = rand_r(&seed) % 10;

		if (a != b)
			transfer(&accounts[a < b ? a : b], &accounts[a < b ? b : a]);
	}
	return NULL;
}

static void ordered(void)
{
	run_threads(2, ordered_thread);
	printf("truth cycles 0\n");
}

/* One thread in one order, then the other one in the opposite order. */
static void *opposite_thread(void *arg)
{
	long me = (long)arg;

	wait_for(&turn, me);
	transfer(&accounts[me], &accounts[1 - me]);
	turn = me + 1;
	return NULL;
}

static void opposite(void)
{
	run_threads(2, opposite_thread);
	printf("truth cycles 1\n");
}

static const struct scenario scenarios[] = {
	{ "ordered", ordered },
	{ "opposite", opposite },
	{ NULL, NULL }
};

int main(int argc, char **argv)
{
	accounts = calloc(10, sizeof(*accounts));
	return scenario_main(argc, argv, scenarios);
}

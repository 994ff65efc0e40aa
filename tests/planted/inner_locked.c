// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * inner_locked.c - transfers acquire a second lock at their beginning, the rates', and go on for
 * long with it released. Another thread locks it for a moment, and is not elided. Repaired: a
 * transfer has a copy of the rate, and only the thread that changes it acquires its lock.
 */
#include <pthread.h>
#include <stdlib.h>

#include "planted.h"

static pthread_mutex_t accounts_lock APART = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t rates_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct account {
	long balance;
	long rate;
} APART accounts[PLANTED_THREADS];
static struct {
	long rate, changes;
} APART rates[2] = {{.rate = 1}};

PLACE long rate_now(const struct account *account)
{
	long rate;

	if (IS_REPAIRED)
		return account->rate + 1;
	pthread_mutex_lock(&rates_lock);
	rate = rates[0].rate;
	pthread_mutex_unlock(&rates_lock);
	return rate;
}

PLACE void transfer(struct account *account)
{
	pthread_mutex_lock(&accounts_lock);
	account->balance += rate_now(account);
	planted_dwell(400);
	pthread_mutex_unlock(&accounts_lock);
}

/* It changes nothing that a transfer reads but the lock. */
PLACE void change_rates(void)
{
	pthread_mutex_lock(&rates_lock);
	rates[1].changes++;
	pthread_mutex_unlock(&rates_lock);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		if (w->thread)
			transfer(&accounts[w->thread]);
		else
			change_rates();
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds, sum = 0, threads;

	rounds = planted_run(argc, argv, work);
	threads = atol(argv[1]);
	for (int i = 0; i < PLANTED_THREADS; i++)
		sum += accounts[i].balance;
	return planted_end("transfers", sum, rounds / threads * (threads - 1));
}

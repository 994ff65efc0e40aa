// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * inner_busy.c - transfers acquire a second lock inside, the journal's, which another
 * thread has often locked, as it writes. Repaired: a transfer notes what it did, and
 * only the thread that writes acquires the journal's lock.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "planted.h"

static pthread_mutex_t accounts_lock APART = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t journal_lock APART = PTHREAD_MUTEX_INITIALIZER;
static struct account {
	long balance;
	long noted;
} APART accounts[PLANTED_THREADS];
static struct {
	char text[64];
} APART journal;
static int journal_file;

PLACE void note(struct account *account)
{
	if (!IS_REPAIRED)
		pthread_mutex_lock(&journal_lock);
	account->noted++;
	if (!IS_REPAIRED)
		pthread_mutex_unlock(&journal_lock);
}

PLACE void transfer(struct account *account)
{
	pthread_mutex_lock(&accounts_lock);
	account->balance++;
	planted_dwell(100);
	note(account);
	pthread_mutex_unlock(&accounts_lock);
}

PLACE void flush_journal(void)
{
	pthread_mutex_lock(&journal_lock);
	if (write(journal_file, journal.text, sizeof(journal.text)) < 0)
		exit(2);
	planted_dwell(400);
	pthread_mutex_unlock(&journal_lock);
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		if (w->thread)
			transfer(&accounts[w->thread]);
		else
			flush_journal();
		planted_pause(w);
	}
}

int main(int argc, char **argv)
{
	long rounds, noted = 0, threads;

	journal_file = open("/dev/null", O_WRONLY | O_CLOEXEC);
	rounds = planted_run(argc, argv, work);
	threads = atol(argv[1]);
	for (int i = 0; i < PLANTED_THREADS; i++)
		noted += accounts[i].noted;
	return planted_end("notes", noted, rounds / threads * (threads - 1));
}

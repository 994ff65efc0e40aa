// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * monitor.c - one printer for all threads, which wait for it at a condition variable; the mutex is held
 * for a moment only. Nothing is elided here: it is for profile mode, on any machine. Repaired: a
 * printer for each thread.
 */
#include <pthread.h>
#include <unistd.h>

#include "planted.h"

static pthread_mutex_t office_lock APART = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t printer_free APART = PTHREAD_COND_INITIALIZER;
static int printers = IS_REPAIRED ? PLANTED_THREADS : 1;
static struct {
	long nr;
} APART printed[PLANTED_THREADS];

PLACE void take_printer(void)
{
	pthread_mutex_lock(&office_lock);
	while (!printers)
		pthread_cond_wait(&printer_free, &office_lock);
	printers--;
	pthread_mutex_unlock(&office_lock);
}

PLACE void leave_printer(void)
{
	pthread_mutex_lock(&office_lock);
	printers++;
	pthread_mutex_unlock(&office_lock);
	pthread_cond_signal(&printer_free);
	planted_dwell(1);
}

PLACE void print_page(int thread)
{
	take_printer();
	usleep(1000);
	printed[thread].nr++;
	leave_printer();
}

static void work(struct worker *w)
{
	for (long i = 0; i < w->rounds; i++) {
		print_page(w->thread);
		/* Long enough for another one to take the printer: each thread waits. */
		usleep(200);
	}
}

int main(int argc, char **argv)
{
	long rounds = planted_run(argc, argv, work), done = 0;

	for (int i = 0; i < PLANTED_THREADS; i++)
		done += printed[i].nr;
	return planted_end("pages", done, rounds);
}

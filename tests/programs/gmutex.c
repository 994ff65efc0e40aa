// SPDX-License-Identifier: GPL-2.0-or-later
/* GMutex, GRecMutex, GRWLock and GCond: some are glib's own, some are pthread's. */
#include <glib.h>
#include <stdio.h>

#define THREADS 4
#define ROUNDS  2000

static GMutex mutex;
static GRecMutex recursive;
static GRWLock rwlock;
static GCond changed;
static int turn;
static long sum, deep, written;

static gpointer work(gpointer self)
{
	for (int i = 0; i < ROUNDS; i++) {
		g_mutex_lock(&mutex);
		sum += i;
		g_mutex_unlock(&mutex);
		g_rec_mutex_lock(&recursive);
		g_rec_mutex_lock(&recursive);
		deep++;
		g_rec_mutex_unlock(&recursive);
		g_rec_mutex_unlock(&recursive);
		if (i % 8) {
			g_rw_lock_reader_lock(&rwlock);
			g_rw_lock_reader_unlock(&rwlock);
		} else {
			g_rw_lock_writer_lock(&rwlock);
			written++;
			g_rw_lock_writer_unlock(&rwlock);
		}
	}
	for (int i = 0; i < 50; i++) {
		g_mutex_lock(&mutex);
		while (turn % THREADS != GPOINTER_TO_INT(self))
			g_cond_wait(&changed, &mutex);
		turn++;
		g_cond_broadcast(&changed);
		g_mutex_unlock(&mutex);
	}
	return NULL;
}

int main(void)
{
	GThread *threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		threads[i] = g_thread_new("work", work, GINT_TO_POINTER(i));
	for (int i = 0; i < THREADS; i++)
		g_thread_join(threads[i]);
	printf("sum %ld deep %ld written %ld turns %d\n", sum, deep, written, turn);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* mtx_* and cnd_*: plain, recursive and timed mutexes, and a bounded queue. */
#include <stdio.h>
#include <threads.h>
#include <time.h>

#define THREADS 4
#define ITEMS   2000
#define ROOM    8

static mtx_t plain, recursive, timed, queue_lock;
static cnd_t queue_changed;
static long sum, deep, in_time, taken;
static int queue[ROOM], length;

static int work(void *unused)
{
	for (int i = 0; i < ITEMS; i++) {
		struct timespec until;

		mtx_lock(&plain);
		sum += i;
		mtx_unlock(&plain);

		mtx_lock(&recursive);
		mtx_lock(&recursive);
		deep++;
		mtx_unlock(&recursive);
		mtx_unlock(&recursive);

		timespec_get(&until, TIME_UTC);
		until.tv_sec += 60;
		if (mtx_timedlock(&timed, &until) == thrd_success) {
			in_time++;
			mtx_unlock(&timed);
		}
		while (mtx_trylock(&timed) != thrd_success)
			thrd_yield();
		in_time++;
		mtx_unlock(&timed);
	}
	return 0;
}

static int produce(void *unused)
{
	for (int i = 1; i <= ITEMS; i++) {
		mtx_lock(&queue_lock);
		while (length == ROOM)
			cnd_wait(&queue_changed, &queue_lock);
		queue[length++] = i;
		cnd_broadcast(&queue_changed);
		mtx_unlock(&queue_lock);
	}
	return 0;
}

static int consume(void *unused)
{
	for (int i = 0; i < ITEMS; i++) {
		mtx_lock(&queue_lock);
		while (!length)
			cnd_wait(&queue_changed, &queue_lock);
		taken += queue[--length];
		cnd_broadcast(&queue_changed);
		mtx_unlock(&queue_lock);
	}
	return 0;
}

int main(void)
{
	thrd_t threads[THREADS + 2];

	mtx_init(&plain, mtx_plain);
	mtx_init(&recursive, mtx_plain | mtx_recursive);
	mtx_init(&timed, mtx_timed);
	mtx_init(&queue_lock, mtx_plain);
	cnd_init(&queue_changed);
	for (int i = 0; i < THREADS; i++)
		thrd_create(&threads[i], work, NULL);
	thrd_create(&threads[THREADS], produce, NULL);
	thrd_create(&threads[THREADS + 1], consume, NULL);
	for (int i = 0; i < THREADS + 2; i++)
		thrd_join(threads[i], NULL);
	mtx_destroy(&plain);
	printf("sum %ld deep %ld in time %ld taken %ld\n", sum, deep, in_time, taken);
	return 0;
}

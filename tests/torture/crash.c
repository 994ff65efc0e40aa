/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crash.c - what is left in the data file of a process that does not end well.
 *
 *   crash die LOG SEED HOW    lock until HOW (kill, _exit, abort, segv) strikes at
 *                             a moment drawn from SEED; what is completed is in LOG
 *   crash live LOG SEED COUNT the same, but stop after COUNT sections in each thread
 *                             and print their sum
 *   crash compare LOG FILE    is everything that was completed in FILE, and not more?
 *
 * LOG is a shared mapping, like the data file: it outlives the process.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/row-sums.h"
#include "../preload/data.h"

#define NR_THREADS 4
#define NR_LOCKS   3

/* Longest life, microseconds. */
#define LONGEST_US 20000

/* Acquisitions between two entries in the log. */
#define PER_SECTION 2

struct log {
	struct {
		volatile uint64_t completed;
	} __attribute__((aligned(64))) threads[NR_THREADS];
};

static struct log *log_map;
static pthread_mutex_t mutexes[NR_LOCKS];

/*
 * Each a class of its own, which locks of an array are not: their rows fill several times
 * what a new file has room for.
 */
#define FIVE(f, n, a, b, c, d, e) f(n##a) f(n##b) f(n##c) f(n##d) f(n##e)
#define TEN(f, n) FIVE(f, n, 0, 1, 2, 3, 4) FIVE(f, n, 5, 6, 7, 8, 9)
#define FIFTY(f, n, a, b, c, d, e) \
	TEN(f, n##a) TEN(f, n##b) TEN(f, n##c) TEN(f, n##d) TEN(f, n##e)
#define HUNDRED(f, n) FIFTY(f, n, 0, 1, 2, 3, 4) FIFTY(f, n, 5, 6, 7, 8, 9)
#define MANY(f) \
	HUNDRED(f, 1) HUNDRED(f, 2) HUNDRED(f, 3) HUNDRED(f, 4) HUNDRED(f, 5) HUNDRED(f, 6)
#define DEFINE(n)  static pthread_mutex_t many_##n;
#define ADDRESS(n) &many_##n,
MANY(DEFINE)
static pthread_mutex_t *const many[] = {MANY(ADDRESS)};
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static unsigned long values[NR_LOCKS];
static uint32_t seed;
static const char *how;
static unsigned long limit;
static pthread_barrier_t together;

static uint32_t next(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static struct log *log_open(const char *path, bool fresh)
{
	int fd = open(path, fresh ? O_RDWR | O_CREAT | O_TRUNC : O_RDWR, 0600);
	void *map;

	if (fd < 0 || (fresh && ftruncate(fd, sizeof(struct log))))
		return NULL;
	map = mmap(NULL, sizeof(struct log), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

static void strike(void)
{
	/* Volatile itself, so that the compiler does not see what it is. */
	static int *volatile nowhere;

	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	else if (!strcmp(how, "_exit"))
		_exit(3);
	else if (!strcmp(how, "abort"))
		abort();
	else
		*nowhere = 0;
}

/* A mutex in a rwlock, and now and then the end in the middle of it. */
static void section(uint32_t r, bool last)
{
	unsigned int i = r % NR_LOCKS;

	if (r & 0x100)
		pthread_rwlock_rdlock(&rwlock);
	else
		pthread_rwlock_wrlock(&rwlock);
	pthread_mutex_lock(&mutexes[i]);
	values[i]++;
	if (!(r >> 12 & 31))
		syscall(SYS_getppid);
	if (last)
		strike();
	pthread_mutex_unlock(&mutexes[i]);
	pthread_rwlock_unlock(&rwlock);
}

static void *work(void *arg)
{
	unsigned int me = (uintptr_t)arg;
	uint32_t state = (seed * 8 + me) * 2654435761u | 1;
	/* One in two ends inside a section, the others by the main thread, anywhere. */
	unsigned long end = !me && how && seed & 1 ? 1 + next(&state) % 3000 : 0;

	for (unsigned long i = 1; !limit || i <= limit; i++) {
		section(next(&state), i == end);
		log_map->threads[me].completed += PER_SECTION;
	}
	/* Or the block of a thread that has ended would serve the next one. */
	pthread_barrier_wait(&together);
	for (unsigned int i = 0; i < sizeof(many) / sizeof(*many); i++) {
		pthread_mutex_lock(many[i]);
		pthread_mutex_unlock(many[i]);
		log_map->threads[me].completed++;
	}
	return NULL;
}

static int live(void)
{
	uint32_t state = seed * 40503u | 1;
	struct timespec life = {.tv_nsec = next(&state) % LONGEST_US * 1000L};
	pthread_t threads[NR_THREADS];
	unsigned long sum = 0;

	pthread_barrier_init(&together, NULL, NR_THREADS);
	for (int i = 0; i < NR_LOCKS; i++)
		pthread_mutex_init(&mutexes[i], NULL);
	for (uintptr_t i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	if (how && !(seed & 1)) {
		nanosleep(&life, NULL);
		strike();
	}
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < NR_LOCKS; i++)
		sum += values[i];
	printf("%lu\n", sum);
	return 0;
}

static int compare(const char *file)
{
	unsigned long completed = 0, counted;
	struct sums s;

	for (int i = 0; i < NR_THREADS; i++)
		completed += log_map->threads[i].completed;
	if (!sum_file(file, &s)) {
		/* A process that was ended before its first lock call makes none. */
		printf("%lu completed, no file\n", completed);
		return completed > 0;
	}
	if (s.damaged) {
		fprintf(stderr, "%lu places of the file are damaged\n", s.damaged);
		return 1;
	}
	counted = elide_row_acquired(&s.all);
	printf("%lu completed, %lu counted\n", completed, counted);
	if (counted >= completed && counted <= completed + NR_THREADS * PER_SECTION)
		return 0;
	fprintf(stderr, "%lu acquisitions were completed, the file has %lu\n", completed, counted);
	return 1;
}

int main(int argc, char **argv)
{
	bool fresh = argc > 1 && strcmp(argv[1], "compare");

	if (argc != (fresh ? 5 : 4)) {
		fprintf(stderr, "usage: crash die LOG SEED HOW | live LOG SEED COUNT | compare LOG FILE\n");
		return 2;
	}
	log_map = log_open(argv[2], fresh);
	if (!log_map) {
		perror(argv[2]);
		return 2;
	}
	if (!fresh)
		return compare(argv[3]);
	seed = strtoul(argv[3], NULL, 10);
	if (!strcmp(argv[1], "die"))
		how = argv[4];
	else
		limit = strtoul(argv[4], NULL, 10);
	return live();
}

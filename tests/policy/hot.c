// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hot.c - many locks of one class, of which one is contended.
 *
 * hot [--threads=N] [--seed=N] [--ms=N] [--sections=N] [--hot=PERCENT] [--call=1]. All locks are
 * initialised at one place and taken at one place: only the lock itself tells a hostile section,
 * which conflicts or makes a system call, from a friendly one. Prints what load.c prints. An
 * ordinary program: must never include anything of the library.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CACHE_LINE  64
#define LOCKS       64
#define LINES       32
#define THREADS_MAX 256

static struct {
	uint32_t threads, seed, ms, sections, hot, call;
} numbers = {4, 1, 50, 0, 40, 0};

/* A lock and the lines it protects. Of the first one every section writes the first line. */
static struct bucket {
	pthread_mutex_t lock;
	struct line {
		uint64_t value;
	} __attribute__((aligned(CACHE_LINE))) lines[LINES];
} __attribute__((aligned(CACHE_LINE))) buckets[LOCKS];

struct worker {
	uint64_t random;
	uint64_t sections;
	pthread_t thread;
} __attribute__((aligned(CACHE_LINE)));

static struct worker workers[THREADS_MAX];
static uint64_t end_ns;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* xorshift64 (Marsaglia 2003). */
static uint32_t draw(struct worker *w, uint32_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (uint32_t)(w->random >> 32) % below;
}

static void spend(uint32_t rounds)
{
	for (volatile uint32_t i = 0; i < rounds; i++)
		;
}

static __attribute__((noinline)) void section(struct bucket *b, uint32_t line, uint32_t work)
{
	pthread_mutex_lock(&b->lock);
	b->lines[line].value++;
	if (numbers.call && b == buckets)
		syscall(SYS_getppid);
	spend(work);
	pthread_mutex_unlock(&b->lock);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	while (now_ns() < end_ns || w->sections < numbers.sections / numbers.threads) {
		if (draw(w, 100) < numbers.hot)
			section(&buckets[0], 0, 60);
		else
			section(&buckets[1 + draw(w, 3)], draw(w, LINES), 60);
		w->sections++;
		spend(draw(w, 40));
	}
	return NULL;
}

static int parse(const char *arg)
{
	static const struct {
		const char *name;
		uint32_t *to;
	} options[] = {
		{"--threads=", &numbers.threads}, {"--seed=", &numbers.seed},
		{"--ms=", &numbers.ms}, {"--sections=", &numbers.sections},
		{"--hot=", &numbers.hot}, {"--call=", &numbers.call},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		size_t length = strlen(options[i].name);

		if (strncmp(arg, options[i].name, length))
			continue;
		*options[i].to = (uint32_t)strtoul(arg + length, NULL, 10);
		return 0;
	}
	return -1;
}

int main(int argc, char **argv)
{
	uint64_t start, ns, sections = 0, sum = 0;

	for (int i = 1; i < argc; i++)
		if (parse(argv[i]) || !numbers.threads || numbers.threads > THREADS_MAX) {
			fprintf(stderr, "hot: %s?\n", argv[i]);
			return 2;
		}
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&buckets[i].lock, NULL);
	start = now_ns();
	end_ns = start + numbers.ms * 1000000ull;
	for (uint32_t i = 0; i < numbers.threads; i++) {
		workers[i].random = (numbers.seed * 1000003ull + i + 1) * 0x9e3779b97f4a7c15ull;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return 1;
	}
	for (uint32_t i = 0; i < numbers.threads; i++) {
		pthread_join(workers[i].thread, NULL);
		sections += workers[i].sections;
	}
	ns = now_ns() - start;
	for (int i = 0; i < LOCKS; i++)
		for (int line = 0; line < LINES; line++)
			sum += buckets[i].lines[line].value;
	printf("sections=%llu ns=%llu ns_per_section=%.3f check=%s\n", (unsigned long long)sections,
	       (unsigned long long)ns, (double)ns / (double)sections,
	       sum == sections ? "ok" : "broken");
	return sum == sections ? 0 : 1;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * load.c - runs a load for a time and says how many sections it did.
 *
 * load NAME [--NUMBER=N...]; load --list. Prints one line of NAME=VALUE: sections, ns
 * from the start to the end of the last thread, ns_per_section and check, which is ok if
 * the sum of all data is what the sections added. Load phase prints before it a line
 * for each half millisecond, "slice MS SECTIONS". An ordinary program: must never
 * include anything of the library.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "load.h"

struct numbers numbers;

static const struct load *load;

static const struct load loads[] = {
#define LOAD(name, data, help) { #name, help, &family_##data, load_##name },
#include "loads.def"
};

/* The time stamp counter at the start and of the run's end, and its ticks in a slice. */
static uint64_t tsc_start, tsc_end, tsc_slice;

static struct worker *workers;

static const struct {
	const char *name, *help;
	size_t at;
	uint32_t min, max, def;
} options[] = {
#define NUMBER(name, min, max, def, help) \
	{ #name, help, offsetof(struct numbers, name), min, max, def },
#include "loads.def"
};

#define NR_LOADS   (sizeof(loads) / sizeof(loads[0]))
#define NR_OPTIONS (sizeof(options) / sizeof(options[0]))

void *lines_of(size_t bytes)
{
	void *lines = aligned_alloc(CACHE_LINE, (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);

	if (!lines)
		abort();
	memset(lines, 0, bytes);
	return lines;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The counter's rate, from a short sleep: the loads then read no clock but it. */
static void find_rate(void)
{
	static const struct timespec pause = { 0, 100000 };
	uint64_t ns = now_ns(), tsc;
	double ticks_per_ns;

	tsc_start = __builtin_ia32_rdtsc();
	nanosleep(&pause, NULL);
	tsc = __builtin_ia32_rdtsc();
	ticks_per_ns = (double)(tsc - tsc_start) / (double)(now_ns() - ns);
	tsc_end = tsc_start + (uint64_t)(ticks_per_ns * 1e6 * numbers.ms);
	tsc_slice = (uint64_t)(ticks_per_ns * 1e3 * SLICE_US);
}

/* The last thread to the last processor, the others to the first ones in turn. */
static void pin(uint32_t number)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t to = number;
	cpu_set_t set;

	if (number == numbers.threads - 1)
		to = (uint32_t)processors - 1;
	CPU_ZERO(&set);
	CPU_SET(to % (uint32_t)processors, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		abort();
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint32_t share = numbers.sections / numbers.threads;
	uint64_t third = (tsc_end - tsc_start) / 3, now;

	if (numbers.remote)
		pin(w->number);
	while ((now = __builtin_ia32_rdtsc()) < tsc_end || w->sections < share) {
		uint64_t slice = (now - tsc_start) / tsc_slice;

		w->hostile = now - tsc_start - third < third;
		load->section(w);
		w->sections++;
		if (slice < SLICES)
			w->slices[slice]++;
		if (numbers.think)
			spend(draw(w, 2 * numbers.think + 1));
	}
	if (load->family->leave)
		load->family->leave(w);
	return NULL;
}

/* Lines of each thread: no more than it touches, as they are cleared and summed up in the run. */
static uint32_t nr_own(void)
{
	uint32_t nr = numbers.lines + numbers.jitter;

	return nr < LINES_TOO_MANY && numbers.how == 2 ? LINES_TOO_MANY : nr;
}

/* As the main thread of most programs does. */
static void lock_first(void)
{
	static union lock lock;

	lock_init(&lock, LOCKS_MAX - 1);
	lock_acquire(&lock, &workers[0].guard);
	lock_release(&lock, &workers[0].guard);
}

static int start(void)
{
	pthread_t threads[THREADS_MAX];

	workers = lines_of(numbers.threads * sizeof(*workers));
	for (uint32_t i = 0; i < numbers.threads; i++) {
		struct worker *w = &workers[i];

		w->number = i;
		w->random = (numbers.seed * 1000003ull + i + 1) * 0x9e3779b97f4a7c15ull;
		w->own = lines_of(nr_own() * sizeof(*w->own));
		lock_init(&w->lock, numbers.locks + 1 + i % 63);
	}
	if (numbers.first)
		lock_first();
	find_rate();
	for (uint32_t i = 0; i < numbers.threads; i++)
		if (pthread_create(&threads[i], NULL, work, &workers[i]))
			return -EAGAIN;
	for (uint32_t i = 0; i < numbers.threads; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static void print_slices(void)
{
	uint32_t nr = numbers.ms * 1000 / SLICE_US;

	for (uint32_t slice = 0; slice < nr && slice < SLICES; slice++) {
		uint64_t sum = 0;

		for (uint32_t i = 0; i < numbers.threads; i++)
			sum += workers[i].slices[slice];
		printf("slice %g %llu\n", slice * SLICE_US / 1e3, (unsigned long long)sum);
	}
}

/* 0 if no section was lost and none saw half of another. */
static int finish(uint64_t ns)
{
	uint64_t sections = 0, added = 0, bad = 0, sum = 0;
	bool whole = load->family->sum(&sum);

	for (uint32_t i = 0; i < numbers.threads; i++) {
		sections += workers[i].sections;
		added += workers[i].added;
		bad += workers[i].bad;
		for (uint32_t line = 0; line < nr_own(); line++)
			sum += workers[i].own[line].value;
	}
	whole = whole && sum == added && !bad;
	if (!strcmp(load->name, "phase"))
		print_slices();
	printf("sections=%llu ns=%llu ns_per_section=%.3f check=%s\n",
	       (unsigned long long)sections, (unsigned long long)ns,
	       (double)ns / (double)sections, whole ? "ok" : "broken");
	return whole ? 0 : 1;
}

static void list(void)
{
	for (unsigned int i = 0; i < NR_LOADS; i++)
		printf("%-10s %s\n", loads[i].name, loads[i].help);
	for (size_t i = 0; i < NR_OPTIONS; i++)
		printf("--%-10s %s (%u to %u, %u)\n", options[i].name, options[i].help,
		       options[i].min, options[i].max, options[i].def);
}

static int set_number(const char *arg)
{
	const char *equal = strchr(arg, '=');
	unsigned long long value;
	char *end;

	if (strncmp(arg, "--", 2) || !equal)
		return -EINVAL;
	errno = 0;
	value = strtoull(equal + 1, &end, 10);
	for (size_t i = 0; i < NR_OPTIONS; i++) {
		size_t length = strlen(options[i].name);

		if ((size_t)(equal - arg - 2) != length || strncmp(arg + 2, options[i].name, length))
			continue;
		if (errno || *end || end == equal + 1 || value < options[i].min ||
		    value > options[i].max)
			return -ERANGE;
		*(uint32_t *)((char *)&numbers + options[i].at) = (uint32_t)value;
		return 0;
	}
	return -EINVAL;
}

int main(int argc, char **argv)
{
	uint64_t ns = now_ns();

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		list();
		return 0;
	}
	for (size_t i = 0; i < NR_OPTIONS; i++)
		*(uint32_t *)((char *)&numbers + options[i].at) = options[i].def;
	for (unsigned int i = 0; argc > 1 && i < NR_LOADS; i++)
		if (!strcmp(argv[1], loads[i].name))
			load = &loads[i];
	if (!load) {
		fputs("Usage: load NAME [--NUMBER=N...], load --list\n", stderr);
		return 2;
	}
	for (int i = 2; i < argc; i++) {
		if (set_number(argv[i])) {
			fprintf(stderr, "load: %s: no such number, see load --list\n", argv[i]);
			return 2;
		}
	}
	if (numbers.lines > numbers.span)
		numbers.span = numbers.lines;
	load->family->init();
	if (start()) {
		fputs("load: cannot start\n", stderr);
		return 1;
	}
	return finish(now_ns() - ns);
}

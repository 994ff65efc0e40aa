// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page-reads.c - random reads of pages that are not in memory: through the buffer pool, and with
 * pread() alone, in turn, by the same number of threads and with the same calls of the system.
 *
 *	page-reads FILE MIB POOL_MIB THREADS SECONDS direct|buffered
 *
 * FILE is made and removed. It prints the pages a second of both and their ratio, the median of
 * ROUNDS, and the memory that the process has while the pool is open.
 */
#include "../../demo/base/rng.h"
#include "../../demo/pages/pool.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 6
#define THREADS_MAX 256

/* struct task - what a thread does */
struct task {
	struct page_pool *pool;
	int fd;
	uint32_t pages;
	unsigned int nr;
	uint64_t end;
	uint64_t done;
	pthread_t thread;
};

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "page-reads: %s\n", what);
	exit(1);
}

static void *read_bare(void *arg)
{
	void *page = aligned_alloc(PAGE_BYTES, PAGE_BYTES);
	struct task *t = arg;
	struct rng rng;

	rng_seed(&rng, t->end, t->nr);
	for (; now_ns() < t->end; t->done++) {
		uint64_t id = STORE_FIRST + rng_below(&rng, t->pages);

		if (pread(t->fd, page, PAGE_BYTES, (off_t)(id * PAGE_BYTES)) != PAGE_BYTES)
			die("pread failed");
	}
	free(page);
	return NULL;
}

/* Pages that are in memory by chance do not count. */
static void *read_pool(void *arg)
{
	struct task *t = arg;
	struct rng rng;

	rng_seed(&rng, t->end, t->nr);
	while (now_ns() < t->end) {
		uint32_t id = (uint32_t)(STORE_FIRST + rng_below(&rng, t->pages));

		if (pool_frame(t->pool, id))
			continue;
		if (pool_load(t->pool, id))
			die("pool_load() failed");
		t->done++;
	}
	return NULL;
}

static double run(struct page_pool *pool, int fd, uint32_t pages, unsigned int threads,
		  unsigned int seconds)
{
	static struct task tasks[THREADS_MAX];
	uint64_t begin = now_ns(), done = 0;

	for (unsigned int i = 0; i < threads; i++) {
		tasks[i] = (struct task){ .pool = pool, .fd = fd, .pages = pages, .nr = i,
					  .end = begin + seconds * 1000000000ull };
		if (pthread_create(&tasks[i].thread, NULL, pool ? read_pool : read_bare,
				   &tasks[i]))
			die("no thread");
	}
	for (unsigned int i = 0; i < threads; i++) {
		pthread_join(tasks[i].thread, NULL);
		done += tasks[i].done;
	}
	return (double)done * 1e9 / (double)(now_ns() - begin);
}

static void make(struct pool_config *config, uint32_t pages)
{
	struct page_pool pool;
	char why[256];

	config->store.create = true;
	if (pool_open(&pool, config, why, sizeof(why)))
		die(why);
	for (uint32_t i = 0; i < pages;) {
		const struct bytes none = { "", 0 };
		struct frame *frame;
		int err = pool_new(&pool, 0, &frame);

		if (err == -EAGAIN && !pool_wait(&pool))
			continue;
		if (err)
			die(strerror(-err));
		page_node_init(frame->page, 0, none, none);
		latch_release(&frame->latch);
		i++;
	}
	if (pool_close(&pool))
		die("the file could not be written");
	config->store.create = false;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double resident_mib(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long size, resident = 0;

	if (file && fscanf(file, "%lu %lu", &size, &resident) != 2)
		resident = 0;
	if (file)
		fclose(file);
	return (double)resident * (double)sysconf(_SC_PAGESIZE) / 0x1p20;
}

int main(int argc, char **argv)
{
	struct pool_config config = { .free_pct = 1, .cool_pct = 10, .providers = 1 };
	double bare[ROUNDS], pooled[ROUNDS], ratio[ROUNDS], before;
	unsigned int threads, seconds;
	struct page_pool pool;
	char why[256];
	uint32_t pages;
	int fd;

	if (argc != 7)
		die("FILE MIB POOL_MIB THREADS SECONDS direct|buffered");
	pages = (uint32_t)strtoul(argv[2], NULL, 10) * (1048576 / PAGE_BYTES);
	config.frames = (uint32_t)strtoul(argv[3], NULL, 10) * (1048576 / PAGE_BYTES);
	threads = (unsigned int)strtoul(argv[4], NULL, 10);
	seconds = (unsigned int)strtoul(argv[5], NULL, 10);
	if (!pages || threads > THREADS_MAX)
		die("too few pages or too many threads");
	config.store.path = argv[1];
	config.store.io = strcmp(argv[6], "direct") ? IO_buffered : IO_direct;
	make(&config, pages);
	before = resident_mib();
	if (pool_open(&pool, &config, why, sizeof(why)))
		die(why);
	fd = open(argv[1], O_RDONLY | (config.store.io == IO_direct ? O_DIRECT : 0));
	if (fd < 0)
		die("cannot open the file twice");
	/* The pool is full before the first round. */
	run(&pool, fd, pages, threads, 1);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		/* In turn, which is first: a disk may be slower for who comes second. */
		if (i % 2)
			pooled[i] = run(&pool, fd, pages, threads, seconds);
		bare[i] = run(NULL, fd, pages, threads, seconds);
		if (!(i % 2))
			pooled[i] = run(&pool, fd, pages, threads, seconds);
		ratio[i] = pooled[i] / bare[i];
	}
	qsort(bare, ROUNDS, sizeof(*bare), by_value);
	qsort(pooled, ROUNDS, sizeof(*pooled), by_value);
	qsort(ratio, ROUNDS, sizeof(*ratio), by_value);
	printf("pages a second: pread %.0f, pool %.0f, ratio %.3f (%.3f to %.3f)\n",
	       bare[ROUNDS / 2], pooled[ROUNDS / 2], ratio[ROUNDS / 2], ratio[0],
	       ratio[ROUNDS - 1]);
	printf("memory: %.1f MiB, pool %.1f MiB, file of %u pages\n", resident_mib() - before,
	       (double)config.frames * PAGE_BYTES / 0x1p20, pages);
	pool_abandon(&pool);
	close(fd);
	unlink(argv[1]);
	return 0;
}

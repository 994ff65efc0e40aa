// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * heap.c - a program that looks into the table of its heap's blocks: heap CASE. Prints what is
 * wrong. It runs with libelide-heap.so and ELIDE_HEAP=1, so every block is known.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/compiler.h"
#include "../../lib/base/heap.h"
#include "../../lib/rtm.h"

#define NR_THREADS 4
/* More than the table has room for. */
#define MANY 200000

static int failed;
static struct elide_heap_block block;

#define check(condition)                                                       \
	do {                                                                   \
		if (!(condition)) {                                            \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			failed = 1;                                            \
		}                                                              \
	} while (0)

static int known(const void *address)
{
	return elide_heap_find((uintptr_t)address, &block);
}

/* Whether the block found is that one, allocated by @function. */
static int is(const void *p, size_t size, const void *function)
{
	return block.base == (uintptr_t)p && block.size == size && block.nr >= 2 &&
	       block.frames[0] > (uintptr_t)function && block.frames[0] < (uintptr_t)function + 256;
}

static __noinline char *allocate(size_t size)
{
	char *volatile p = malloc(size);

	return p;
}

/* The compiler would have an opinion about what is done with these afterwards. */
static __noinline void release(void *p)
{
	free(p);
	barrier();
}

static __noinline char *resize(void *p, size_t size)
{
	char *volatile q = realloc(p, size);

	return q;
}

static __noinline char *resize_array(void *p, size_t nr, size_t size)
{
	char *volatile q = reallocarray(p, nr, size);

	return q;
}

static void test_find(void)
{
	static const size_t sizes[] = {1, 24, 100, 4095, 4096, 5000, 65536, 70000, 1 << 20,
				       20 << 20, 300 << 20};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		size_t size = sizes[i];
		char *p = allocate(size);

		check(known(p) && is(p, size, allocate));
		check(known(p + size - 1) && is(p, size, allocate));
		check(known(p + size / 2) && is(p, size, allocate));
		check(!known(p + size) || block.base != (uintptr_t)p);
		check(!known(p - 1) || block.base != (uintptr_t)p);
		release(p);
		check(!known(p) && !known(p + size - 1));
	}
	check(!known(&block) && !known(NULL) && !known((void *)-1L));
}

static void test_realloc(void)
{
	char *p = allocate(100), *wall = allocate(100), *q;

	q = resize(p, 50000);
	check(q != p && known(q + 49999) && is(q, 50000, allocate));
	check(!known(p + 50) || block.base != (uintptr_t)p);
	p = resize(q, 40000);
	check(known(p + 39999) && is(p, 40000, allocate) && !known(p + 40000));
	q = resize_array(p, 10, 6000);
	check(known(q + 59999) && is(q, 60000, allocate));
	errno = 0;
	check(!resize_array(q, -1UL, 2) && errno == ENOMEM && known(q) && is(q, 60000, allocate));
	check(!resize(q, -100UL) && known(q) && is(q, 60000, allocate));
	release(q);
	check(!known(q));
	release(wall);
	p = resize(NULL, 10);
	check(known(p) && is(p, 10, resize));
	release(p);
}

static void test_functions(void)
{
	void *p = calloc(10, 30);

	check(known((char *)p + 299) && block.size == 300);
	release(p);
	check(!posix_memalign(&p, 64, 333) && known((char *)p + 332) && block.size == 333);
	check(malloc_usable_size(p) >= 333);
	release(p);
	p = aligned_alloc(128, 256);
	check((uintptr_t)p % 128 == 0 && known(p) && block.size == 256);
	release(p);
	p = memalign(4096, 10);
	check((uintptr_t)p % 4096 == 0 && known(p) && block.size == 10);
	release(p);
	p = valloc(11);
	check(known(p) && block.size == 11);
	release(p);
	check(!known(p));
	errno = 77;
	free(malloc(1));
	check(errno == 77);
}

/* Blocks that find no room are not known, nor are they others. */
static void test_bound(void)
{
	static char *blocks[MANY];
	int nr_known = 0;

	for (int i = 0; i < MANY; i++) {
		blocks[i] = malloc(40);
		if (known(blocks[i])) {
			nr_known++;
			check(block.base == (uintptr_t)blocks[i]);
		}
	}
	check(nr_known > 30000 && nr_known < 70000);
	for (int i = 0; i < MANY; i++) {
		release(blocks[i]);
		check(!known(blocks[i]));
	}
	/* There is room again. */
	blocks[0] = allocate(10);
	check(known(blocks[0]) && is(blocks[0], 10, allocate));
	release(blocks[0]);
}

static void *churn(void *arg)
{
	unsigned int seed = (uintptr_t)arg;
	char *blocks[64] = {NULL};
	struct elide_heap_block b;

	for (int i = 0; i < 20000; i++) {
		char **p = &blocks[rand_r(&seed) % 64];
		size_t size = 1 + rand_r(&seed) % 9000;

		if (*p && rand_r(&seed) % 2) {
			release(*p);
			*p = NULL;
		} else {
			*p = resize(*p, size);
			/* A look gives up when another thread is in the way. */
			if (elide_heap_find((uintptr_t)*p + size - 1, &b))
				check(b.base == (uintptr_t)*p && b.size == size);
		}
	}
	for (int i = 0; i < 64; i++)
		release(blocks[i]);
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[NR_THREADS];

	for (uintptr_t i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, churn, (void *)(i + 1));
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void *forks(void *arg)
{
	for (int i = 0; i < 20; i++) {
		int status = -1;
		pid_t pid = fork();

		if (!pid) {
			char *p = allocate(123);

			check(known(p + 100) && is(p, 123, allocate));
			check(known(arg) && block.size == 777);
			release(arg);
			check(!known(arg));
			_exit(failed);
		}
		waitpid(pid, &status, 0);
		check(!status);
	}
	return NULL;
}

static void test_fork(void)
{
	pthread_t threads[NR_THREADS];
	char *p = allocate(777);

	pthread_create(&threads[0], NULL, forks, p);
	for (uintptr_t i = 1; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, churn, (void *)i);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	check(known(p) && is(p, 777, allocate));
	release(p);
}

/* What is freed in a transaction is forgotten if that commits; nothing new is known by it. */
static void test_txn(void)
{
	char *p = allocate(500), *q = allocate(500), *volatile in = NULL;
	unsigned int status;

	status = rtm_begin();
	if (status == RTM_STARTED) {
		release(p);
		rtm_abort(1);
	}
	check(RTM_CODE(status) == 1 && known(p + 499) && is(p, 500, allocate));
	if (rtm_begin() == RTM_STARTED) {
		release(p);
		in = allocate(500);
		rtm_end();
	}
	check(in == p);
	check(!known(p));
	release(in);
	p = allocate(500);
	check(known(p) && is(p, 500, allocate));
	release(p);
	release(q);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {
		{"find", test_find}, {"realloc", test_realloc}, {"functions", test_functions},
		{"bound", test_bound}, {"threads", test_threads}, {"fork", test_fork},
		{"txn", test_txn},
	};

	for (size_t i = 0; argc == 2 && i < ARRAY_SIZE(cases); i++) {
		if (strcmp(argv[1], cases[i].name))
			continue;
		if (!elide_heap_find) {
			puts("libelide-heap.so is not there");
			return 1;
		}
		cases[i].run();
		fflush(stdout);
		return failed;
	}
	return 2;
}

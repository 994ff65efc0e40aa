// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wrapped.c - mutexes that two owners initialise and lock by functions of their own.
 *
 * With an argument: MANY mutexes of each of three owners, in turn; the wrapper of the last one has
 * a stack frame of another size each time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, used))

struct mutex {
	pthread_mutex_t m;
};

static NOINLINE void mutex_create(struct mutex *m)
{
	pthread_mutex_init(&m->m, NULL);
	__asm__ volatile("" ::: "memory"); /* no tail call: that would leave no frame */
}

static NOINLINE void mutex_acquire(struct mutex *m)
{
	pthread_mutex_lock(&m->m);
	__asm__ volatile("" ::: "memory");
}

static NOINLINE void mutex_release(struct mutex *m)
{
	pthread_mutex_unlock(&m->m);
	__asm__ volatile("" ::: "memory");
}

/* A wrapper of another name. */
static NOINLINE void guard_make(struct mutex *m)
{
	mutex_create(m);
	__asm__ volatile("" ::: "memory");
}

struct tree {
	struct tree *root;
	long nodes, height;
	char name[16];
	struct mutex lock;
};

/* Its name has the word, but it makes a tree: it is no wrapper. */
static NOINLINE struct tree *tree_mutex_make(void)
{
	struct tree *t = malloc(sizeof(*t));

	if (!t)
		abort();
	t->root = t;
	t->nodes = 1;
	t->height = 1;
	snprintf(t->name, sizeof(t->name), "%p of %ld", (void *)t->root, t->nodes);
	pthread_mutex_init(&t->lock.m, NULL);
	t->nodes++;
	return t;
}

static NOINLINE struct mutex *make_queue(void)
{
	struct mutex *m = malloc(sizeof(*m));

	mutex_create(m);
	return m;
}

static NOINLINE struct mutex *make_table(void)
{
	struct mutex *m = malloc(sizeof(*m));

	guard_make(m);
	return m;
}

static NOINLINE void look_up(struct mutex *table)
{
	mutex_acquire(table);
	mutex_release(table);
	__asm__ volatile("" ::: "memory");
}

static NOINLINE void insert(struct mutex *table)
{
	mutex_acquire(table);
	mutex_release(table);
	__asm__ volatile("" ::: "memory");
}

static volatile int waiting;

static NOINLINE void pop(struct mutex *queue)
{
	waiting = 1;
	mutex_acquire(queue);
	mutex_release(queue);
	__asm__ volatile("" ::: "memory");
}

static void *pop_one(void *queue)
{
	pop(queue);
	return NULL;
}

/* One wait: the lock is held until some time after the other thread is about to acquire it. */
static void contend(struct mutex *queue)
{
	pthread_t thread;

	mutex_acquire(queue);
	pthread_create(&thread, NULL, pop_one, queue);
	while (!waiting)
		usleep(1000);
	usleep(20000);
	mutex_release(queue);
	pthread_join(thread, NULL);
}

#define MANY 100

/* A wrapper of a wrapper. */
NOINLINE void locked_mutex_create(struct mutex *m);
void locked_mutex_create(struct mutex *m)
{
	mutex_create(m);
	__asm__ volatile("" ::: "memory");
}

/* Not small for a function of one file alone. */
NOINLINE void mutex_create_beside(struct mutex *m, size_t size);
void mutex_create_beside(struct mutex *m, size_t size)
{
	char room[size];

	__asm__ volatile("" ::"r"(room) : "memory");
	pthread_mutex_init(&m->m, NULL);
	__asm__ volatile("" ::"r"(room) : "memory");
}

static NOINLINE void make_plain(struct mutex *m)
{
	mutex_create(m);
	__asm__ volatile("" ::: "memory");
}

static NOINLINE void make_nested(struct mutex *m)
{
	locked_mutex_create(m);
	__asm__ volatile("" ::: "memory");
}

static NOINLINE void make_beside(struct mutex *m, size_t size)
{
	mutex_create_beside(m, size);
	__asm__ volatile("" ::: "memory");
}

static int make_many(void)
{
	static struct mutex *all[3 * MANY];

	for (size_t i = 0; i < 3 * MANY; i++) {
		all[i] = malloc(sizeof(*all[i]));
		if (!all[i])
			abort();
		if (i % 3 == 0)
			make_plain(all[i]);
		else if (i % 3 == 1)
			make_nested(all[i]);
		else
			make_beside(all[i], 16 + 32 * (i % 7));
		mutex_acquire(all[i]);
		mutex_release(all[i]);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct mutex *queue, *table;
	struct tree *tree;

	if (argc > 1)
		return make_many();
	queue = make_queue();
	table = make_table();
	tree = tree_mutex_make();
	for (int i = 0; i < 100; i++) {
		mutex_acquire(queue);
		mutex_release(queue);
	}
	for (int i = 0; i < 4000; i++) {
		if (i % 8)
			look_up(table);
		else
			insert(table);
	}
	pthread_mutex_lock(&tree->lock.m);
	pthread_mutex_unlock(&tree->lock.m);
	contend(queue);
	free(tree);
	free(queue);
	free(table);
	return 0;
}

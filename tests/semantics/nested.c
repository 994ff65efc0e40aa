/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nested.c - nested NAME: sections of several locks, of all kinds, released in any order.
 *
 * Prints what it saw and how many acquisitions it made; rows says what that is compared with.
 * Must print nothing that depends on time or addresses.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than one transaction has room for: lib/state/open.h. */
#define DEPTH 20

/* Often enough that sections meet elided ones, soon done under an emulator. */
#define ROUNDS 6

#define MANY 1000
#define NODES 40

static unsigned long acquired, value;

/* A lock of any kind. */
struct any {
	enum { MUTEX, RECURSIVE, READER, WRITER, SPIN, NR_KINDS } kind;
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	pthread_spinlock_t spin;
};

static void any_init(struct any *a, unsigned int kind)
{
	pthread_mutexattr_t attr;

	a->kind = kind;
	pthread_mutexattr_init(&attr);
	if (kind == RECURSIVE)
		pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&a->mutex, &attr);
	pthread_rwlock_init(&a->rwlock, NULL);
	pthread_spin_init(&a->spin, PTHREAD_PROCESS_PRIVATE);
}

static int any_lock(struct any *a)
{
	acquired++;
	switch (a->kind) {
	case READER:
		return pthread_rwlock_rdlock(&a->rwlock);
	case WRITER:
		return pthread_rwlock_wrlock(&a->rwlock);
	case SPIN:
		return pthread_spin_lock(&a->spin);
	default:
		return pthread_mutex_lock(&a->mutex);
	}
}

static int any_trylock(struct any *a)
{
	int err;

	switch (a->kind) {
	case READER:
		err = pthread_rwlock_tryrdlock(&a->rwlock);
		break;
	case WRITER:
		err = pthread_rwlock_trywrlock(&a->rwlock);
		break;
	case SPIN:
		err = pthread_spin_trylock(&a->spin);
		break;
	default:
		err = pthread_mutex_trylock(&a->mutex);
	}
	acquired += !err;
	return err;
}

static int any_unlock(struct any *a)
{
	switch (a->kind) {
	case READER:
	case WRITER:
		return pthread_rwlock_unlock(&a->rwlock);
	case SPIN:
		return pthread_spin_unlock(&a->spin);
	default:
		return pthread_mutex_unlock(&a->mutex);
	}
}

/* Which of @nr locks is released as number @i: the last first, the first first, crosswise. */
static unsigned int order(unsigned int how, unsigned int nr, unsigned int i)
{
	switch (how) {
	case 0:
		return nr - 1 - i;
	case 1:
		return i;
	default:
		return i % 2 ? nr - 1 - i / 2 : i / 2;
	}
}

static struct any locks[DEPTH];

static void *try_all(void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < DEPTH; i++)
		if (!any_trylock(&locks[i]))
			any_unlock(&locks[i]);
		else
			printf("%u is held\n", i);
	return NULL;
}

/* Sections of 1 to DEPTH locks; after each all are free, as another thread finds. */
static int depth(void)
{
	int errors = 0;

	for (unsigned int i = 0; i < DEPTH; i++)
		any_init(&locks[i], i % NR_KINDS);
	for (unsigned int round = 0; round < ROUNDS; round++)
		for (unsigned int nr = 1; nr <= DEPTH; nr++) {
			for (unsigned int i = 0; i < nr; i++) {
				errors += any_lock(&locks[i]) != 0;
				value += i;
			}
			for (unsigned int i = 0; i < nr; i++)
				errors += any_unlock(&locks[order(round % 3, nr, i)]) != 0;
		}
	for (int i = 0; i < 2; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, try_all, NULL);
		pthread_join(thread, NULL);
	}
	printf("%lu %d\n", value, errors);
	return 0;
}

/* Inside a section: trylocks of what is free and of what the thread holds, relocks, further locks. */
static int tries(void)
{
	for (unsigned int i = 0; i < DEPTH; i++)
		any_init(&locks[i], i % NR_KINDS);
	for (unsigned int round = 0; round < ROUNDS; round++)
		for (unsigned int outer = 0; outer < NR_KINDS; outer++) {
			int answers[2 * NR_KINDS];

			any_lock(&locks[outer]);
			for (unsigned int i = 0; i < 2 * NR_KINDS; i++)
				answers[i] = any_trylock(&locks[i]);
			value++;
			for (unsigned int i = 2 * NR_KINDS; i--;)
				if (!answers[i])
					any_unlock(&locks[i]);
			any_unlock(&locks[outer]);
			for (unsigned int i = 0; i < 2 * NR_KINDS; i++)
				printf("%d ", answers[i]);
			printf("%lu\n", value);
		}
	return 0;
}

/* Two of a thousand mutexes at two calls, the one with the lower address first. */
static int many(void)
{
	static pthread_mutex_t mutexes[MANY];
	static unsigned long values[MANY];
	uint32_t x = 1;

	for (unsigned int i = 0; i < 2 * MANY; i++) {
		unsigned int a, b;

		/* xorshift32 (Marsaglia 2003). */
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		a = x % (MANY - 1);
		b = a + 1 + (x >> 16) % (MANY - 1 - a);
		pthread_mutex_lock(&mutexes[a]);
		pthread_mutex_lock(&mutexes[b]);
		values[a]++;
		values[b] += i;
		pthread_mutex_unlock(&mutexes[b]);
		pthread_mutex_unlock(&mutexes[a]);
	}
	for (unsigned int i = 0; i < MANY; i++)
		value = value * 31 + values[i] + !!pthread_mutex_trylock(&mutexes[i]);
	printf("%lu\n", value);
	return 0;
}

/* Along a list, the next node's lock before the last one's is released. */
static int hand_over_hand(void)
{
	static struct node {
		pthread_mutex_t lock;
		unsigned long value;
	} nodes[NODES];

	for (unsigned int round = 0; round < 5 * ROUNDS; round++) {
		pthread_mutex_lock(&nodes[0].lock);
		for (unsigned int i = 0; i < NODES; i++) {
			if (i + 1 < NODES)
				pthread_mutex_lock(&nodes[i + 1].lock);
			nodes[i].value += round + i;
			pthread_mutex_unlock(&nodes[i].lock);
		}
	}
	for (unsigned int i = 0; i < NODES; i++)
		value = value * 31 + nodes[i].value + !!pthread_mutex_trylock(&nodes[i].lock);
	printf("%lu\n", value);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} cases[] = {{"depth", depth}, {"tries", tries}, {"many", many}, {"list", hand_over_hand}};

	for (unsigned int i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(argv[1], cases[i].name))
			return cases[i].run();
	fprintf(stderr, "usage: nested NAME\n");
	return 2;
}

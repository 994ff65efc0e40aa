/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * order.c - a program that takes locks in orders that can deadlock, and one
 * that does not: order planted | clean. It prints what the calls answer. The
 * threads come one after the other, so that only the last cycle deadlocks.
 *
 * In the comments "held NAME KIND" and "taken NAME KIND" at the end of lines
 * are the two lock calls of an edge; the report must name exactly these.
 * "class NAME" is where locks of that name are initialised.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 3
#define PLACE  static __attribute__((noinline)) void

/* Keeps the compiler from folding equal functions into one. */
#define DISTINCT() __asm__ volatile("# %c0" ::"i"(__LINE__))

/* A name for every lock: a class each. */
static pthread_mutex_t a, b, p, q, r, map, cart, queue, cell, shared, local, left, right, outer;
static pthread_rwlock_t table, index_a, index_b;
static pthread_spinlock_t ring;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static mtx_t tail;
static pthread_mutex_t *forks[3];
static pthread_barrier_t both;
static const struct timespec past = {.tv_sec = 1};

static int answers;

/* What a call answered goes into the sum that is printed. */
static void answer(int err)
{
	answers = answers * 31 + err;
}

static void *run_place(void *place)
{
	((void (*)(void))place)();
	return NULL;
}

static void elsewhere(void (*place)(void))
{
	pthread_t thread;

	pthread_create(&thread, NULL, run_place, (void *)place);
	pthread_join(thread, NULL);
}

static void release(pthread_mutex_t *first, pthread_mutex_t *second)
{
	answer(pthread_mutex_unlock(second));
	answer(pthread_mutex_unlock(first));
}

/* Two mutexes. */
PLACE a_then_b(void)
{
	DISTINCT();
	answer(pthread_mutex_lock(&a)); /* held a mutex */
	answer(pthread_mutex_lock(&b)); /* taken b mutex */
	release(&a, &b);
}

PLACE b_then_a(void)
{
	DISTINCT();
	answer(pthread_mutex_lock(&b)); /* held b mutex */
	answer(pthread_mutex_lock(&a)); /* taken a mutex */
	/* Not in the order they were taken. */
	release(&b, &a);
}

/* Three. */
PLACE p_then_q(void)
{
	DISTINCT();
	answer(pthread_mutex_lock(&p)); /* held p mutex */
	answer(pthread_mutex_lock(&q)); /* taken q mutex */
	release(&q, &p);
}

PLACE q_then_r(void)
{
	DISTINCT();
	answer(pthread_mutex_trylock(&q)); /* held q mutex */
	answer(pthread_mutex_lock(&r)); /* taken r mutex */
	release(&q, &r);
}

PLACE r_then_p(void)
{
	DISTINCT();
	answer(pthread_mutex_lock(&r)); /* held r mutex */
	answer(pthread_mutex_lock(&p)); /* taken p mutex */
	release(&r, &p);
}

/* A reader of a rwlock, and a writer. */
PLACE read_then_map(void)
{
	DISTINCT();
	answer(pthread_rwlock_rdlock(&table)); /* held table rwlock-read */
	answer(pthread_mutex_lock(&map)); /* taken map mutex */
	answer(pthread_mutex_unlock(&map));
	answer(pthread_rwlock_unlock(&table));
}

PLACE map_then_write(void)
{
	DISTINCT();
	answer(pthread_mutex_lock(&map)); /* held map mutex */
	answer(pthread_rwlock_wrlock(&table)); /* taken table rwlock-write */
	answer(pthread_rwlock_unlock(&table));
	answer(pthread_mutex_unlock(&map));
}

/* A wait takes its mutex again. */
PLACE wait_holding_another(void)
{
	DISTINCT();
	answer(pthread_mutex_lock(&queue)); /* held queue mutex */
	answer(pthread_mutex_lock(&cell)); /* taken cell mutex */
	release(&queue, &cell);
	answer(pthread_mutex_lock(&queue));
	answer(pthread_mutex_lock(&cell)); /* held cell mutex */
	answer(pthread_cond_timedwait(&filled, &queue, &past)); /* taken queue mutex */
	release(&queue, &cell);
}

/* Other kinds. */
PLACE ring_then_tail(void)
{
	DISTINCT();
	answer(pthread_spin_lock(&ring)); /* held ring spin */
	answer(mtx_lock(&tail)); /* taken tail mutex */
	answer(mtx_unlock(&tail));
	answer(pthread_spin_unlock(&ring));
}

PLACE tail_then_ring(void)
{
	DISTINCT();
	answer(mtx_lock(&tail)); /* held tail mutex */
	answer(pthread_spin_lock(&ring)); /* taken ring spin */
	answer(pthread_spin_unlock(&ring));
	answer(mtx_unlock(&tail));
}

/* One that is never elided, and one that is: inside it and around it. */
PLACE shared_then_local(void)
{
	DISTINCT();
	answer(pthread_mutex_lock(&shared)); /* held shared mutex */
	answer(pthread_mutex_lock(&local)); /* taken local mutex */
	release(&shared, &local);
}

PLACE local_then_shared(void)
{
	DISTINCT();
	answer(pthread_mutex_lock(&local)); /* held local mutex */
	answer(pthread_mutex_lock(&shared)); /* taken shared mutex */
	release(&local, &shared);
}

static int philosopher;

/* Locks of one class, each before the next: no two of them in both orders. */
PLACE eat(void)
{
	pthread_mutex_t *mine = forks[philosopher], *next = forks[(philosopher + 1) % 3];

	DISTINCT();
	answer(pthread_mutex_lock(mine)); /* held fork mutex */
	answer(pthread_mutex_lock(next)); /* taken fork mutex */
	release(mine, next);
}

/* For ever: the last edge is of a call that does not come back. */
PLACE left_then_right(void)
{
	DISTINCT();
	pthread_mutex_lock(&left); /* held left mutex */
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&right); /* taken right mutex */
}

PLACE right_then_left(void)
{
	DISTINCT();
	pthread_mutex_lock(&right); /* held right mutex */
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&left); /* taken left mutex */
}

/* Not inlined: a loop that is unrolled has several call sites, and as many classes. */
PLACE init_fork(int i)
{
	DISTINCT();
	pthread_mutex_init(forks[i], NULL); /* class fork */
}

static void renew_forks(void)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_destroy(forks[i]);
		init_fork(i);
	}
}

/* In a child, which an alarm ends. */
static int deadlocks(void)
{
	pid_t pid = fork();
	pthread_t thread;
	int status;

	if (!pid) {
		alarm(1);
		pthread_barrier_init(&both, NULL, 2);
		pthread_create(&thread, NULL, run_place, (void *)left_then_right);
		right_then_left();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

static void planted(void)
{
	static void (*const places[])(void) = {
		a_then_b, b_then_a, p_then_q, q_then_r, r_then_p, read_then_map, map_then_write,
		wait_holding_another, ring_then_tail, tail_then_ring, shared_then_local,
		local_then_shared,
	};

	for (unsigned int i = 0; i < sizeof(places) / sizeof(*places); i++)
		elsewhere(places[i]);
	for (philosopher = 0; philosopher < 3; philosopher++)
		elsewhere(eat);
}

/* From here on nothing can deadlock. */

PLACE one_order(void)
{
	pthread_mutex_lock(&a);
	pthread_mutex_lock(&b);
	release(&a, &b);
}

/* These do not wait for ever. */
PLACE other_order_without_waiting(void)
{
	pthread_mutex_lock(&b);
	answer(pthread_mutex_trylock(&a));
	release(&b, &a);
	pthread_mutex_lock(&b);
	answer(pthread_mutex_timedlock(&a, &past));
	release(&b, &a);
}

/* One after the other inside a third: neither is held while the other is taken. */
PLACE two_in_turn(void)
{
	pthread_mutex_lock(&outer);
	pthread_mutex_lock(&p);
	pthread_mutex_unlock(&p);
	pthread_mutex_lock(&q);
	pthread_mutex_unlock(&q);
	pthread_mutex_unlock(&outer);
	pthread_mutex_lock(&q);
	pthread_mutex_lock(&p);
	release(&q, &p);
}

/* Readers do not hold up each other. */
PLACE readers(void)
{
	answer(pthread_rwlock_rdlock(&index_a));
	answer(pthread_rwlock_rdlock(&index_b));
	answer(pthread_rwlock_rdlock(&index_a));
	answer(pthread_rwlock_unlock(&index_a));
	answer(pthread_rwlock_unlock(&index_a));
	answer(pthread_rwlock_unlock(&index_b));
	answer(pthread_rwlock_rdlock(&index_b));
	answer(pthread_rwlock_rdlock(&index_a));
	answer(pthread_rwlock_unlock(&index_b));
	answer(pthread_rwlock_unlock(&index_a));
}

/* Relocked: it is not taken again, and the first unlock does not release it. */
PLACE relocked(void)
{
	answer(pthread_mutex_lock(&cart));
	answer(pthread_mutex_lock(&map));
	answer(pthread_mutex_lock(&cart));
	answer(pthread_mutex_unlock(&cart));
	answer(pthread_mutex_unlock(&map));
	answer(pthread_mutex_unlock(&cart));
}

/* A wait that holds nothing else. */
PLACE wait_alone(void)
{
	pthread_mutex_lock(&queue);
	answer(pthread_cond_timedwait(&filled, &queue, &past));
	pthread_mutex_lock(&cell);
	release(&queue, &cell);
}

/* Locks of one class hand over hand. */
PLACE hand_over_hand(void)
{
	pthread_mutex_lock(forks[0]);
	pthread_mutex_lock(forks[1]);
	pthread_mutex_unlock(forks[0]);
	pthread_mutex_lock(forks[2]);
	release(forks[2], forks[1]);
}

/* New locks where the old ones were may be taken in another order. */
PLACE reused_addresses(void)
{
	renew_forks();
	pthread_mutex_lock(forks[2]);
	pthread_mutex_lock(forks[1]);
	release(forks[2], forks[1]);
	renew_forks();
}

static void clean(void)
{
	static void (*const places[])(void) = {
		one_order, other_order_without_waiting, two_in_turn, readers, relocked,
		wait_alone, hand_over_hand, reused_addresses,
	};

	for (unsigned int i = 0; i < sizeof(places) / sizeof(*places); i++)
		elsewhere(places[i]);
}

static void init(pthread_mutex_t *m, int type, int pshared)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutexattr_setpshared(&attr, pshared);
	pthread_mutex_init(m, &attr);
}

int main(int argc, char **argv)
{
	int plant = argc > 1 && !strcmp(argv[1], "planted");

	init(&shared, PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_SHARED);
	init(&cart, PTHREAD_MUTEX_RECURSIVE, PTHREAD_PROCESS_PRIVATE);
	pthread_rwlock_init(&table, NULL);
	pthread_spin_init(&ring, PTHREAD_PROCESS_PRIVATE);
	mtx_init(&tail, mtx_plain);
	for (int i = 0; i < 3; i++) {
		forks[i] = malloc(sizeof(*forks[i]));
		init_fork(i);
	}
	for (int i = 0; i < ROUNDS; i++) {
		if (plant)
			planted();
		else
			clean();
		printf("round %d: %d\n", i, answers);
		fflush(stdout);
	}
	if (plant)
		printf("deadlock: %d\n", deadlocks());
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * latch.c - who gets a contended latch, and what it costs: CIDR'21 A.2, table 1.
 *
 * usage: latch fairness | scaling
 *
 * fairness: 64 threads, one a core, update the same tuple; the shares are
 * those of eight dies of eight cores. scaling: a lock of its own for each of
 * 16 cores, then one lock for all of them.
 */
#include "fidelity.h"

/* EPYC 7702P: CIDR'21 A.2. */
#define FAIR_CORES 64
#define DIES       8
#define QUADRANT   2 /* dies */

#define SCALING_CORES 16
#define INDEPENDENT   64

/* Cycles that a contest lasts; about 10,000 updates by the 64 cores. */
#define FAIRNESS_CYCLES 4000000
#define SCALING_CYCLES  1000000

/* Pauses that back-off begins and ends with, doubling in between. */
#define BACKOFF_MIN 1
#define BACKOFF_MAX 64

/* Lines that are read on the way to the tuple, as in the nodes of a tree above its leaf. */
#define PATH 16

struct waiter {
	struct waiter *next;
	bool waiting;
} __cacheline_aligned;

/* A latch of any of the kinds; free when all zero. */
struct latch {
	int held;
	unsigned int ticket;
	unsigned int serving __cacheline_aligned;
	struct waiter *last __cacheline_aligned;
	uint64_t tuple[16] __cacheline_aligned;
} __cacheline_aligned;

static void ttas_lock(struct latch *l, struct waiter *me)
{
	while (__atomic_exchange_n(&l->held, 1, __ATOMIC_ACQUIRE))
		while (READ_ONCE(l->held))
			cpu_relax();
}

static void backoff_lock(struct latch *l, struct waiter *me)
{
	int pauses = BACKOFF_MIN;

	while (__atomic_exchange_n(&l->held, 1, __ATOMIC_ACQUIRE)) {
		do {
			for (int i = 0; i < pauses; i++)
				cpu_relax();
			if (pauses < BACKOFF_MAX)
				pauses *= 2;
		} while (READ_ONCE(l->held));
	}
}

static void held_unlock(struct latch *l, struct waiter *me)
{
	__atomic_store_n(&l->held, 0, __ATOMIC_RELEASE);
}

static void ticket_lock(struct latch *l, struct waiter *me)
{
	unsigned int mine = __atomic_fetch_add(&l->ticket, 1, __ATOMIC_RELAXED);

	while (__atomic_load_n(&l->serving, __ATOMIC_ACQUIRE) != mine)
		cpu_relax();
}

static void ticket_unlock(struct latch *l, struct waiter *me)
{
	__atomic_store_n(&l->serving, l->serving + 1, __ATOMIC_RELEASE);
}

/* Mellor-Crummey and Scott: each waits in a line of its own, the one before wakes it. */
static void mcs_lock(struct latch *l, struct waiter *me)
{
	struct waiter *before;

	me->next = NULL;
	me->waiting = true;
	before = __atomic_exchange_n(&l->last, me, __ATOMIC_ACQ_REL);
	if (!before)
		return;
	__atomic_store_n(&before->next, me, __ATOMIC_RELEASE);
	while (__atomic_load_n(&me->waiting, __ATOMIC_ACQUIRE))
		cpu_relax();
}

static void mcs_unlock(struct latch *l, struct waiter *me)
{
	struct waiter *expected = me, *next = __atomic_load_n(&me->next, __ATOMIC_ACQUIRE);

	if (!next) {
		if (__atomic_compare_exchange_n(&l->last, &expected, NULL, false, __ATOMIC_RELEASE,
						__ATOMIC_RELAXED))
			return;
		while (!(next = __atomic_load_n(&me->next, __ATOMIC_ACQUIRE)))
			cpu_relax();
	}
	__atomic_store_n(&next->waiting, false, __ATOMIC_RELEASE);
}

struct kind {
	void (*lock)(struct latch *l, struct waiter *me);
	void (*unlock)(struct latch *l, struct waiter *me);
};

static const struct kind ttas = {ttas_lock, held_unlock};
static const struct kind backoff = {backoff_lock, held_unlock};
static const struct kind ticket = {ticket_lock, ticket_unlock};
static const struct kind mcs = {mcs_lock, mcs_unlock};

struct contest {
	const struct kind *kind;
	struct latch *latches;
	int of_each; /* latches a thread has for itself; 0: all use the first */
	uint64_t cycles;
	char *path;
	uint64_t updates[FAIR_CORES];
};

static void updating(int thread, void *arg)
{
	struct contest *c = arg;
	struct waiter me = {0};
	uint64_t end = cycles_now() + c->cycles, nr = 0, sum = 0;

	while (cycles_now() < end) {
		struct latch *l = c->latches;

		if (c->of_each)
			l += thread * c->of_each + nr % c->of_each;
		for (int i = 0; c->path && i < PATH; i++)
			sum += *(volatile char *)(c->path + i * CACHE_LINE);
		c->kind->lock(l, &me);
		for (unsigned int i = 0; i < ARRAY_SIZE(l->tuple); i++)
			l->tuple[i] += sum + 1;
		c->kind->unlock(l, &me);
		nr++;
	}
	c->updates[thread] = nr;
}

/* Updates of all; those of each stay in @c. */
static double contest(struct contest *c, int threads)
{
	uint64_t all = 0;

	memset(c->latches, 0, INDEPENDENT * sizeof(*c->latches));
	in_threads(threads, updating, c);
	for (int i = 0; i < threads; i++)
		all += c->updates[i];
	if (!c->of_each && c->latches->tuple[0] != all) {
		fprintf(stderr, "updates were lost\n");
		exit(1);
	}
	return all;
}

struct shares {
	double most, least, quadrant;
};

static struct shares shares(struct contest *c, const char *name, const struct kind *kind)
{
	struct shares s = {.least = 100};
	double all, share[DIES];

	c->kind = kind;
	all = contest(c, FAIR_CORES);
	for (int die = 0; die < DIES; die++) {
		uint64_t nr = 0;

		for (int i = 0; i < FAIR_CORES / DIES; i++)
			nr += c->updates[die * (FAIR_CORES / DIES) + i];
		share[die] = 100 * nr / all;
		curve(name, die + 1, share[die]);
		if (share[die] > s.most)
			s.most = share[die];
		if (share[die] < s.least)
			s.least = share[die];
	}
	for (int die = 0; die < DIES; die += QUADRANT)
		if (share[die] + share[die + 1] > s.quadrant)
			s.quadrant = share[die] + share[die + 1];
	return s;
}

static void fairness(struct contest *c)
{
	struct shares s;

	c->cycles = FAIRNESS_CYCLES;
	c->path = lines_alloc(PATH * CACHE_LINE);
	fidelity_measure();
	s = shares(c, "spin", &ttas);
	figure("spin_quadrant", s.quadrant);
	s = shares(c, "backoff", &backoff);
	figure("backoff_quadrant", s.quadrant);
	figure("backoff_least", s.least);
	s = shares(c, "mcs", &mcs);
	figure("mcs_most", s.most);
	figure("mcs_least", s.least);
	s = shares(c, "ticket", &ticket);
	figure("ticket_most", s.most);
}

static void scaling(struct contest *c)
{
	double one, all, fair;

	c->cycles = SCALING_CYCLES;
	fidelity_measure();
	c->kind = &ttas;
	c->of_each = INDEPENDENT / SCALING_CORES;
	one = contest(c, 1);
	figure("independent", contest(c, SCALING_CORES) / one);
	c->of_each = 0;
	one = contest(c, 1);
	all = contest(c, SCALING_CORES);
	figure("ttas_16", all / one);
	c->kind = &mcs;
	one = contest(c, 2);
	fair = contest(c, SCALING_CORES);
	figure("mcs_16", fair / one);
	figure("mcs_over_ttas", fair / all);
}

int main(int argc, char **argv)
{
	static struct contest c;

	if (argc != 2)
		return 2;
	fidelity_begin(false);
	c.latches = (struct latch *)lines_alloc(INDEPENDENT * sizeof(*c.latches));
	if (!strcmp(argv[1], "fairness"))
		fairness(&c);
	else if (!strcmp(argv[1], "scaling"))
		scaling(&c);
	else
		return 2;
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * latches.c - latches [--seed=N] [--threads=N] [--rounds=N] [--readers=PERCENT] [OPTION...] KIND:
 * torture of the latches of tatp_bench.
 *
 * OPTION is one of latch_option(). Threads acquire one to three of four latches of the kind, each
 * of another role, in order, and release them in any order. In between they look for others beside
 * them, write, upgrade and downgrade. KIND "roles" leaves the roles the kinds that they have.
 *
 * A section may run in a transaction. What an aborted section drew or noted down is rolled back
 * with it. Prints the counts of all roles in one line. Exit 0 passed, 1 failed, 2 usage.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../demo/tatp/latch/latch.h"

#define MAX_THREADS 16
#define NR_CELLS 4
#define NR_WORDS 3

struct word {
	volatile uint64_t value;
} __cacheline_aligned;

/*
 * struct cell - a latch and what it protects
 * @inside: a writer is in its section
 * @reading: by thread: it reads
 * @words: equal whenever nobody writes
 *
 * Not in a variable: reports name a latch in memory after the place of its initialisation.
 */
static struct cell {
	struct latch latch;
	struct word inside;
	struct word reading[MAX_THREADS];
	struct word words[NR_WORDS];
} *cells;

static const enum latch_role roles[NR_CELLS] = {
	LATCH_ROLE_page,
	LATCH_ROLE_lock_heads,
	LATCH_ROLE_buffer_buckets,
	LATCH_ROLE_histogram,
};

/*
 * struct worker - a thread and what it saw
 * @acquired: latches, by cell
 * @written: sections that changed the words, by cell
 * @upgraded: readers that became writers
 * @overlaps: sections that saw another one beside them
 * @torn: words that differ, or that changed while the latch was held
 * @wrong: latches whose state does not show a holder that is not elided
 */
static struct worker {
	struct rng rng;
	unsigned int me;
	uint64_t acquired[NR_CELLS];
	uint64_t written[NR_CELLS];
	uint64_t upgraded;
	uint64_t overlaps;
	uint64_t torn;
	uint64_t wrong;
} __cacheline_aligned workers[MAX_THREADS];

/* struct grip - a latch in hand; @value: of the words when they were last looked at */
struct grip {
	unsigned int cell;
	uint64_t value;
	struct latch_hold hold;
};

static unsigned int nr_threads = 4, nr_rounds = 2000, readers = 67;

static bool one_in(struct worker *w, unsigned int n)
{
	return !rng_below(&w->rng, n);
}

/* Some time, and now and then what no transaction survives. */
static void linger(struct worker *w)
{
	for (volatile uint64_t n = rng_below(&w->rng, 48); n; n--)
		;
	if (one_in(w, 256))
		syscall(SYS_getppid);
	else if (one_in(w, 256))
		sched_yield();
}

/* The words are @*value, which is set if it is 0. */
static void look(struct worker *w, const struct cell *cell, uint64_t *value)
{
	uint64_t first = cell->words[0].value;

	if (!*value)
		*value = first;
	w->overlaps += cell->inside.value;
	linger(w);
	for (unsigned int i = 0; i < NR_WORDS; i++)
		w->torn += cell->words[i].value != *value;
}

static void read_cell(struct worker *w, struct cell *cell, uint64_t *value)
{
	cell->reading[w->me].value = 1;
	look(w, cell, value);
	cell->reading[w->me].value = 0;
}

static void write_cell(struct worker *w, struct grip *g)
{
	struct cell *cell = &cells[g->cell];

	look(w, cell, &g->value);
	cell->inside.value = 1;
	for (unsigned int i = 0; i < nr_threads; i++)
		w->overlaps += cell->reading[i].value;
	for (unsigned int i = 0; i < NR_WORDS; i++) {
		cell->words[i].value++;
		linger(w);
	}
	g->value++;
	cell->inside.value = 0;
	w->written[g->cell]++;
}

/* A holder that is not elided is seen by all. Beside a writer readers of occ come and leave again. */
static void check_state(struct worker *w, struct grip *g)
{
	const struct latch *latch = &cells[g->cell].latch;
	uint64_t state;

	if (g->hold.elided || latch->kind == LATCH_KIND_none || !one_in(w, 4))
		return;
	state = latch_state(latch);
	w->wrong += g->hold.mode == LATCH_WRITE ? !(state & LATCH_WRITER) : state < LATCH_READER;
}

static __attribute__((noinline)) bool acquire(struct worker *w, struct grip *g)
{
	struct latch *latch = &cells[g->cell].latch;
	enum latch_mode mode = rng_below(&w->rng, 100) < readers ? LATCH_READ : LATCH_WRITE;

	if (!one_in(w, 4))
		latch_acquire(latch, mode, &g->hold);
	else if (!latch_try(latch, mode, &g->hold))
		return false;
	w->acquired[g->cell]++;
	return true;
}

static __attribute__((noinline)) void body(struct worker *w, struct grip *g)
{
	struct cell *cell = &cells[g->cell];

	g->value = 0;
	check_state(w, g);
	if (g->hold.mode == LATCH_READ) {
		read_cell(w, cell, &g->value);
		/* With readers alone nobody writes. */
		if (readers == 100 || !one_in(w, 4) || !latch_try_upgrade(&cell->latch, &g->hold))
			return;
		check_state(w, g);
		w->upgraded++;
	}
	write_cell(w, g);
	if (one_in(w, 2))
		return;
	latch_downgrade(&cell->latch, &g->hold);
	check_state(w, g);
	if (g->hold.mode == LATCH_READ)
		read_cell(w, cell, &g->value);
	else
		look(w, cell, &g->value);
}

static void section(struct worker *w)
{
	struct grip grips[NR_CELLS];
	unsigned int nr = 0, most = one_in(w, 3) ? 3 : 1;

	/* In ascending order, or sections could wait for each other. */
	for (unsigned int i = rng_below(&w->rng, NR_CELLS); i < NR_CELLS && nr < most;
	     i += 1 + rng_below(&w->rng, 2)) {
		grips[nr].cell = i;
		nr += acquire(w, &grips[nr]);
	}
	for (unsigned int i = 0; i < nr; i++)
		body(w, &grips[i]);
	/* An mcs node may not move: a record stays where it is until the release. */
	for (unsigned int left = nr; left; left--) {
		unsigned int at = rng_below(&w->rng, left);

		for (unsigned int i = 0; i < nr; i++) {
			if (grips[i].cell == NR_CELLS || at--)
				continue;
			linger(w);
			look(w, &cells[grips[i].cell], &grips[i].value);
			latch_release(&cells[grips[i].cell].latch, &grips[i].hold);
			grips[i].cell = NR_CELLS;
			break;
		}
	}
}

static pthread_barrier_t together;

static void *work(void *arg)
{
	struct worker *w = arg;

	pthread_barrier_wait(&together);
	for (unsigned int i = 0; i < nr_rounds; i++)
		section(w);
	return NULL;
}

static unsigned int say(const char *what, uint64_t nr)
{
	if (nr)
		fprintf(stderr, "%llu %s\n", (unsigned long long)nr, what);
	return nr != 0;
}

/* What is wrong with a cell when all threads have ended. */
static unsigned int check_cell(unsigned int c)
{
	struct latch_count count = latch_counts(roles[c]);
	uint64_t written = 1, acquired = 0, wrong = 0;
	unsigned int failed = 0;

	for (unsigned int i = 0; i < nr_threads; i++) {
		written += workers[i].written[c];
		acquired += workers[i].acquired[c];
	}
	for (unsigned int i = 0; i < NR_WORDS; i++)
		wrong += cells[c].words[i].value != written;
	failed += say("words lost updates", wrong);
	failed += say("latches were left held", latch_held(&cells[c].latch));
	failed += say("latches were left held by the threads' count", count.held);
	failed += say("roles have another number of acquisitions than there were",
		      count.acquisitions != acquired);
	return failed;
}

static unsigned int check(void)
{
	struct worker sum = {.upgraded = 0};
	unsigned int failed = 0;

	for (unsigned int i = 0; i < nr_threads; i++) {
		sum.overlaps += workers[i].overlaps;
		sum.torn += workers[i].torn;
		sum.wrong += workers[i].wrong;
	}
	failed += say("sections saw another one beside them", sum.overlaps);
	failed += say("words were torn or changed", sum.torn);
	failed += say("latches did not show their holder", sum.wrong);
	for (unsigned int c = 0; c < NR_CELLS; c++)
		failed += check_cell(c);
	return failed;
}

static void print_counts(void)
{
	struct latch_count sum = {0};
	uint64_t upgraded = 0;

	for (unsigned int c = 0; c < NR_CELLS; c++) {
		struct latch_count count = latch_counts(roles[c]);
		const uint64_t *from = (const uint64_t *)&count;

		/* All members are numbers. */
		for (size_t i = 0; i < sizeof(sum) / sizeof(*from); i++)
			((uint64_t *)&sum)[i] += from[i];
	}
	for (unsigned int i = 0; i < nr_threads; i++)
		upgraded += workers[i].upgraded;
	printf("acquisitions=%llu contended=%llu elided=%llu nested=%llu attempts=%llu",
	       (unsigned long long)sum.acquisitions, (unsigned long long)sum.contended,
	       (unsigned long long)sum.elided, (unsigned long long)sum.nested,
	       (unsigned long long)sum.attempts);
	for (unsigned int i = 0; i < NR_LATCH_ABORTS; i++)
		printf(" %s=%llu", latch_abort_name(i), (unsigned long long)sum.aborts[i]);
	printf(" upgraded=%llu\n%s\n", (unsigned long long)upgraded, latch_says());
}

static int usage(void)
{
	fprintf(stderr,
		"usage: latches [--seed=N] [--threads=2..%d] [--rounds=N] [--readers=PERCENT] "
		"[OPTION...] KIND\n",
		MAX_THREADS);
	return 2;
}

/* All cells have latches of one kind, by the option that a user has for it. */
static const char *choose(const char *kind)
{
	const char *wrong = NULL;
	char value[64];

	for (unsigned int c = 0; c < NR_CELLS && !wrong && strcmp(kind, "roles"); c++) {
		snprintf(value, sizeof(value), "%s=%s", latch_role_name(roles[c]), kind);
		wrong = latch_option("latch", value);
	}
	return wrong;
}

/* --NAME=VALUE. Returns false if it is wrong. */
static bool option(char *arg, uint64_t *seed)
{
	char *value = strchr(arg, '=');

	if (strncmp(arg, "--", 2) || !value)
		return false;
	*value++ = '\0';
	if (!strcmp(arg, "--seed"))
		*seed = strtoull(value, NULL, 10);
	else if (!strcmp(arg, "--threads"))
		nr_threads = strtoul(value, NULL, 10);
	else if (!strcmp(arg, "--rounds"))
		nr_rounds = strtoul(value, NULL, 10);
	else if (!strcmp(arg, "--readers"))
		readers = strtoul(value, NULL, 10);
	else
		return !latch_option(arg + 2, value);
	return true;
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];
	unsigned int failed;
	uint64_t seed = 1;

	for (int i = 1; i < argc - 1; i++)
		if (!option(argv[i], &seed))
			return usage();
	if (argc < 2 || nr_threads < 2 || nr_threads > MAX_THREADS || choose(argv[argc - 1]))
		return usage();
	latch_setup();
	cells = aligned_alloc(CACHE_LINE, NR_CELLS * sizeof(*cells));
	if (!cells)
		return 2;
	memset(cells, 0, NR_CELLS * sizeof(*cells));
	for (unsigned int c = 0; c < NR_CELLS; c++) {
		latch_init(&cells[c].latch, roles[c]);
		for (unsigned int i = 0; i < NR_WORDS; i++)
			cells[c].words[i].value = 1;
	}
	pthread_barrier_init(&together, NULL, nr_threads);
	for (unsigned int i = 0; i < nr_threads; i++) {
		workers[i].me = i;
		rng_seed(&workers[i].rng, seed, i);
		pthread_create(&threads[i], NULL, work, &workers[i]);
	}
	for (unsigned int i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	failed = check();
	print_counts();
	for (unsigned int c = 0; c < NR_CELLS; c++)
		latch_destroy(&cells[c].latch);
	free(cells);
	return failed ? 1 : 0;
}

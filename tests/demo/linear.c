// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * linear.c - threads on few keys of an index, and whether what they saw of each
 * key is linearizable (see history.h). The check of index_bench compares what
 * is left with what was reported; this one compares every answer, so that a
 * read of what has been deleted shows, too.
 *
 * linear INDEX SCHEME SEED ROUNDS [OPTION=VALUE]...: "ok", or the first key no order
 * explains and status 1. The options are those of the index. An ordinary pthread program, as index_bench: it must contain no
 * part of the library.
 */
#include "../../demo/base/rng.h"
#include "../../demo/sync/variants.h"
#include "history.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Keys that the threads share in a round, and keys from one round's to the next's. */
#define KEYS 32
#define STRIDE 64

/* Operations of a thread in a round: half of what the histories of all keys hold. */
#define OPS (KEYS * HISTORY_OPS / 2)

#define ROUNDS_MAX 100000

/* What all threads use; the clock counts looks at it. */
static struct index *index_;
static const struct index_ops *ops;
static unsigned int rounds;
static uint64_t seed;
static pthread_barrier_t barrier;
static uint64_t clock_ __cacheline_aligned;
static struct history histories[KEYS] __cacheline_aligned;
static struct visited visited;
static int failed;

static uint64_t tick(void)
{
	return __atomic_add_fetch(&clock_, 1, __ATOMIC_SEQ_CST);
}

static void die(const char *what)
{
	fprintf(stderr, "linear: %s\n", what);
	exit(2);
}

/* One operation on @key. @value is its own if it inserts. */
static struct event act(struct index_thread *share, enum event_kind kind, uint64_t key,
			uint64_t value)
{
	struct event event = { .kind = kind, .value = value };

	if (ops->reserve(index_, share) || index_reserve_remove(index_, share))
		die("out of memory");
	event.begin = tick();
	switch (kind) {
	case EVENT_insert:
		event.took_place = ops->insert(index_, share, key, value);
		break;
	case EVENT_remove:
		event.took_place = ops->remove(index_, share, key, &event.value);
		break;
	case EVENT_search:
		event.took_place = ops->search(index_, share, key, &event.value);
		break;
	}
	event.end = tick();
	return event;
}

/* What all threads saw in a round; the last of them to come looks. */
static void judge(unsigned int round)
{
	for (unsigned int k = 0; k < KEYS; k++) {
		if (!failed && !history_linearizable(&histories[k], &visited)) {
			printf("key %u of round %u: no order explains what was seen\n", k, round);
			failed = 1;
		}
		memset(histories[k].nr, 0, sizeof(histories[k].nr));
	}
}

static void *thread_main(void *arg)
{
	unsigned int nr = (unsigned int)(uintptr_t)arg;
	struct index_thread *share = ops->tree->attach(index_->tree, nr, 1);
	struct rng rng;

	if (!share)
		die("out of memory");
	rng_seed(&rng, seed, nr);
	for (unsigned int round = 0; round < rounds; round++) {
		pthread_barrier_wait(&barrier);
		for (unsigned int i = 0; i < OPS; i++) {
			unsigned int k = (unsigned int)rng_below(&rng, KEYS);
			enum event_kind kind = (enum event_kind)rng_below(&rng, 3);
			uint64_t own = ((uint64_t)round * OPS + i) * HISTORY_THREADS + nr + 1;
			struct history *h = &histories[k];

			if (h->nr[nr] == HISTORY_OPS)
				continue;
			h->events[nr][h->nr[nr]] =
				act(share, kind, (uint64_t)round * STRIDE + 1 + k, own);
			h->nr[nr]++;
		}
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			judge(round);
	}
	if (ops->idle)
		ops->idle(index_, share);
	return share;
}

/* Keys that nobody touches between those of the rounds, so that there are nodes to search. */
static struct index_thread *load(void)
{
	struct index_thread *share = ops->tree->attach(index_->tree, 0, 1);

	for (uint64_t i = 0; i < rounds; i++) {
		if (!share || ops->reserve(index_, share))
			die("out of memory");
		ops->load(index_, share, i * STRIDE, 1);
	}
	if (ops->idle)
		ops->idle(index_, share);
	return share;
}

static unsigned int choice(const struct choice *choices, const char *name)
{
	for (unsigned int i = 0; choices[i].name; i++)
		if (!strcmp(choices[i].name, name))
			return i;
	die("linear INDEX SCHEME SEED ROUNDS, of index_bench --list");
	return 0;
}

/* The value of an option of the index: a number or a name. */
static uint64_t value_of_row(const struct option_row *row, const char *text)
{
	return row->type == OPTION_CHOICE ? choice(row->choices, text) : strtoull(text, NULL, 10);
}

/* The defaults of the options of @index, and those of the command line from @args on. */
static void options_of(unsigned int index, char **args, uint64_t *values)
{
	const struct option_row *rows = index_options(index);

	for (unsigned int i = 0; rows[i].name; i++)
		values[i] = rows[i].def;
	for (; *args; args++) {
		size_t len = strcspn(*args, "=");
		unsigned int i = 0;

		while (rows[i].name && (strncmp(rows[i].name, *args, len) || rows[i].name[len]))
			i++;
		if (!rows[i].name || !(*args)[len])
			die("no such option of the index");
		values[i] = value_of_row(&rows[i], *args + len + 1);
	}
}

int main(int argc, char **argv)
{
	uint64_t options[TREE_OPTIONS_MAX];
	struct index_config config = { .threads = HISTORY_THREADS, .options = options };
	pthread_t threads[HISTORY_THREADS];
	void *shares[HISTORY_THREADS];
	struct index_thread *loader;
	char why[256];

	if (argc < 5)
		die("linear INDEX SCHEME SEED ROUNDS [OPTION=VALUE]...");
	options_of(choice(index_choices, argv[1]), argv + 5, options);
	ops = variant_ops(choice(index_choices, argv[1]), choice(scheme_choices, argv[2]));
	seed = strtoull(argv[3], NULL, 10);
	rounds = (unsigned int)atoi(argv[4]);
	if (!ops || !rounds || rounds > ROUNDS_MAX)
		die("no such pair, or ROUNDS not from 1 to 100000");
	if ((ops->tree->unfit && ops->tree->unfit(&config, why, sizeof(why))) ||
	    (ops->unfit && ops->unfit(&config, why, sizeof(why))))
		die(why);
	config.entries = (uint64_t)rounds * (1 + KEYS);
	index_ = ops->create(&config);
	if (!index_)
		die("out of memory");
	loader = load();
	pthread_barrier_init(&barrier, NULL, HISTORY_THREADS);
	for (unsigned int i = 0; i < HISTORY_THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread_main, (void *)(uintptr_t)i))
			die("cannot start a thread");
	for (unsigned int i = 0; i < HISTORY_THREADS; i++)
		pthread_join(threads[i], &shares[i]);
	if (!failed && !ops->tree->check(index_->tree, why, sizeof(why))) {
		printf("%s\n", why);
		failed = 1;
	}
	ops->destroy(index_);
	for (unsigned int i = 0; i < HISTORY_THREADS; i++)
		ops->tree->detach(shares[i]);
	ops->tree->detach(loader);
	if (!failed)
		puts("ok");
	return failed;
}

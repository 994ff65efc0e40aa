// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_pages_latch.c - the latches of pages: what each operation lets in, what counts as a wait,
 * and many threads on one latch. Two broken latches must be caught: one whose writers do not keep
 * each other out, and one whose readers are content with any version.
 *
 * SEED, a number, begins another sequence; the one that failed is printed.
 */
#include <pthread.h>

#include "unit.h"
#include "../../demo/base/rng.h"
#include "../../demo/pages/latch.h"

#define THREADS 4
#define STEPS 20000
#define WORDS 32

/* What the torture calls: a kind of latch, or a broken one. */
struct subject {
	void (*exclusive)(struct latch *l, bool *waited);
	void (*release)(struct latch *l);
	bool (*validate)(const struct latch *l, uint64_t version);
};

static void subject_exclusive(struct latch *l, bool *waited)
{
	latch_exclusive(l, waited);
}

static void subject_release(struct latch *l)
{
	latch_release(l);
}

static bool subject_validate(const struct latch *l, uint64_t version)
{
	return latch_validate(l, version);
}

static void no_acquisition(struct latch *l, bool *waited)
{
}

static void no_release(struct latch *l)
{
}

static bool any_version(const struct latch *l, uint64_t version)
{
	return true;
}

static const struct subject whole = { subject_exclusive, subject_release, subject_validate };
static const struct subject no_writer = { no_acquisition, no_release, subject_validate };
static const struct subject any_reader = { subject_exclusive, subject_release, any_version };

/*
 * The content that a latch guards: all words are equal at any time when nobody writes. A writer
 * lets others run between two of them.
 */
static struct latch latch;
static uint64_t words[WORDS];
static const struct subject *subject;
static uint64_t seed;
static uint64_t torn;
static pthread_barrier_t barrier;

static uint64_t word(unsigned int i)
{
	return __atomic_load_n(&words[i], __ATOMIC_RELAXED);
}

static bool consistent(bool yield)
{
	uint64_t first = word(0);

	if (yield)
		sched_yield();
	for (unsigned int i = 1; i < WORDS; i++)
		if (word(i) != first)
			return false;
	return true;
}

static void note_torn(bool good)
{
	if (!good)
		__atomic_fetch_add(&torn, 1, __ATOMIC_RELAXED);
}

static void grow_words(unsigned int yield_at)
{
	uint64_t next = word(0) + 1;

	for (unsigned int i = 0; i < WORDS; i++) {
		if (i == yield_at)
			sched_yield();
		__atomic_store_n(&words[i], next, __ATOMIC_RELAXED);
	}
}

/* Returns the number of writes of a step, 0 or 1. */
static unsigned int step(struct rng *rng)
{
	/* Every 16th writer or reader lets others come between. */
	unsigned int yield_at = (unsigned int)rng_below(rng, 16 * WORDS), what;
	bool yield = !rng_below(rng, 16), waited;
	uint64_t version;

	what = (unsigned int)rng_below(rng, 8);
	if (what < 3 && latch_optimistic()) {
		version = latch_begin(&latch, NULL);
		if (what == 2) {
			bool good = consistent(yield);

			if (!latch_upgrade(&latch, version))
				return 0;
			note_torn(good);
			grow_words(yield_at);
			latch_release(&latch);
			return 1;
		}
		version = (consistent(yield) ? 0 : 1) | version << 1;
		if (subject->validate(&latch, version >> 1))
			note_torn(!(version & 1));
		return 0;
	}
	if (what < 5) {
		if (what == 3)
			latch_shared(&latch, &waited);
		else if (!latch_try_shared(&latch))
			return 0;
		note_torn(consistent(yield));
		latch_release_shared(&latch);
		return 0;
	}
	if (what == 5 && subject == &whole) {
		if (!latch_try_exclusive(&latch))
			return 0;
	} else {
		subject->exclusive(&latch, what == 6 ? &waited : NULL);
	}
	note_torn(consistent(false));
	grow_words(yield_at);
	subject->release(&latch);
	return 1;
}

static void *torture(void *arg)
{
	uint64_t writes = 0;
	struct rng rng;

	rng_seed(&rng, seed, (uintptr_t)arg);
	pthread_barrier_wait(&barrier);
	for (unsigned int i = 0; i < STEPS; i++)
		writes += step(&rng);
	return (void *)(uintptr_t)writes;
}

/* Returns the number of faults: torn reads, and writes that were lost. */
static uint64_t run(const struct subject *s)
{
	pthread_t threads[THREADS];
	uint64_t writes = 0;

	subject = s;
	torn = 0;
	memset(words, 0, sizeof(words));
	latch_init(&latch);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, torture, (void *)i), 0);
	for (unsigned int i = 0; i < THREADS; i++) {
		void *nr;

		pthread_join(threads[i], &nr);
		writes += (uintptr_t)nr;
	}
	pthread_barrier_destroy(&barrier);
	latch_destroy(&latch);
	return torn + (word(0) != writes);
}

static const char *const names[] = {
#define PAGE_LATCH(id, readers, help) #id,
#include "../../demo/pages/latches.def"
};

static void test_torture(void **state)
{
	for (unsigned int kind = 0; kind < NR_LATCH_KINDS; kind++) {
		latch_kind = (enum latch_kind)kind;
		if (run(&whole))
			fail_msg("seed %llu, %s: torn or lost", (unsigned long long)seed,
				 names[kind]);
	}
}

/* A broken latch is caught within some seeds; each run of one is far more than enough. */
static void catches(enum latch_kind kind, const struct subject *broken)
{
	uint64_t first = seed, faults = 0;

	latch_kind = kind;
	for (; seed < first + 20 && !faults; seed++)
		faults = run(broken);
	seed = first;
	assert_true(faults > 0);
}

static void test_planted(void **state)
{
	catches(LATCH_spin, &no_writer);
	catches(LATCH_rwlock, &no_writer);
	catches(LATCH_hybrid, &any_reader);
	catches(LATCH_spin, &any_reader);
}

/* What another thread finds: whether it may have the latch. */
struct finding {
	bool exclusive, shared;
};

static void *find(void *arg)
{
	struct finding *f = arg;

	f->exclusive = latch_try_exclusive(&latch);
	if (f->exclusive)
		latch_release(&latch);
	f->shared = latch_try_shared(&latch);
	if (f->shared)
		latch_release_shared(&latch);
	return NULL;
}

static struct finding look(void)
{
	struct finding f;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, find, &f), 0);
	pthread_join(thread, NULL);
	return f;
}

/* Who is let in beside a writer, a reader and nobody, and when a version is valid. */
static void test_modes(void **state)
{
	for (unsigned int kind = 0; kind < NR_LATCH_KINDS; kind++) {
		uint64_t version = 0;
		bool waited = false;

		latch_kind = (enum latch_kind)kind;
		latch_init(&latch);
		if (latch_optimistic())
			version = latch_begin(&latch, &waited);
		latch_shared(&latch, &waited);
		assert_int_equal(look().shared, kind != LATCH_mutex);
		assert_false(look().exclusive);
		latch_release_shared(&latch);
		assert_true(look().exclusive);
		if (latch_optimistic()) {
			/* look() was a writer. */
			assert_false(latch_validate(&latch, version));
			assert_false(latch_upgrade(&latch, version));
			version = latch_begin(&latch, &waited);
			assert_true(latch_upgrade(&latch, version));
			assert_false(latch_validate(&latch, version));
		} else {
			latch_exclusive(&latch, &waited);
		}
		assert_false(look().shared);
		assert_false(look().exclusive);
		latch_release(&latch);
		assert_true(look().shared);
		assert_false(waited);
		latch_destroy(&latch);
	}
}

/* struct waiter - a thread that acquires the latch and says whether it waited */
struct waiter {
	bool shared, waited;
};

static void *acquire(void *arg)
{
	struct waiter *w = arg;

	if (w->shared) {
		latch_shared(&latch, &w->waited);
		latch_release_shared(&latch);
	} else {
		latch_exclusive(&latch, &w->waited);
		latch_release(&latch);
	}
	return NULL;
}

/* The flag is set before its thread waits, which ThreadSanitizer cannot know. */
static __attribute__((no_sanitize("thread"), noinline)) void await_waiter(struct waiter *w)
{
	while (!*(volatile bool *)&w->waited)
		sched_yield();
}

/* One that finds the latch held says that it waited. */
static void test_waited(void **state)
{
	for (unsigned int i = 0; i < 2 * NR_LATCH_KINDS; i++) {
		struct waiter w = { .shared = i % 2 };
		pthread_t thread;

		latch_kind = (enum latch_kind)(i / 2);
		latch_init(&latch);
		latch_exclusive(&latch, NULL);
		assert_int_equal(pthread_create(&thread, NULL, acquire, &w), 0);
		await_waiter(&w);
		latch_release(&latch);
		pthread_join(thread, NULL);
		assert_true(w.waited);
		latch_destroy(&latch);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_waited),
		cmocka_unit_test(test_torture),
		cmocka_unit_test(test_planted),
	};
	const char *text = getenv("SEED");

	seed = text ? strtoull(text, NULL, 0) : 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
